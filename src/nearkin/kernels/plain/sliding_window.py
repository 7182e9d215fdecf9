"""The twin of ``compiled.sliding_window``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def leading_bits(words: NDArray[np.uint64], order: NDArray[np.int64]) -> NDArray[np.uint64]:
    """See ``compiled.sliding_window.leading_bits``.

    Examples
    --------
    >>> leading_bits(np.array([[0b0110]], np.uint64), np.array([1, 0, 2])).tolist() == [0b101]
    True
    """
    leading = np.zeros(len(words), np.uint64)
    for place in order.tolist():
        bit = (words[:, place // 64] >> np.uint64(place % 64)) & np.uint64(1)
        leading = (leading << np.uint64(1)) | bit
    return leading


def near_in_order(
    left: NDArray[np.uint64],
    right: NDArray[np.uint64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    *,
    distance: int,
    first: int,
    found: NDArray[np.int64],
) -> tuple[int, int]:
    """See ``compiled.sliding_window.near_in_order``.

    Examples
    --------
    >>> found = np.zeros((4, 3), np.int64)
    >>> left, right = np.array([[0b1]], np.uint64), np.array([[0b0, 0b11, 0b111]], np.uint64)
    >>> near_in_order(left, right, np.array([0]), np.array([3]), distance=1, first=0, found=found)
    (2, 1)
    >>> found[:2].tolist()
    [[0, 0, 1], [0, 1, 1]]
    """
    n_found = 0
    for i in range(first, len(left)):
        start, end = int(starts[i]), int(ends[i])
        if n_found + end - start > len(found):
            return n_found, i
        differs = np.bitwise_count(right[:, start:end] ^ left[i][:, None]).sum(axis=0)
        near = np.flatnonzero(differs <= distance)
        rows = found[n_found : n_found + len(near)]
        rows[:, 0], rows[:, 1], rows[:, 2] = i, start + near, differs[near]
        n_found += len(near)
    return n_found, len(left)
