"""The plan reaches what was asked, at the least cost, and depends on nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nearkin.errors import ParameterError
from nearkin.kernels.chances import found_by_bands
from nearkin.planning.curve import bands_for, missed
from nearkin.planning.search import MOST_SLOTS, Sample, plan_bands, plan_sampling


def strangers(n_documents: int, similarity: float, *, size: int = 300) -> Sample:
    return Sample.of_one(
        n_documents, np.full(100, size), np.full(4950, similarity), np.full(4950, int(similarity * size), np.int64)
    )


@given(st.floats(0.05, 1.0), st.integers(1, 12), st.floats(0.01, 0.9999))
def test_the_fewest_bands_that_reach_the_recall(threshold, rows, recall):
    bands = bands_for(threshold, rows, recall)
    assume(bands * rows <= MOST_SLOTS)
    assert found_by_bands(threshold, bands, rows) >= recall - 1e-9
    assert bands == 1 or found_by_bands(threshold, bands - 1, rows) < recall


@given(st.floats(0.2, 1.0), st.floats(0.1, 0.999), st.integers(0, 10**8), st.floats(0.0, 0.5))
def test_a_plan_reaches_its_recall_within_the_slots(threshold, recall, n_documents, similarity):
    plan = plan_bands(threshold, recall, strangers(n_documents, similarity))
    assert plan.recall_at_threshold >= recall - 1e-9
    assert plan.recall_at_threshold == found_by_bands(threshold, plan.bands, plan.rows)
    assert plan.size == plan.bands * plan.rows <= MOST_SLOTS
    assert plan.exact_below >= 1
    assert plan.expected_candidates >= 0
    similarities = np.linspace(threshold, 1, 20)
    assert (np.diff(plan.found_probability(similarities)) >= -1e-12).all()


def test_more_documents_and_more_likeness_make_stricter_bands():
    assert plan_bands(0.8, 0.99, strangers(1000, 0.1)).rows < plan_bands(0.8, 0.99, strangers(10**7, 0.1)).rows
    assert plan_bands(0.8, 0.99, strangers(10**5, 0.0)).rows < plan_bands(0.8, 0.99, strangers(10**5, 0.4)).rows


def test_a_plan_for_nothing():
    nothing = Sample.of_one(0, np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64))
    assert plan_bands(0.8, 0.99, nothing).expected_candidates == 0
    assert 0 < plan_sampling(0.8, 0.99, nothing).rate <= 1
    empty_texts = Sample.of_one(3, np.zeros(3, np.int64), np.zeros(3), np.zeros(3, np.int64))
    assert plan_sampling(0.8, 0.99, empty_texts).recall_at_threshold == 1


def test_what_cannot_be_reached_is_refused_with_what_helps():
    with pytest.raises(ParameterError, match="lower recall or a higher threshold"):
        plan_bands(0.001, 0.999, strangers(10, 0.0))


def test_expected_candidates_are_the_strangers_of_the_sample_on_the_scale_of_the_collection():
    sample = strangers(1000, 0.4)
    plan = plan_bands(0.8, 0.99, sample)
    expected = 1000 * 999 / 2 * found_by_bands(0.4, plan.bands, plan.rows)
    assert plan.expected_candidates == pytest.approx(expected)


@given(st.floats(0.1, 1.0), st.floats(0.5, 0.9999), st.lists(st.integers(1, 2000), min_size=1, max_size=30))
def test_the_lowest_rate_that_reaches_the_mean_recall(threshold, recall, sizes):
    sample = Sample.of_one(100, np.array(sizes), np.zeros(0), np.zeros(0, np.int64))
    plan = plan_sampling(threshold, recall, sample)
    shared = np.ceil(threshold * np.array(sizes))
    assert plan.recall_at_threshold == pytest.approx((1 - (1 - plan.rate) ** shared).mean())
    assert plan.recall_at_threshold >= recall - 1e-9
    lower, short = plan.rate - 2e-4, np.quantile(shared, 0.05, method="lower")
    assert 1 - (1 - plan.rate) ** short >= recall - 1e-9
    is_less = min((1 - (1 - lower) ** shared).mean(), 1 - (1 - lower) ** short) < recall + 1e-9
    assert lower <= 0 or is_less


@given(st.lists(st.floats(0.3, 1.0), min_size=1, max_size=50))
def test_the_estimate_of_what_was_missed(found):
    assert missed(np.array(found)) == pytest.approx(sum((1 - p) / p for p in found))
    assert missed(np.zeros(0)) == 0


def test_the_estimate_is_right_on_average():
    chance = np.random.default_rng(0)
    similarity = chance.uniform(0.75, 1.0, 200_000)
    p = found_by_bands(similarity, bands=8, rows=6)
    is_found = chance.random(len(p)) < p
    assert missed(p[is_found]) == pytest.approx((~is_found).sum(), rel=0.02)
