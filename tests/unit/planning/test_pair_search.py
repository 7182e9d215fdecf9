"""Ways to search for pairs across two collections: what is predicted, against definitions, runs and the article."""

from __future__ import annotations

import math
from dataclasses import asdict
from itertools import product
from math import comb

import numpy as np
import pytest

from example_counts import every
from labs.cross_lingual.window_model import within_distance
from nearkin.planning.pairs.chances import TAIL_RATE, TAIL_SHARE, Chances, CosineSpread, distance_shares
from nearkin.planning.pairs.search import QUICK_S, PairSearch, Question, choose, exact_is_quick, predict
from nearkin.records import BitSignatures
from nearkin.stages.search.sliding_window import SignatureScan, SlidingWindow

WIKIPEDIA = Question(n_left=3_440_000, n_right=1_470_000, threshold=0.3, recall=0.9)


def random_signatures(n: int, n_bytes: int, seed: int) -> BitSignatures:
    packed = np.random.default_rng(seed).integers(0, 256, (n, n_bytes), np.uint8)
    return BitSignatures(packed, np.ones(n, np.bool_), "test")


# -- The spread of cosines --------------------------------------------------------------------------------------------


def test_the_tail_has_the_published_recall_and_number_of_pairs():
    question = WIKIPEDIA
    every = predict(PairSearch("signatures", 1000, 400), question)
    assert every.recall == pytest.approx(0.76, abs=5e-4)
    extracted = predict(PairSearch("window", 1000, 400, 300, 2000), question).n_candidates
    assert extracted == pytest.approx(64e6, rel=0.01)


def test_the_background_is_that_of_the_documents_it_was_taken_from():
    background = CosineSpread.modelled(0.3, rate=TAIL_RATE, tail_share=0.0)
    assert float(background.cosines @ background.shares) == pytest.approx(0.024, abs=0.001)
    assert background.share_above(0.11) == pytest.approx(0.001, rel=0.1)
    assert CosineSpread.default(0.3).share_above(0.3) == pytest.approx(TAIL_SHARE, rel=1e-3)


# -- Chances ----------------------------------------------------------------------------------------------------------


def test_distances_are_binomial():
    shares = distance_shares(np.array([0.3, 0.9]), np.array([0.25, 0.75]), 256)
    expected = 0.25 * within_distance(0.3, 256, 100) + 0.75 * within_distance(0.9, 256, 100)
    assert shares[:101].sum() == pytest.approx(expected, abs=1e-9)
    assert distance_shares(np.array([1.0, -1.0]), np.array([0.5, 0.5]), 8).tolist() == [0.5] + 7 * [0.0] + [0.5]


def test_prefixes_are_drawn_from_the_same_bits():
    """Against the share of subsets of the bits that agree, and every order of all of them."""
    chances = Chances(16, np.ones(17) / 17, np.ones(17) / 17)
    for length in (1, 3, 5):
        told = np.exp(chances.log_agreement(np.array([float(length)]))[0])
        exact = [comb(16 - h, length) / comb(16, length) for h in range(17)]
        assert told.tolist() == pytest.approx(exact, abs=1e-12)
    found = chances.found(np.array([0.0, 3.0, 99.0]), np.array([1.0, 7.0]))
    assert (found[0] == 1).all()
    assert found[1, 1, 4] == pytest.approx(1 - (1 - comb(12, 3) / comb(16, 3)) ** 7)
    assert found[2, 0].tolist() == pytest.approx([1.0] + 16 * [0.0])


# -- Predictions ------------------------------------------------------------------------------------------------------


def test_comparisons_are_those_that_are_made():
    left, right = random_signatures(700, 8, 1), random_signatures(300, 8, 2)
    question = Question(n_left=700, n_right=300, threshold=0.5, recall=0.9)
    every = SignatureScan().pairs(left, right, distance=3)
    assert predict(PairSearch("signatures", 64, 3), question).n_comparisons == every.n_comparisons == 210_000
    for window in (1, 20, 999, 5000):
        made = SlidingWindow(5, window).pairs(left, right, distance=3).n_comparisons
        told = predict(PairSearch("window", 64, 3, 5, window), question).n_comparisons
        assert told == pytest.approx(made, rel=0.05, abs=300)


# -- The choice -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("threshold", "n"), every(3, [*product((0.05, 0.3, 0.7, 0.95), (1, 40, 20_000, 10**9))]))
def test_it_reaches_the_recall_everywhere(threshold, n):
    for recall in (0.5, 0.999):
        question = Question(n_left=n, n_right=max(1, n // 3), threshold=threshold, recall=recall)
        plan = choose(question)
        assert plan.reaches
        assert plan.prediction.recall_low >= recall
        assert plan.prediction == predict(plan.search, question)
        assert plan.is_quick == exact_is_quick(question)
        assert plan.search.method == "vectors" or not plan.is_quick
        for _, told in plan.alternatives:
            assert plan.is_quick or told.core_s >= plan.prediction.core_s or told.recall_low < recall
            assert all(math.isfinite(value) and value >= 0 for value in asdict(told).values())


def test_exact_search_is_chosen_while_it_is_quick():
    few, many = (
        Question(n_left=40_000, n_right=40_000, threshold=0.3, recall=0.9),
        Question(n_left=90_000, n_right=90_000, threshold=0.3, recall=0.9),
    )
    plan = choose(few)
    assert (plan.search.method, plan.is_quick, plan.reaches) == ("vectors", True, True)
    assert min(told.core_s for _, told in plan.alternatives) < plan.prediction.core_s < QUICK_S
    assert choose(few, method="signatures").search.method == "signatures"
    assert choose(few, bits=512).search.bits == 512
    plan = choose(many)
    assert (plan.search.method, plan.is_quick) == ("signatures", False)
    assert max(told.core_s for _, told in plan.alternatives) > QUICK_S


def test_what_is_fixed_stays():
    plan = choose(WIKIPEDIA, bits=1000, distance=430)
    assert plan.search.method in ("signatures", "window")
    assert (plan.search.bits, plan.search.distance) == (1000, 430)
    plan = choose(WIKIPEDIA, permutations=300)
    assert (plan.search.method, plan.search.permutations) == ("window", 300)
    plan = choose(WIKIPEDIA, window=2000, bits=512)
    assert (plan.search.bits, plan.search.window) == (512, 2000)
    assert choose(WIKIPEDIA, method="vectors").search == PairSearch("vectors")


# -- What is refused, and costs ----------------------------------------------------------------------------------------
