"""The interval of an audit holds the recall as often as it says, and never claims what a sample cannot know."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from example_counts import every
from nearkin.planning.audit import beta_quantile, estimate_recall

N_POPULATION, N_SAMPLED, N_TRIALS = 20_000, 400, 150


def family_sizes(kind: str, rng: np.random.Generator) -> np.ndarray:
    """True pairs of each document: most have none."""
    size = {
        "pairs": np.ones(N_POPULATION, np.int64),
        "families": rng.geometric(0.3, N_POPULATION),
        "crowds": np.minimum((rng.pareto(1.3, N_POPULATION) + 1).astype(np.int64), 200),
    }[kind]
    return np.where(rng.random(N_POPULATION) < 0.4, size, 0)


def found_of(true: np.ndarray, recall: float, misses: str, rng: np.random.Generator) -> np.ndarray:
    """Pairs missed one by one, by documents as a whole, or half of those of some documents."""
    if misses == "single":
        return rng.binomial(true, recall)
    if misses == "documents":
        return np.where(rng.random(len(true)) < recall, true, 0)
    is_bad = rng.random(len(true)) < 2 * (1 - recall)
    return np.where(is_bad, rng.binomial(true, 0.5), true)


KINDS, MISSES = ["pairs", "families", "crowds"], ["single", "documents", "halves"]


@pytest.mark.parametrize(
    ("recall", "kind", "misses"), every(8, list(itertools.product([0.5, 0.8, 0.95, 0.99, 0.999], KINDS, MISSES)))
)
def test_coverage(kind: str, misses: str, recall: float) -> None:
    rng = np.random.default_rng(7)
    true = family_sizes(kind, rng)
    found = found_of(true, recall, misses, rng)
    actual = found.sum() / true.sum()
    n_inside = 0
    for _ in range(N_TRIALS):
        drawn = rng.choice(N_POPULATION, N_SAMPLED, replace=False)
        estimate = estimate_recall(true[drawn], found[drawn], n_population=N_POPULATION)
        n_inside += estimate.low <= actual <= estimate.high
    assert n_inside / N_TRIALS >= 0.93


@pytest.mark.parametrize(("n_sampled", "recall"), every(3, [(100, 0.5), (100, 0.99), (1_000, 0.5), (1_000, 0.99)]))
def test_coverage_where_many_pairs_are_of_two_sampled_documents(n_sampled: int, recall: float) -> None:
    """Families of up to 8 documents of 2,000: a pair counts half at each of two that are drawn."""
    rng = np.random.default_rng(11)
    family = np.repeat(np.arange(2_000), rng.integers(1, 9, 2_000))[:2_000]
    pairs = np.array([(a, b) for a in range(2_000) for b in range(a + 1, min(a + 8, 2_000)) if family[a] == family[b]])
    is_found = rng.random(len(pairs)) < recall
    actual, n_inside, n_trials = is_found.mean(), 0, 150
    for _ in range(n_trials):
        drawn = np.zeros(2_000, np.bool_)
        drawn[rng.choice(2_000, n_sampled, replace=False)] = True
        n_drawn = drawn[pairs].sum(axis=1)
        weight = np.where(n_drawn == 2, 0.5, 1.0)
        weights = np.repeat(weight, 2)
        true = np.bincount(pairs.ravel(), weights, 2_000)
        found = np.bincount(pairs.ravel(), weights * np.repeat(is_found, 2), 2_000)
        estimate = estimate_recall(true[drawn], found[drawn], n_population=2_000)
        assert (estimate.n_true, estimate.n_found) == ((n_drawn > 0).sum(), (is_found & (n_drawn > 0)).sum())
        n_inside += estimate.low <= actual <= estimate.high
    assert n_inside / n_trials >= 0.93


@pytest.mark.parametrize("n", [1, 2, 10, 500])
def test_nothing_missed_is_no_certainty(n: int) -> None:
    estimate = estimate_recall([1] * n, [1] * n, n_population=10**6)
    assert (estimate.recall, estimate.high) == (1.0, 1.0)
    assert estimate.low == pytest.approx(0.025 ** (1 / n))
    # many pairs of one document are no more than one document
    assert estimate_recall([9] * n, [9] * n, n_population=10**6).low == pytest.approx(estimate.low)


def test_no_true_pairs() -> None:
    estimate = estimate_recall([0, 0, 0], [0, 0, 0], n_population=100)
    assert (estimate.n_sampled, estimate.n_with_pairs, estimate.n_true) == (3, 0, 0)
    assert (estimate.recall, estimate.low, estimate.high) == (None, None, None)
    assert estimate_recall([], [], n_population=0).recall is None


@pytest.mark.parametrize(
    ("probability", "a", "b", "expected"),
    [  # of published tables: Clopper and Pearson's limits for 8 of 10, and for 95 of 100
        (0.025, 8, 3, 0.4439045),
        (0.975, 9, 2, 0.9747893),
        (0.025, 95, 6, 0.8871651),
        (0.975, 96, 5, 0.9835681),
        (0.5, 1, 1, 0.5),
        (0.5, 2.5, 2.5, 0.5),
    ],
)
def test_beta_quantiles(probability: float, a: float, b: float, expected: float) -> None:
    assert beta_quantile(probability, a, b) == pytest.approx(expected, abs=1e-6)
