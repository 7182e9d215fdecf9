"""The expected recall of a distance: distributions against their definitions and against draws."""

from __future__ import annotations

from itertools import pairwise
from math import comb, sqrt

import numpy as np
import pytest

from nearkin.planning.neighbour_recall import MEASURED, BitsApart, expected_recall, usual_distance


@pytest.mark.parametrize(("n_bits", "p"), [(8, 0.3), (64, 0.1), (256, 0.02), (1024, 0.5)])
def test_pairs_that_are_all_the_same_are_binomial(n_bits, p):
    apart = BitsApart(p, sqrt(p * (1 - p) / n_bits))
    for distance in (0, 3, n_bits // 10, n_bits - 1):
        exact = sum(comb(n_bits, k) * p**k * (1 - p) ** (n_bits - k) for k in range(distance + 1))
        assert apart.share_within(n_bits, distance) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize(("n_bits", "a", "b"), [(64, 3.0, 12.0), (256, 0.8, 6.0), (1024, 20.0, 60.0)])
def test_pairs_that_differ_are_drawn_twice(n_bits, a, b):
    """Each pair has a share of its own, drawn from a beta distribution; its bits differ with that probability."""
    chance = np.random.default_rng(4)
    drawn = chance.binomial(n_bits, chance.beta(a, b, 200_000))
    apart = BitsApart(float((drawn / n_bits).mean()), float((drawn / n_bits).std()))
    for distance in (0, n_bits // 20, n_bits // 8, n_bits // 3):
        assert apart.share_within(n_bits, distance) == pytest.approx(float((drawn <= distance).mean()), abs=0.01)


@pytest.mark.parametrize("method", ["minhash", *MEASURED])
@pytest.mark.parametrize("n_bits", [8, 16, 24, 64, 200, 1024])
def test_a_longer_distance_finds_more(method, n_bits):
    recalls = [expected_recall(method, n_bits, distance) for distance in range(0, n_bits, 1 + n_bits // 50)]
    assert all(low <= high for low, high in recalls)
    assert all(one <= other + 1e-12 for (one, _), (other, _) in pairwise(recalls))


def test_a_distance_of_3_finds_little_but_copies_by_long_signatures():
    for method in MEASURED:
        assert usual_distance(method, 1024) == 3
        assert expected_recall(method, 1024, 3)[1] < 0.01
    assert expected_recall("weighted-topsig", 64, 3)[1] < 0.01
    assert expected_recall("weighted-topsig", 64, 14)[0] < 0.9 < expected_recall("weighted-topsig", 64, 24)[0]
