"""The recall measured on the pairs of a sample, and its interval."""

from __future__ import annotations

import math

import numpy as np
import pytest

from example_counts import every
from nearkin.planning.pairs.assurance import SamplePairs, assured
from nearkin.planning.pairs.prediction import PairSearch, Question, predict

N_BITS = 256


def sampled(documents: np.ndarray, n_documents: int, cosines: np.ndarray, seed: int) -> SamplePairs:
    differ = np.arccos(cosines) / np.pi
    distances = np.random.default_rng(seed).binomial(N_BITS, differ)
    return SamplePairs(
        n_bits=N_BITS, documents=documents, n_documents=n_documents, cosines=cosines, distances=distances
    )


def question(n_left: int) -> Question:
    return Question(n_left=n_left, n_right=5000, threshold=0.3, recall=0.9)


def told(pairs: SamplePairs, n_left: int, search: PairSearch):
    asked = question(n_left)
    return assured(search, predict(search, asked), asked, pairs)


WITHIN_80 = PairSearch("signatures", N_BITS, 80)


def test_a_sample_of_all_documents_has_no_interval():
    pairs = sampled(np.arange(200), 200, np.full(200, 0.6), seed=1)
    prediction = told(pairs, 200, WITHIN_80)
    share = float((pairs.distances <= 80).mean())
    assert prediction.recall_low == prediction.recall == prediction.recall_high == share < 1


def test_the_interval_holds_for_most_samples():
    chance = np.random.default_rng(7)
    n_pairs = chance.zipf(2.0, 20_000).clip(0, 200) * (chance.random(20_000) < 0.3)
    documents = np.repeat(np.arange(20_000), n_pairs)
    cosines = chance.uniform(0.5, 0.8, 20_000)[documents]
    whole = sampled(documents, 20_000, cosines, seed=2)
    true = float((whole.distances <= 80).mean())
    n_below, n_above = 0, 0
    for _ in range(60):
        drawn = np.sort(chance.choice(20_000, 1000, replace=False))
        own = np.isin(documents, drawn)
        pairs = SamplePairs(
            n_bits=N_BITS,
            documents=np.searchsorted(drawn, documents[own]),
            n_documents=1000,
            cosines=cosines[own],
            distances=whole.distances[own],
        )
        prediction = told(pairs, 20_000, WITHIN_80)
        n_below += true < prediction.recall_low
        n_above += true > prediction.recall_high
    assert max(n_below, n_above) <= 4


@pytest.mark.parametrize(("spread", "chance"), every(3, [(0.15, 0.95), (0.0, 0.95), (0.15, 0.991), (0.0, 0.991)]))
def test_the_lower_end_is_seldom_above_the_recall_however_few_pairs_there_are(spread, chance):
    """The pairs of a large corpus have one cosine, or many. Each turn draws a sample, with new signatures."""
    draw = np.random.default_rng(5)
    cosines = np.linspace(-1, 1, 401)
    differ = np.arccos(cosines) / np.pi
    chances = sum(math.comb(N_BITS, k) * differ**k * (1 - differ) ** (N_BITS - k) for k in range(81))
    middle = float(np.interp(chance, chances, cosines))
    true = float(np.interp(draw.uniform(middle - spread, middle + spread, 100_000), cosines, chances).mean())
    for n_pairs in (5, 40):
        n_above = 0
        for seed in range(100):
            some = draw.uniform(middle - spread, middle + spread, n_pairs)
            n_above += true < told(sampled(np.arange(n_pairs), 2000, some, seed), 1_000_000, WITHIN_80).recall_low
        assert n_above <= 2, n_pairs


def test_the_gaps_of_the_search_decide_what_a_window_finds():
    pairs = SamplePairs(
        n_bits=N_BITS,
        documents=np.arange(4),
        n_documents=4,
        cosines=np.full(4, 0.7),
        distances=np.array([50, 50, 50, 90]),
        gaps=np.array([[3, 900], [900, 10], [11, 900], [1, 1]]),
    )
    window = PairSearch("window", N_BITS, 80, 2, 10)
    assert told(pairs, 4, window).recall_low == told(pairs, 4, window).recall == 0.5
