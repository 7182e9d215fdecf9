"""The twin of ``compiled.chains``: the chains of each key in order, found by looking through all rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NONE = -1


def find_and_add(
    keys: NDArray[np.uint64],
    first: int,
    last: int,
    heads: NDArray[np.int32],
    previous: NDArray[np.int32],
    *,
    most: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    """See ``compiled.chains.find_and_add``; the index is not used, the rows themselves are looked through.

    Examples
    --------
    >>> keys = np.array([[1, 5], [2, 5], [1, 6]], np.uint64)
    >>> row, earlier, _ = find_and_add(keys, 0, 3, np.zeros((2, 4), np.int32), np.zeros((3, 2), np.int32), most=9)
    >>> row.tolist(), earlier.tolist()
    ([1, 2], [0, 0])
    """
    pairs: set[tuple[int, int]] = set()
    n_cut = 0
    for row in range(first, last):
        for j in range(keys.shape[1]):
            same = [earlier for earlier in range(row - 1, -1, -1) if keys[earlier, j] == keys[row, j]]
            pairs |= {(row, earlier) for earlier in same[:most]}
            n_cut += len(same) > most
    ordered = sorted(pairs)
    return np.array([p[0] for p in ordered], np.int64), np.array([p[1] for p in ordered], np.int32), n_cut
