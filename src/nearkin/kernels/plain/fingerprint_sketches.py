"""The twin of ``compiled.fingerprint_sketches``."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.plain.mixing import GOLDEN, MASK, mix

Sketches = tuple[NDArray[np.int32], NDArray[np.int64]]
POLYNOMIAL = (1 << 64) | 0b11011
"""x^64 + x^4 + x^3 + x + 1."""


def divisible(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, by: int) -> Sketches:
    """See ``compiled.fingerprint_sketches.divisible``."""
    return _each(shingles, offsets, lambda own: [one for one in own if one % by == 0])


def winnowed(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, window: int) -> Sketches:
    """See ``compiled.fingerprint_sketches.winnowed``.

    Examples
    --------
    >>> hashes = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98]  # the article's figure 2
    >>> winnowed(np.array(hashes, np.int32), np.array([0, 17]), window=4)[0].tolist()
    [17, 17, 8, 39, 17]
    """

    def least_of_windows(own: list[int]) -> list[int]:
        chosen = dict[int, int]()
        for first in range(max(1, len(own) - window + 1) if own else 0):
            places = range(first, min(first + window, len(own)))
            place = min(places, key=lambda at: (own[at], -at))
            chosen[place] = own[place]
        return list(chosen.values())

    return _each(shingles, offsets, least_of_windows)


def lowest(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, most: int) -> Sketches:
    """See ``compiled.fingerprint_sketches.lowest``."""
    return _each(shingles, offsets, lambda own: sorted(own)[:most])


def highest(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, most: int) -> Sketches:
    """See ``compiled.fingerprint_sketches.highest``."""
    return _each(shingles, offsets, lambda own: sorted(own)[-most:])


def random_third(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, seed: int) -> Sketches:
    """See ``compiled.fingerprint_sketches.random_third``."""

    def third(own: list[int]) -> list[int]:
        state = mix(mix((seed + GOLDEN) & MASK) ^ (sum(own) & MASK))
        return [one for at, one in enumerate(own) if mix((state + at * GOLDEN) & MASK) < (1 << 64) // 3]

    return _each(shingles, offsets, third)


def sums(shingles: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """See ``compiled.fingerprint_sketches.sums``."""
    return np.array([sum(own) for own in _lists(shingles, offsets)], np.int64)


def rabin(shingles: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """See ``compiled.fingerprint_sketches.rabin``."""
    values = []
    for own in _lists(shingles, offsets):
        remainder = 1
        for one in own:
            for place in range(31, -1, -1):
                remainder = (remainder << 1) | ((one >> place) & 1)
                if remainder >> 64:
                    remainder ^= POLYNOMIAL
        values.append(remainder - (1 << 64) if remainder >> 63 else remainder)
    return np.array(values, np.int64)


def super_shingles(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, length: int) -> NDArray[np.int64]:
    """See ``compiled.fingerprint_sketches.super_shingles``.

    Examples
    --------
    >>> super_shingles(np.array([1, 2, 3], np.int32), np.array([0, 3]), length=2).tolist()  # 33, 65; 33 * 31 + 65
    [1088]
    """
    values = []
    for own in _lists(shingles, offsets):
        left = own
        while len(left) > 1:
            run = min(length, len(left))
            left = [_hash_list(left[first : first + run]) for first in range(len(left) - run + 1)]
        values.append(left[0] if left else 0)
    return np.array(values, np.int64)


def _hash_list(numbers: list[int]) -> int:
    hashed = 0
    for number in numbers:
        hashed = (31 * hashed + number) & 0xFFFFFFFF
    return hashed - (1 << 32) if hashed >> 31 else hashed


def _lists(shingles: NDArray[np.int32], offsets: NDArray[np.int64]) -> list[list[int]]:
    return [shingles[a:b].tolist() for a, b in pairwise(offsets)]


def _each(
    shingles: NDArray[np.int32], offsets: NDArray[np.int64], choose: Callable[[list[int]], list[int]]
) -> Sketches:
    chosen = [choose(own) for own in _lists(shingles, offsets)]
    kept = np.array([one for own in chosen for one in own], np.int32)
    return kept, np.cumsum([0, *map(len, chosen)], dtype=np.int64)
