"""Loops of `nearkin.kernels.overlap`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.basics import njit


@njit(nogil=True, cache=True)
def common_many(hashes, starts, ends, left, right, common):
    largest = np.int64(0)
    for row in left:
        largest = max(largest, ends[row] - starts[row])
    table = np.empty(_table_size(largest), np.uint64)
    has_zero = False
    mask = np.uint64(0)
    for i in range(len(left)):
        if i == 0 or left[i] != left[i - 1]:
            mask, has_zero = _fill_table(hashes, starts[left[i]], ends[left[i]], table)
        common[i] = _common_one(hashes, starts[right[i]], ends[right[i]], table, mask, has_zero)


@njit(nogil=True, cache=True)
def _fill_table(hashes, start, end, table):
    """Insert a set into the open-addressing table; 0 marks a free place: whether the set contains 0 is returned."""
    size = _table_size(end - start)
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


@njit(cache=True)
def _table_size(n):
    size = np.int64(16)
    while size < 2 * n:
        size *= 2
    return size


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


@njit(nogil=True, cache=True)
def ends_many(hashes, starts, ends, left, right, n_first, n_last):
    for i in range(len(left)):
        a, b = starts[left[i]], starts[right[i]]
        most = min(ends[left[i]] - a, ends[right[i]] - b)
        first = np.int64(0)
        while first < most and hashes[a + first] == hashes[b + first]:
            first += 1
        a, b = ends[left[i]] - 1, ends[right[i]] - 1
        last = np.int64(0)
        while last < most - first and hashes[a - last] == hashes[b - last]:
            last += 1
        n_first[i], n_last[i] = first, last
