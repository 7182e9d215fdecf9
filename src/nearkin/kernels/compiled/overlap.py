"""How many shingles two documents share, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit


def n_common(
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
) -> NDArray[np.uint32]:
    """The size of the intersection of each pair of sets; fastest where pairs with one left row follow one another.

    Parameters
    ----------
    hashes : uint64 array
        The sets; inside a set the hashes are distinct, in any order.
    starts, ends : int64 arrays, shape (n_rows,)
        The set of a row is ``hashes[starts[row]:ends[row]]``.
    left, right : uint32 arrays, shape (n_pairs,)
        Rows.

    Returns
    -------
    common : uint32 array, shape (n_pairs,)
    """
    common = np.zeros(len(left), np.uint32)
    if not len(left):
        return common
    largest = int((ends[left] - starts[left]).max())
    size = 16
    while size < 2 * largest:
        size *= 2
    _common_many(hashes, starts, ends, left, right, np.empty(size, np.uint64), common)
    return common


@njit(nogil=True, cache=True)
def _common_many(hashes, starts, ends, left, right, table, common):
    has_zero = False
    mask = np.uint64(0)
    for i in range(len(left)):
        if i == 0 or left[i] != left[i - 1]:
            mask, has_zero = _fill_table(hashes, starts[left[i]], ends[left[i]], table)
        common[i] = _common_one(hashes, starts[right[i]], ends[right[i]], table, mask, has_zero)


@njit(nogil=True, cache=True)
def _fill_table(hashes, start, end, table):
    """Put a set into the open-addressing table; zero marks a free place: whether the set holds it is said apart."""
    size = np.int64(16)
    while size < 2 * (end - start):
        size *= 2
    mask = np.uint64(size - 1)
    table[:size] = np.uint64(0)
    has_zero = False
    for i in range(start, end):
        if hashes[i] == np.uint64(0):
            has_zero = True
            continue
        place = hashes[i] & mask
        while table[place] != np.uint64(0):
            place = (place + np.uint64(1)) & mask
        table[place] = hashes[i]
    return mask, has_zero


@njit(nogil=True, cache=True)
def _common_one(hashes, start, end, table, mask, has_zero):
    found = np.uint32(0)
    for i in range(start, end):
        if hashes[i] == np.uint64(0):
            found += np.uint32(has_zero)
            continue
        place = hashes[i] & mask
        while table[place] != np.uint64(0) and table[place] != hashes[i]:
            place = (place + np.uint64(1)) & mask
        found += np.uint32(table[place] == hashes[i])
    return found
