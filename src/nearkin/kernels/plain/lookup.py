"""The twin of ``compiled.lookup``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.plain.mixing import GOLDEN, MASK


def find(keys: NDArray[np.uint64], table: NDArray[np.uint32], wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
    """See ``compiled.lookup.find``."""
    return np.array([int(table[_place(keys, table, key)]) - 1 for key in wanted.tolist()], np.int64)


def insert(
    keys: NDArray[np.uint64], n_keys: int, table: NDArray[np.uint32], wanted: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], int]:
    """See ``compiled.lookup.insert``.

    Examples
    --------
    >>> keys, table = np.zeros(4, np.uint64), np.zeros(8, np.uint32)
    >>> numbers, n_keys = insert(keys, 0, table, np.array([7, 5, 7], np.uint64))
    >>> numbers.tolist(), n_keys, find(keys, table, np.array([5, 6], np.uint64)).tolist()
    ([0, 1, 0], 2, [1, -1])
    """
    numbers = []
    for key in wanted.tolist():
        place = _place(keys, table, key)
        if table[place] == 0:
            keys[n_keys] = key
            n_keys += 1
            table[place] = n_keys
        numbers.append(int(table[place]) - 1)
    return np.array(numbers, np.int64), n_keys


def add_at(counts: NDArray[np.int64], numbers: NDArray[np.int64], added: NDArray[np.int64]) -> None:
    """See ``compiled.lookup.add_at``."""
    np.add.at(counts, numbers, added)


def _place(keys: NDArray[np.uint64], table: NDArray[np.uint32], key: int) -> int:
    """Where the key is, or would be put."""
    place = (key * GOLDEN & MASK) >> (65 - len(table).bit_length())
    while table[place] and int(keys[int(table[place]) - 1]) != key:
        place = (place + 1) % len(table)
    return place
