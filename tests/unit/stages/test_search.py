"""Each search finds what it says it finds, against a look at every pair."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin.records import ShingleSets, Signatures
from nearkin.stages.search import prefixes as prefixes_module
from nearkin.stages.search.bands import Bands
from nearkin.stages.search.exhaustive import LeadKeys, bits_of
from nearkin.stages.search.linking import FOLLOWS, MIN_PIVOTS, Linking
from nearkin.stages.search.prefixes import COUNT_BITS, Occurrences, Prefixes
from nearkin.stages.search.sampling import Sampling
from nearkin.stages.signatures.minhash import MinHash
from oracles.chance import is_plausible, pairs_of_sets

small_sets = st.lists(st.sets(st.integers(0, 25), max_size=22), max_size=10)
THRESHOLDS = [0.1, 0.2, 0.29, 0.3, 0.35, 0.5, 0.55, 0.57, 0.58, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9, 0.95, 1.0]


def as_sets(values: list[set[int]], *, spread: int = 59) -> ShingleSets:
    """Few elements, spread over the upper bits, which decide how rare one is taken to be."""
    flat = np.array([x for one in values for x in sorted(one)], np.uint64) << np.uint64(spread)
    offsets = np.cumsum([0, *map(len, values)]).astype(np.int64)
    return ShingleSets(flat, offsets, np.zeros(len(values), np.int64), "")


def jaccard(a: set[int], b: set[int]) -> float:
    return len(a & b) / len(a | b)


def linked(linking: Linking, keys, rows) -> tuple[set[tuple[int, int]], int]:
    pairs: set[tuple[int, int]] = set()
    n_not_compared = 0
    for run, n in linking.link(np.asarray(keys, np.uint64), np.asarray(rows, np.uint32)):
        assert (np.diff(run.astype(object)) > 0).all()
        pairs |= {(int(p) >> 32, int(p) & 0xFFFFFFFF) for p in run}
        n_not_compared += n
    return pairs, n_not_compared


@given(small_sets, st.one_of(st.sampled_from(THRESHOLDS), st.floats(0.05, 1.0)), st.integers(30, 59))
@settings(max_examples=examples(300))
def test_prefixes_miss_no_pair(values, threshold, spread):
    sets, prefixes = as_sets(values, spread=spread), Prefixes(threshold)
    keys, set_of_key, follows = prefixes.keys(sets, Occurrences.of(sets.hashes).dense())
    shared = defaultdict(set)
    for key, row, follower in zip(keys.tolist(), set_of_key.tolist(), follows.tolist(), strict=True):
        assert key >> spread in values[row]
        shared[key].add((row, follower))
    candidates = {
        (a, b)
        for rows in shared.values()
        for (a, a_follows), (b, b_follows) in combinations(sorted(rows), 2)
        if not (a_follows and b_follows)
    }
    for a, b in combinations(range(len(values)), 2):
        if values[a] and values[b] and jaccard(values[a], values[b]) >= threshold:
            assert (a, b) in candidates


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.9])
def test_a_form_that_does_not_make_two_sets_similar_is_no_leading_element(threshold):
    form, n_own = set(range(30)), int(30 * (1 - threshold) / (2 * threshold)) + 1  # 30 / (30 + 2 n_own) < threshold
    values = [form | set(range(30 + n_own * i, 30 + n_own * (i + 1))) for i in range(5)]
    sets = as_sets(values, spread=46)
    keys, _, follows = Prefixes(threshold).keys(sets, Occurrences.of(sets.hashes).dense())
    assert {key >> 46 for key in keys[~follows].tolist()}.isdisjoint(form)


@pytest.mark.parametrize("percent", range(5, 101))
def test_the_filter_by_size_lets_every_pair_at_the_threshold_pass(percent):
    """Where the threshold times a size is a whole number, its rounding must not decide."""
    threshold = percent / 100
    sizes = [(percent * large // 100, large) for large in range(1, 1000) if percent * large % 100 == 0]
    flat = np.array([size for pair in sizes for size in pair], np.uint32)
    linking = Linking(flat, np.full(len(flat), 3, np.uint8), threshold)
    keys, rows = np.repeat(np.arange(len(sizes)), 2), np.arange(len(flat))
    found, _ = linked(linking, keys, rows)
    assert found == {(2 * i, 2 * i + 1) for i in range(len(sizes))}


@pytest.mark.parametrize("sorted_below", [0, 1 << 18])
@given(
    parts=st.lists(
        st.lists(st.integers(0, 2**64 - 1) | st.sampled_from([0, 2**42, 2**64 - 1]), max_size=30), min_size=1
    )
)
def test_occurrences_are_counted_alike_however_they_are_added_up(sorted_below: int, parts: list[list[int]]) -> None:
    expected = np.zeros(1 << COUNT_BITS, np.int64)
    np.add.at(expected, [value >> (64 - COUNT_BITS) for part in parts for value in part], 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefixes_module, "_SORTED_BELOW", sorted_below)
        found = Occurrences.joined([Occurrences.of(np.array(part, np.uint64)) for part in parts])
    assert found.buckets.tolist() == np.flatnonzero(expected).tolist()
    assert found.n.tolist() == expected[found.buckets].tolist()
    assert found.buckets.dtype == found.n.dtype == np.int64
    assert np.array_equal(found.dense(), expected)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=50), st.data())
def test_linking_pairs_all_rows_of_a_short_run(entries, data):
    sizes = np.array(data.draw(st.lists(st.integers(1, 9), min_size=10, max_size=10)), np.uint32)
    sides = np.array(data.draw(st.lists(st.integers(1, 3), min_size=10, max_size=10)), np.uint8)
    ratio = data.draw(st.sampled_from([0.0, 0.5, 0.8, 1.0]))
    entries = list(dict.fromkeys(entries))
    found, n_not_compared = linked(Linking(sizes, sides, ratio), [k for k, _ in entries], [r for _, r in entries])
    expected = {
        (min(a, b), max(a, b))
        for (key_a, a), (key_b, b) in combinations(entries, 2)
        if key_a == key_b
        and min(sizes[a], sizes[b]) >= ratio * max(sizes[a], sizes[b]) - 1e-9
        and ((sides[a] & 1 and sides[b] & 2) or (sides[a] & 2 and sides[b] & 1))
    }
    assert found == expected
    assert n_not_compared == 0


def test_a_long_run_is_compared_with_its_first_rows_and_the_rest_is_counted():
    n = 1000
    order = np.random.default_rng(0).permutation(n)
    linking = Linking(np.ones(n, np.uint32), np.full(n, 3, np.uint8), 0.8)
    found, n_not_compared = linked(linking, np.zeros(n), order)
    pivots = set(order[:MIN_PIVOTS].tolist())
    assert found == {(a, b) for a, b in combinations(range(n), 2) if a in pivots or b in pivots}
    assert n_not_compared == n * (n - 1) // 2 - len(found)


@pytest.mark.parametrize("rate", [0.2, 1.0])
def test_a_shingle_is_sampled_everywhere_or_nowhere_and_as_often_as_said(rate):
    n_common = 40
    sets, _ = pairs_of_sets(np.random.default_rng(1), 3000, n_left=n_common, n_right=200, n_common=n_common)
    keys, set_of_key = Sampling(rate).keys(sets)
    assert is_plausible(len(keys) / len(sets.hashes), rate, len(np.unique(sets.hashes)))
    of_set = [set(part.tolist()) for part in np.split(keys, np.searchsorted(set_of_key, np.arange(1, len(sets))))]
    everything = [set(part.tolist()) for part in np.split(sets.hashes, sets.offsets[1:-1])]
    n_met = 0
    for left, right, whole_left in zip(of_set[::2], of_set[1::2], everything[::2], strict=True):
        assert left == right & whole_left
        n_met += bool(left)
    assert is_plausible(n_met / 3000, float(Sampling(rate).probability(np.array(n_common))), 3000)


few_elements = st.sets(st.integers(0, 40).map(lambda n: n * 0x9E3779B97F4A7C15 % 2**64), max_size=9)


@given(st.lists(few_elements, max_size=9), few_elements)
def test_what_some_set_leads_with_is_found_in_all_others(values, led):
    sets = as_sets(values, spread=0)
    wanted = np.array([*led, *led], np.uint64)
    expected = [(i, one) for i, elements in enumerate(values) for one in elements if one in set(wanted.tolist())]
    keys, set_of_key = LeadKeys.of(wanted).followed_by(sets)
    assert sorted(zip(set_of_key.tolist(), keys.tolist(), strict=True)) == sorted(expected)
    # of parts, as a cluster has them: nothing is missing, a few others may pass
    bits = np.concatenate([bits_of(part, len(wanted)) for part in np.array_split(wanted, 3)])
    keys, set_of_key = LeadKeys.of_bits(bits, len(wanted)).followed_by(sets)
    assert set(zip(set_of_key.tolist(), keys.tolist(), strict=True)) >= set(expected)


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=20), st.integers(1, 9))
def test_entries_that_follow_meet_those_that_lead(entries, max_pivots):
    entries = sorted(entries, key=lambda entry: entry[1])
    keys = np.array([key for key, _ in entries], np.uint64)
    sides = np.array([3 | FOLLOWS if follows else 3 for _, follows in entries], np.uint8)
    rows = np.arange(len(entries), dtype=np.uint32)
    possible = {
        (a, b)
        for a, b in combinations(range(len(entries)), 2)
        if entries[a][0] == entries[b][0] and not (entries[a][1] and entries[b][1])
    }
    pairs, n_not_compared = linked(Linking(np.ones(len(rows), np.uint32), sides, 0.0, max_pivots=99), keys, rows)
    assert (pairs, n_not_compared) == (possible, 0)
    pairs, n_not_compared = linked(Linking(np.ones(len(rows), np.uint32), sides, 0.0, max_pivots), keys, rows)
    assert pairs <= possible
    assert len(pairs) + n_not_compared == len(possible)


def test_another_seed_is_another_sketch_and_a_key_depends_on_band_and_order():
    sets = as_sets([set(range(20))])
    assert (MinHash(64).sign(sets).slots != MinHash(64, seed=2**64 - 1).sign(sets).slots).all()
    slots = np.array([[1, 2, 1, 2], [2, 1, 2, 1]], np.uint64)
    keys = Bands(2, 2).keys(Signatures(slots, ""))
    assert len(set(keys.ravel().tolist())) == 4
