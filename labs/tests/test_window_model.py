"""The model of the sliding window against what is measured on vectors of known cosines."""

from __future__ import annotations

import math
from math import comb

import numpy as np
import pytest

from labs.cross_lingual.window_model import WindowModel, bit_difference, distance_for_cosine, within_distance
from nearkin.records import BitSignatures
from nearkin.stages.search.sliding_window import SlidingWindow


@pytest.mark.parametrize(("cosine", "n_bits", "distance"), [(0.3, 100, 40), (0.9, 64, 3), (0, 50, 25), (0.5, 30, 0)])
def test_the_binomial_sum(cosine, n_bits, distance):
    p = math.acos(cosine) / math.pi
    expected = sum(comb(n_bits, i) * p**i * (1 - p) ** (n_bits - i) for i in range(distance + 1))
    assert within_distance(cosine, n_bits, distance) == pytest.approx(expected, abs=1e-9)


def planted(n: int, n_pairs: int, cosine: float, n_bits: int) -> tuple[BitSignatures, BitSignatures]:
    """Signatures of random vectors, of which some have a partner of a known cosine on the other side."""
    chance = np.random.default_rng(7)
    left = chance.integers(0, 2, (n, n_bits), np.uint8)
    right = chance.integers(0, 2, (n, n_bits), np.uint8)
    right[:n_pairs] = left[:n_pairs] ^ (chance.random((n_pairs, n_bits)) < bit_difference(cosine))
    both = (np.packbits(bits, axis=1) for bits in (left, right))
    first, second = (BitSignatures(packed, np.ones(n, np.bool_), "test") for packed in both)
    return first, second


@pytest.mark.parametrize(("cosine", "permutations", "window"), [(0.7, 10, 40), (0.7, 4, 150), (0.85, 6, 10)])
def test_measured_recall_is_near_the_band(cosine, permutations, window):
    n, n_pairs, n_bits = 3_000, 600, 512
    left, right = planted(n, n_pairs, cosine, n_bits)
    distance = distance_for_cosine(cosine, n_bits) + 20
    found = SlidingWindow(permutations, window).pairs(left, right, distance=distance)
    measured = float((found.left == found.right)[found.left < n_pairs].sum()) / n_pairs
    low, high = WindowModel(2 * n, n_bits, permutations, window, distance).found(cosine)
    assert low - 0.06 <= measured <= high + 0.06


def test_comparisons_are_those_that_are_made():
    left, right = planted(300, 10, 0.9, 64)
    both = BitSignatures(np.concatenate([left.packed, right.packed]), np.ones(600, np.bool_), "test")
    for window in (5, 599, 5_000):
        model = WindowModel(600, 64, 3, window, 5)
        assert SlidingWindow(3, window).pairs(both, distance=5).n_comparisons == model.n_comparisons


def test_a_window_over_everything_is_brute_force():
    model = WindowModel(100, 256, 1, 100, 110)
    assert model.found(0.3) == (within_distance(0.3, 256, 110),) * 2
