"""Chains of rows that share a key, grown one row at a time: the index of a stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import mix

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
    """For each row from ``first`` to ``last``, in order: find the earlier rows with a common key, then add the row.

    Parameters
    ----------
    keys : uint64 array, shape (capacity, n_keys)
        Key ``j`` of a row matches only key ``j`` of others.
    heads : int32 array, shape (n_keys, size)
        Size a power of two, greater than ``capacity``: the latest row of a key, at the place of the key. NONE where
        there is none.
    previous : int32 array, shape (capacity, n_keys)
        The row before this one with the same key.
    most : int
        Rows looked at along one chain, the latest first.

    Returns
    -------
    row, earlier : int64 and int32 arrays, shape (n_found,)
        Pairs, each once.
    n_cut : int
        Chains that were longer than ``most``.
    """
    found_row: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    found_earlier: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
    buffer = np.empty(most * keys.shape[1], np.int32)
    n_cut = 0
    for row in range(first, last):
        n_found, cut = _find_and_add_one(keys, row, heads, previous, most, buffer)
        n_cut += cut
        if n_found:
            earlier = np.unique(buffer[:n_found])
            found_row.append(np.full(len(earlier), row, np.int64))
            found_earlier.append(earlier)
    return np.concatenate(found_row), np.concatenate(found_earlier), int(n_cut)


def rebuild(keys: NDArray[np.uint64], n_rows: int, heads: NDArray[np.int32], previous: NDArray[np.int32]) -> None:
    """Add the rows below ``n_rows`` to empty ``heads``."""
    _rebuild(keys, n_rows, heads, previous)


@njit(nogil=True, cache=True)
def _place(keys, row, j, heads):
    """Where the head of the chain of key j of a row is, or would be."""
    mask = np.uint64(heads.shape[1] - 1)
    place = mix(keys[row, j]) & mask
    while heads[j, place] != NONE and keys[heads[j, place], j] != keys[row, j]:
        place = (place + np.uint64(1)) & mask
    return place


@njit(nogil=True, cache=True)
def _find_and_add_one(keys, row, heads, previous, most, buffer):
    n_found = 0
    n_cut = 0
    for j in range(keys.shape[1]):
        place = _place(keys, row, j, heads)
        earlier = heads[j, place]
        n_seen = 0
        while earlier != NONE and n_seen < most:
            buffer[n_found] = earlier
            n_found += 1
            n_seen += 1
            earlier = previous[earlier, j]
        n_cut += earlier != NONE
        previous[row, j] = heads[j, place]
        heads[j, place] = row
    return n_found, n_cut


@njit(nogil=True, cache=True)
def _rebuild(keys, n_rows, heads, previous):
    for row in range(n_rows):
        for j in range(keys.shape[1]):
            place = _place(keys, row, j, heads)
            previous[row, j] = heads[j, place]
            heads[j, place] = row
