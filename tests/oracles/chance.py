"""Sets of a known similarity drawn at random, and how far chance may lead a share astray."""

from __future__ import annotations

import math

import numpy as np

from nearkin.records import ShingleSets

SIGMAS = 4.5  # a right program fails one such check in 300,000


def min_share(expected: float, n: int) -> float:
    """The lowest share of ``n`` draws that chance can explain where ``expected`` is right."""
    return expected - SIGMAS * math.sqrt(expected * (1 - expected) / n) - SIGMAS / n


def is_plausible(share: float, expected: float, n: int) -> bool:
    return abs(share - expected) <= SIGMAS * math.sqrt(expected * (1 - expected) / n) + SIGMAS / n


def pairs_of_sets(
    chance: np.random.Generator, n_pairs: int, *, n_left: int, n_right: int, n_common: int
) -> tuple[ShingleSets, float]:
    """Pairs of sets of random hashes, left and right in turn, and the Jaccard similarity of each pair."""
    n_union = n_left + n_right - n_common
    union = chance.integers(0, 2**64, size=(n_pairs, n_union), dtype=np.uint64)
    both = np.concatenate([union[:, :n_left], union[:, n_left - n_common :]], axis=1)
    starts = np.arange(n_pairs) * (n_left + n_right)
    offsets = np.append(np.stack([starts, starts + n_left], axis=1).ravel(), n_pairs * (n_left + n_right))
    return ShingleSets(both.ravel(), offsets.astype(np.int64), np.zeros(2 * n_pairs, np.int64), ""), n_common / n_union


def at_threshold(size: int, threshold: float) -> list[tuple[int, int, int]]:
    """Sizes of left, right and intersection with a similarity just at or above the threshold: equal sets, and one
    inside the other.
    """
    n_common = math.ceil(2 * size * threshold / (1 + threshold) - 1e-9)
    n_inner = math.ceil(size * threshold - 1e-9)
    return [(size, size, n_common), (n_inner, size, n_inner)]
