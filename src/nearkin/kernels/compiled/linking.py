"""Loops of `nearkin.kernels.linking`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.jit import njit

_DIGIT_BITS = 11
_N_DIGITS = 1 << _DIGIT_BITS
_N_PASSES = 6  # 6 digits of 11 bits cover 64


def sort_by_key(keys, rows):
    """Sort by radix: digits equal in all keys, such as the upper ones of a small partition, cost no move."""
    keys, rows = keys.copy(), rows.copy()
    spare_keys, spare_rows = np.empty_like(keys), np.empty_like(rows)
    counts = np.empty(_N_DIGITS, np.int64)
    for i in range(_N_PASSES):
        if _radix_pass(keys, rows, i * _DIGIT_BITS, counts, spare_keys, spare_rows):
            keys, spare_keys = spare_keys, keys
            rows, spare_rows = spare_rows, rows
    return keys, rows


@njit(nogil=True, cache=True)
def _radix_pass(keys, rows, shift, counts, out_keys, out_rows):
    counts[:] = 0
    mask = np.uint64(_N_DIGITS - 1)
    bits = np.uint64(shift)
    for i in range(len(keys)):
        counts[(keys[i] >> bits) & mask] += 1
    total = 0
    for digit in range(_N_DIGITS):
        if counts[digit] == len(keys):
            return False
        n = counts[digit]
        counts[digit] = total
        total += n
    for i in range(len(keys)):
        digit = (keys[i] >> bits) & mask
        out_keys[counts[digit]] = keys[i]
        out_rows[counts[digit]] = rows[i]
        counts[digit] += 1
    return True


@njit(nogil=True, cache=True)
def link_many(keys, rows, sizes, sides, start, min_size_ratio, max_pivots, max_pairs, pairs):
    n_pairs = np.int64(0)
    n_not_compared = 0
    while start < len(keys):
        end = start + 1
        while end < len(keys) and keys[end] == keys[start]:
            end += 1
        length = end - start
        n_leads = 0
        while n_leads < length and not (sides[rows[start + n_leads]] & 4):
            n_leads += 1
        pivots = min(n_leads, max_pivots, max(1, max_pairs // length))
        n_linked = _n_pairs_with(pivots, length)
        if n_pairs + n_linked > len(pairs):
            break
        n_not_compared += _n_crossing(rows, start + pivots, end, sides) - _n_crossing(rows, start + n_leads, end, sides)
        n_pairs = _link_one(rows, start, end, sizes, sides, min_size_ratio, pivots, pairs, n_pairs)
        start = end
    return n_pairs, start, n_not_compared


@njit(nogil=True, cache=True)
def _n_pairs_with(n_first, length):
    """Count the pairs of a run that contain one of its first rows: n_first=2, length=4 -> 5."""
    return n_first * (n_first - 1) // 2 + (length - n_first) * n_first


@njit(nogil=True, cache=True)
def _n_crossing(rows, start, end, sides):
    length = 0
    n_first = 0
    n_second = 0
    for i in range(start, end):
        side = sides[rows[i]] & 3
        length += side != 0
        n_first += side == 1
        n_second += side == 2
    return (length * (length - 1) - n_first * (n_first - 1) - n_second * (n_second - 1)) // 2


@njit(nogil=True, cache=True)
def _link_one(rows, start, end, sizes, sides, min_size_ratio, pivots, pairs, n_pairs):
    """rows=[3, 1, 8] in one run -> (1, 3), (3, 8), (1, 8)."""
    for i in range(start, start + pivots):
        for j in range(i + 1, end):
            a, b = rows[i], rows[j]
            small, large = min(sizes[a], sizes[b]), max(sizes[a], sizes[b])
            is_crossing = ((sides[a] & 1) and (sides[b] & 2)) or ((sides[a] & 2) and (sides[b] & 1))
            if a != b and is_crossing and small >= min_size_ratio * large:
                pairs[n_pairs] = (np.uint64(min(a, b)) << np.uint64(32)) | np.uint64(max(a, b))
                n_pairs += 1
    return n_pairs
