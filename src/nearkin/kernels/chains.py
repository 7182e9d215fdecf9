"""Chains of rows that share a key, extended row by row: the index of a stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

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
    """Find the earlier rows with a common key for each row from ``first`` to ``last`` in order, then add the row.

    Parameters
    ----------
    keys : uint64 array, shape (capacity, n_keys)
        Key ``j`` of a row matches only key ``j`` of other rows.
    heads : int32 array, shape (n_keys, size)
        The latest row for each hash slot of a key, NONE if there is none. The size is a power of two greater than
        ``capacity``.
    previous : int32 array, shape (capacity, n_keys)
        The previous row with the same key.
    most
        Maximum number of rows examined in one chain, the latest first.

    Returns
    -------
    row, earlier : int64 and int32 arrays, shape (n_found,)
        Pairs, each once.
    n_cut : int
        Number of chains longer than ``most``.
    """
    kernel = loops("chains", keys[first:last].nbytes)
    keys, buffer = *frozen(keys), np.empty(most * keys.shape[1], np.int32)
    found_row, found_earlier, n_cut = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)], 0
    for row in range(first, last):
        n_found, cut = kernel.find_and_add_one(keys, row, heads, previous, most, buffer)
        n_cut += int(cut)
        if n_found:
            earlier = np.unique(buffer[:n_found])
            found_row.append(np.full(len(earlier), row, np.int64))
            found_earlier.append(earlier)
    return np.concatenate(found_row), np.concatenate(found_earlier), n_cut


def rebuild(keys: NDArray[np.uint64], n_rows: int, heads: NDArray[np.int32], previous: NDArray[np.int32]) -> None:
    """Add the rows below ``n_rows`` to empty ``heads``."""
    loops("chains", keys[:n_rows].nbytes).add_many(*frozen(keys), n_rows, heads, previous)
