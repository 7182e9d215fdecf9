from __future__ import annotations

import numpy as np
import pytest

from nearkin.kernels.sketch import found_by_bands
from nearkin.planning.cluster_needs import CorpusForecast
from nearkin.planning.search import Sample, plan_bands

THRESHOLD, N_TEXTS, N_CORPUS = 0.7, 100, 10_000


def forecast(similarity: np.ndarray, n_texts: int) -> CorpusForecast:
    n = round((1 + (1 + 8 * len(similarity)) ** 0.5) / 2)
    none = np.zeros(len(similarity), np.int64)
    sample = Sample.of_one(n_texts, np.full(n, 10_000), similarity, none, similarity >= THRESHOLD)
    return CorpusForecast(
        n_documents=n_texts,
        n_texts=n_texts,
        n_sampled=n,
        n_without_text=0,
        document_bytes=1.0,
        sample=sample,
        plan=plan_bands(THRESHOLD, 0.99, sample),
        n_band_keys=1.0,
        n_other_keys=0.0,
        threshold=THRESHOLD,
    )


def test_the_range_of_unrelated_pairs_contains_their_number_for_most_samples():
    """A part of the texts share a passage of some length, so that few texts are in most of the pairs."""
    random = np.random.default_rng(7)
    n = 1_000
    shared = np.where(random.random(n) < 0.4, random.random(n) * 0.65, 0)
    of_pairs = np.minimum(shared[:, None], shared[None, :])
    n_inside = 0
    for _ in range(60):
        chosen = random.choice(n, N_TEXTS, replace=False)
        told = forecast(of_pairs[np.ix_(chosen, chosen)][np.triu_indices(N_TEXTS, 1)], N_CORPUS)
        found = found_by_bands(of_pairs[np.triu_indices(n, 1)], told.plan.bands, told.plan.rows)
        low, high = told.candidates_range()
        assert low < told.plan.expected_candidates < high < 30 * low
        n_inside += low <= found.mean() * N_CORPUS * (N_CORPUS - 1) / 2 <= high
    assert n_inside >= 54


@pytest.mark.parametrize(
    ("similarity", "n_texts", "expected"),
    [
        pytest.param(np.zeros(4_950), 10_000, (0, 3 * 10_000 * 9_999 / 9_900), id="no pair of the sample"),
        pytest.param(np.full(4_950, 0.9), 10_000, (0, 3 * 10_000 * 9_999 / 9_900), id="matches alone"),
        pytest.param(np.zeros(1), 3, (0, 3), id="no more than all pairs"),
        pytest.param(np.full(1, 0.4), 10, (0, 45), id="two texts, whose spread is unknown"),
    ],
)
def test_a_range_that_a_sample_does_not_narrow(similarity, n_texts, expected):
    assert forecast(similarity, n_texts).candidates_range() == pytest.approx(expected)


def test_a_sample_without_a_pair_predicts_no_number_of_pairs():
    told, one = forecast(np.zeros(0), 10_000), forecast(np.zeros(0), 1)
    assert (told.n_unrelated, told.candidates_range()) == (None, None)
    assert (one.n_unrelated, one.candidates_range()) == (0, (0, 0))  # a corpus of one text has no pair


def test_a_corpus_that_was_compared_whole_has_no_range():
    told = forecast(np.full(4_950, 0.3), N_TEXTS)
    assert told.candidates_range() == (told.plan.expected_candidates,) * 2
