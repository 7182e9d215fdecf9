"""Scan of many memory-mapped signatures for single queries."""

from __future__ import annotations

import numpy as np

from nearkin.records import I64, U64

_AT_A_TIME = 1 << 14  # rows whose differences stay in the nearest cache


def rows_within(words: U64, query: U64, distance: int) -> tuple[I64, I64]:
    """Find the rows, ascending, and distances of the signatures within a Hamming distance; none is missed.

    Examples
    --------
    >>> rows, distances = rows_within(np.array([[0b1111], [0b1000], [0b0111]], np.uint64), np.array([15], np.uint64), 1)
    >>> rows.tolist(), distances.tolist()
    ([0, 2], [0, 1])
    """
    rows, distances = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    ones = np.ones(words.shape[1], np.uint16)
    for start in range(0, len(words), _AT_A_TIME):
        part = np.bitwise_count(words[start : start + _AT_A_TIME] ^ query) @ ones  # faster than a sum of short rows
        near = np.flatnonzero(part <= distance)
        rows.append(near + start)
        distances.append(part[near].astype(np.int64))
    return np.concatenate(rows), np.concatenate(distances)
