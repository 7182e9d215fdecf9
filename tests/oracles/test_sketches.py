"""Sketches and bands do what probability says they do, for the sizes and the plans that really occur."""

from __future__ import annotations

import math

import numpy as np
import pytest

from example_counts import every
from nearkin.kernels.sketch import found_by_bands
from nearkin.planning.search import BandPlan, Sample, plan_bands
from nearkin.records import ShingleSets
from nearkin.stages.search.bands import Bands
from nearkin.stages.signatures.minhash import MinHash
from oracles.chance import at_threshold, is_plausible, min_share, pairs_of_sets

RECALL = 0.99


def plan_for(threshold: float, n_documents: int, strangers: float) -> BandPlan:
    """What the planner chooses for documents of 200 shingles and strangers of this likeness."""
    n_common = np.full(4950, int(200 * strangers), np.int64)
    return plan_bands(
        threshold, RECALL, Sample.of_one(n_documents, np.full(100, 200), np.full(4950, strangers), n_common)
    )


PLANS = sorted(
    {
        (threshold, plan.bands, plan.rows)
        for threshold in (0.6, 0.7, 0.75, 0.8, 0.9, 0.95)
        for n_documents, strangers in ((1000, 0.0), (50_000, 0.0), (5_000_000, 0.0), (5_000_000, 0.02), (50_000, 0.1))
        for plan in [plan_for(threshold, n_documents, strangers)]
        if plan.size <= 600
    }
)


def test_the_plans_differ():
    assert {rows for _, _, rows in PLANS} >= {1, 5, 6, 7}


@pytest.mark.parametrize(("threshold", "bands", "rows"), every(4, PLANS))
def test_recall_at_the_threshold_is_what_was_predicted_for_every_size(threshold, bands, rows):
    chance = np.random.default_rng(bands * 100 + rows)
    minhash, band = MinHash(bands * rows), Bands(bands, rows)
    sizes = sorted({bands * rows, bands * rows + 1, 2 * bands * rows, 10, 25, 60, 150, 400, 1000, 2000})
    for size in sizes:
        if size < bands * rows:  # searched by prefixes, which miss nothing
            continue
        n_pairs = min(4000, 3_000_000 // (size + bands * rows))
        for n_left, n_right, n_common in at_threshold(size, threshold):
            sets, jaccard = pairs_of_sets(chance, n_pairs, n_left=n_left, n_right=n_right, n_common=n_common)
            keys = band.keys(minhash.sign(sets))
            share = (keys[:, ::2] == keys[:, 1::2]).any(axis=0).mean()
            expected = float(found_by_bands(jaccard, bands, rows))
            assert expected >= RECALL
            assert share >= min_share(expected, n_pairs), (size, n_left, n_right, n_common)


@pytest.mark.parametrize("n_union", [1, 2, 7, 40, 300, 3000])
@pytest.mark.parametrize("size", [1, 16, 128])
def test_slots_agree_as_often_as_the_sets_do(n_union, size):
    chance = np.random.default_rng(n_union)
    n_pairs = max(60, 40_000 // (n_union + size))
    for n_common in {0, n_union // 2, n_union - 1, n_union}:
        n_left = n_common + (n_union - n_common) // 3
        sets, jaccard = pairs_of_sets(
            chance, n_pairs, n_left=n_left, n_right=n_union - n_left + n_common, n_common=n_common
        )
        if sets.sizes.min() == 0:
            continue  # the empty set is like nothing
        slots = MinHash(size).sign(sets).slots
        # slots of one sketch depend on one another, but never so that their mean varies more than if they did not
        assert is_plausible(float((slots[::2] == slots[1::2]).mean()), jaccard, n_pairs * size)


def test_one_pair_agrees_over_many_seeds():
    sets, jaccard = pairs_of_sets(np.random.default_rng(1), 1, n_left=12, n_right=15, n_common=9)
    slots = [MinHash(8, seed).sign(sets).slots for seed in range(3000)]
    agree = [(one[0] == one[1]) for one in slots]
    assert is_plausible(float(np.mean(agree)), jaccard, 8 * 3000)
    for slot in range(8):  # each slot by itself: none is more likely to agree than others
        assert is_plausible(float(np.mean([a[slot] for a in agree])), jaccard, 3000)


def test_the_estimate_is_never_worse_than_minhash_and_better_for_short_sets():
    chance = np.random.default_rng(2)
    for n_union, at_most in ((40, 0.75), (100, 0.85), (1000, 1.03)):
        sets, jaccard = pairs_of_sets(
            chance, 4000, n_left=3 * n_union // 4, n_right=3 * n_union // 4, n_common=n_union // 2
        )
        slots = MinHash(128).sign(sets).slots
        deviation = (slots[::2] == slots[1::2]).mean(axis=1).std()
        assert deviation <= at_most * math.sqrt(jaccard * (1 - jaccard) / 128)


def test_strangers_meet_no_more_often_than_predicted():
    chance = np.random.default_rng(3)
    for size in (20, 60, 300):
        sets, jaccard = pairs_of_sets(chance, 20_000, n_left=size, n_right=size, n_common=size // 3)
        keys = Bands(6, 3).keys(MinHash(18).sign(sets))
        share = float((keys[:, ::2] == keys[:, 1::2]).any(axis=0).mean())
        assert share <= float(found_by_bands(jaccard, 6, 3)) + 4.5 * math.sqrt(0.25 / 20_000)


def test_sets_with_nothing_in_common_never_meet():
    sets, _ = pairs_of_sets(np.random.default_rng(4), 5000, n_left=30, n_right=30, n_common=0)
    signatures = MinHash(64).sign(sets)
    assert not (signatures.slots[::2] == signatures.slots[1::2]).any()
    keys = Bands(64, 1).keys(signatures)
    assert len(np.unique(keys)) == keys.size  # not even different bands of different documents


def test_the_order_of_elements_does_not_matter():
    chance = np.random.default_rng(5)
    hashes = chance.integers(0, 2**64, 500, dtype=np.uint64)
    both = np.concatenate([hashes, chance.permutation(hashes)])
    slots = MinHash(128).sign(ShingleSets(both, np.array([0, 500, 1000]), np.zeros(2, np.int64), "")).slots
    np.testing.assert_array_equal(slots[0], slots[1])
