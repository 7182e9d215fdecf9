"""The plan reaches what was asked, at the least cost, and depends on nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from example_counts import every
from nearkin.errors import ParameterError
from nearkin.kernels.sketch import found_by_bands, found_by_sample
from nearkin.planning.search import EVERY_SIZE, MAX_SLOTS, Sample, bands_for, plan_bands, plan_sampling
from nearkin.planning.sketch_recall import SketchRecall
from nearkin.records import ShingleSets
from nearkin.stages.signatures.minhash import MinHash
from oracles.chance import is_plausible


def strangers(n_documents: int, similarity: float, *, size: int = 300) -> Sample:
    return Sample.of_one(
        n_documents, np.full(100, size), np.full(4950, similarity), np.full(4950, int(similarity * size), np.int64)
    )


@given(st.floats(0.05, 1.0), st.integers(1, 12), st.floats(0.01, 0.9999))
def test_the_fewest_bands_that_reach_the_recall(threshold, rows, recall):
    bands = bands_for(threshold, rows, recall)
    assume(bands * rows <= MAX_SLOTS)
    assert found_by_bands(threshold, bands, rows) >= recall - 1e-9
    assert bands == 1 or found_by_bands(threshold, bands - 1, rows) < recall


@given(st.floats(0.2, 1.0), st.floats(0.1, 0.999), st.integers(0, 10**8), st.floats(0.0, 0.5))
def test_a_plan_reaches_its_recall_within_the_slots(threshold, recall, n_documents, similarity):
    plan = plan_bands(threshold, recall, strangers(n_documents, similarity))
    assert plan.recall_at_threshold >= recall - 1e-9
    assert plan.recall_at_threshold == found_by_bands(threshold, plan.bands, plan.rows)
    assert plan.size == plan.bands * plan.rows <= MAX_SLOTS
    assert plan.exact_below >= 1
    assert plan.expected_candidates >= 0
    n_union = 10 * plan.size
    n_common = np.ceil(np.linspace(threshold, 1, 20) * n_union).astype(np.int64)
    each = np.full(20, n_union)
    assert (np.diff(plan.found_probability(n_common, n_common, each, threshold)) >= -1e-9).all()


def test_matches_are_no_unrelated_pairs_of_a_search_by_sampled_shingles_and_leave_the_plan_as_it_is():
    n_common = np.arange(4950) % 300
    sample = Sample.of_one(1000, np.full(100, 300), n_common / 300, n_common, n_common >= 240)
    plan = plan_sampling(0.8, 0.99, sample)
    of_no_match = plan_sampling(0.8, 0.99, replace(sample, is_match=n_common < 0))
    assert (plan.rate, plan.exact_below) == (of_no_match.rate, of_no_match.exact_below)
    found = found_by_sample(n_common, plan.rate) * 1000 * 999 / 2 / 4950
    assert plan.expected_candidates == pytest.approx(found[n_common < 240].sum())


def test_forms_are_searched_by_rare_shingles_unless_they_share_these():
    sample = strangers(100_000, 0.62)
    by_bands = plan_bands(0.7, 0.99, sample)
    by_rare = plan_bands(0.7, 0.99, replace(sample, shares_rare=lambda: np.arange(4950) == 7))
    assert by_bands.exact_below == by_bands.size
    assert (by_rare.exact_below, by_rare.recall_at_threshold) == (EVERY_SIZE, 1.0)
    assert by_rare.expected_candidates == pytest.approx(sample.scale)


def test_what_cannot_be_reached_is_refused_with_what_helps():
    with pytest.raises(ParameterError, match="lower the recall or raise the threshold"):
        plan_bands(0.001, 0.999, strangers(10, 0.0))


def test_expected_candidates_are_the_strangers_of_the_sample_on_the_scale_of_the_collection():
    sample = strangers(1000, 0.4, size=10_000)
    plan = plan_bands(0.8, 0.99, sample)
    expected = 1000 * 999 / 2 * found_by_bands(0.4, plan.bands, plan.rows)
    assert plan.expected_candidates == pytest.approx(expected)


@given(st.floats(0.1, 1.0), st.floats(0.5, 0.9999), st.lists(st.integers(1, 2000), min_size=1, max_size=30))
def test_whatever_the_sizes_a_contained_document_is_found_as_surely_as_asked(threshold, recall, sizes):
    sample = Sample.of_one(100, np.array(sizes), np.zeros(0), np.zeros(0, np.int64))
    plan = plan_sampling(threshold, recall, sample)
    n_smaller = np.arange(1, 3000)
    n_common = np.ceil(threshold * n_smaller - 1e-9).astype(np.int64)
    found = plan.found_probability(n_common, n_smaller)
    assert found.min() == pytest.approx(plan.recall_at_threshold)
    assert plan.recall_at_threshold >= recall - 1e-9
    at_bound = n_common[plan.exact_below - 1]
    assert plan.rate <= 1e-5 or 1 - (1 - plan.rate + 1.1e-5) ** at_bound < recall


@pytest.mark.parametrize(
    ("bands", "rows", "n_union", "similarity"),
    every(
        2,
        [
            (20, 7, 160, 0.8),
            (20, 7, 3000, 0.75),
            (9, 4, 40, 0.7),
            (32, 9, 330, 0.78),
            (60, 5, 320, 0.5),
            (1, 20, 60, 0.9),
        ],
    ),
)
def test_sketches_agree_in_a_band_as_often_as_said(bands, rows, n_union, similarity):
    """Also where there are hardly more shingles than slots: there slots are far from independent."""
    n, n_common = 8000, round(similarity * n_union)
    n_left = n_common + (n_union - n_common) // 2
    hashes = np.random.default_rng(rows).integers(0, 2**64, (n, n_union), np.uint64)
    sides = hashes[:, :n_left], np.concatenate([hashes[:, :n_common], hashes[:, n_left:]], axis=1)
    slots = [
        MinHash(bands * rows)
        .sign(ShingleSets(side.ravel(), np.arange(n + 1) * side.shape[1], np.zeros(n, np.int64), ""))
        .slots.reshape(n, bands, rows)
        for side in sides
    ]
    is_found = (slots[0] == slots[1]).all(axis=2).any(axis=1)
    (predicted,) = SketchRecall(bands, rows).found(np.array([n_common]), np.array([n_union]))
    assert is_plausible(is_found.mean(), predicted, n)


def test_documents_that_are_searched_exactly_are_never_missed():
    plan = plan_bands(0.8, 0.99, strangers(10_000, 0.1))
    most = plan.exact_up_to(0.8)
    assert most >= plan.exact_below
    n_left, n_right = np.array([plan.exact_below - 1, most, most + 1]), np.array([most, most, most + 1])
    found = plan.found_probability(np.ceil(0.9 * n_left).astype(np.int64), n_left, n_right, 0.8)
    assert (found == 1).tolist() == [True, True, False]
