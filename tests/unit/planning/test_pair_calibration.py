"""Prefixes measured on known pairs in a few orders, against what a sliding window finds in others."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nearkin.planning.pairs.calibration import BOTH_SIDES, Prefix, calibrated
from nearkin.planning.pairs.chances import CosineSpread
from nearkin.planning.pairs.search import PairSearch, Question, predict
from nearkin.records import BitSignatures
from nearkin.stages.search.sliding_window import SlidingWindow

N, N_PAIRS, N_PROBED, BITS = 3000, 900, 300, 512


def units(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def leaning(background: float, cosine: float) -> tuple[np.ndarray, BitSignatures, BitSignatures]:
    """Vectors that all lean to one side, so that strangers have that cosine; the first ones have a partner.

    Returns the cosines of these pairs, shape (N_PAIRS,), and the signatures of both sides.
    """
    chance = np.random.default_rng(3)
    common = units(chance.standard_normal((1, 300)))
    left, right = (
        units((1 - background) ** 0.5 * units(chance.standard_normal((N, 300))) + background**0.5 * common)
        for _ in range(2)
    )
    own, other = left[:N_PAIRS], right[:N_PAIRS]
    apart = units(other - (other * own).sum(axis=1, keepdims=True) * own)
    cosines = chance.uniform(cosine - 0.05, cosine + 0.15, (N_PAIRS, 1))
    right[:N_PAIRS] = cosines * own + (1 - cosines**2) ** 0.5 * apart
    planes = chance.standard_normal((300, BITS))
    first, second = (
        BitSignatures(np.packbits(side @ planes >= 0, axis=1), np.ones(N, np.bool_), "test") for side in (left, right)
    )
    return cosines[:, 0], first, second


def gaps(left: BitSignatures, right: BitSignatures, n_orders: int) -> np.ndarray:
    """How many places the first documents of both sides are apart in other orders than those that are searched."""
    bits = np.unpackbits(np.concatenate([left.packed, right.packed]), axis=1)
    apart = []
    for order in SlidingWindow(n_orders, 1, seed=99).orders(BITS):
        places = np.empty(2 * N, np.int64)
        places[np.lexsort(bits[:, order[:64]].T[::-1])] = np.arange(2 * N)
        apart.append(np.abs(places[:N_PROBED] - places[N : N + N_PROBED]))
    return np.stack(apart, axis=1)


def measured_recall(left: BitSignatures, right: BitSignatures, search: PairSearch) -> float:
    """Of the pairs that were not probed."""
    found = SlidingWindow(search.permutations, search.window).pairs(left, right, distance=search.distance)
    is_pair = (found.left == found.right) & (found.left >= N_PROBED) & (found.left < N_PAIRS)
    return float(is_pair.sum()) / (N_PAIRS - N_PROBED)


def predicted(cosines: np.ndarray, search: PairSearch, prefix: Prefix) -> tuple[float, float]:
    edges = np.linspace(0, 1, 201)
    spread = CosineSpread.of_counts(edges, np.histogram(cosines[N_PROBED:], edges)[0])
    told = predict(search, Question(n_left=N, n_right=N, threshold=0.01, recall=0.9, spread=spread, prefix=prefix))
    return told.recall_low, told.recall_high


@pytest.mark.parametrize("background", [0.3, *(pytest.param(one, marks=pytest.mark.soak) for one in (0.0, 0.5))])
def test_measured_prefixes_hold_where_theory_fails(background):
    cosines, left, right = leaning(background, 0.5)
    prefix = calibrated(cosines[:N_PROBED], gaps(left, right, 8), 2 * N)
    for permutations, window in ((20, 40), (60, 10), (20, 100), (80, 20)):
        search = PairSearch("window", BITS, 240, permutations, window)
        measured = measured_recall(left, right, search)
        low, high = predicted(cosines, search, prefix)
        assert low - 0.02 <= measured <= high + 0.02
        theory_low, theory_high = predicted(cosines, search, Prefix())
        if background == 0:
            assert theory_low <= measured <= theory_high + 0.02
        else:
            assert measured < theory_low


def test_uniform_signatures_agree_with_theory():
    cosines, left, right = leaning(0.0, 0.5)
    prefix = calibrated(cosines[:N_PROBED], gaps(left, right, 12), 2 * N)
    for window in (10, 40, 150, 600):
        low, middle, high = prefix.lengths(2 * N, window)
        theory = Prefix().lengths(2 * N, window)[1]
        assert low - 0.3 <= theory <= high + 0.3
        assert middle == pytest.approx(theory, abs=0.6)


def test_both_sides_of_a_window():
    """Two positions whose binary digits agree with probability 0.6: how often they are near."""
    chance = np.random.default_rng(1)
    apart = np.zeros(400_000)
    for digit in range(1, 25):
        drawn = chance.random(len(apart))
        apart += np.where(drawn < 0.6, 0, np.where(drawn < 0.8, 1, -1)) * 2.0**-digit
    for power in (4, 6, 8):
        length = math.log((np.abs(apart) <= 2.0**-power).mean()) / math.log(0.6)
        assert power - length == pytest.approx(BOTH_SIDES, abs=0.06)


def test_theory_is_that_of_the_article():
    least, middle, most = Prefix().lengths(4_910_000, 2000)
    assert (least, most) == (10, math.ceil(math.log2(4_910_000 / 2000)))
    assert least < middle < most
    assert Prefix().lengths(100, 100) == Prefix().lengths(100, 5000) == (0, 0, 0)
