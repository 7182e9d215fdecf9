"""Loops of `nearkin.kernels.sliding_window`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.jit import njit

_DIGIT = 11
_MASK = (1 << _DIGIT) - 1


def order_of(keys):
    packed, other = (keys << np.uint64(32)) | np.arange(len(keys), dtype=np.uint64), np.empty(len(keys), np.uint64)
    return _order_many(packed, other, np.zeros(1 << _DIGIT, np.int64)).view(np.int64)


@njit(nogil=True, cache=True)
def _order_many(packed, other, counts):
    for shift in (32, 32 + _DIGIT, 32 + 2 * _DIGIT):
        counts[:] = 0
        for i in range(len(packed)):
            counts[(packed[i] >> np.uint64(shift)) & np.uint64(_MASK)] += 1
        total = 0
        for digit in range(len(counts)):
            counts[digit], total = total, total + counts[digit]
        for i in range(len(packed)):
            digit = (packed[i] >> np.uint64(shift)) & np.uint64(_MASK)
            other[counts[digit]] = packed[i]
            counts[digit] += 1
        packed, other = other, packed
    return packed & np.uint64(0xFFFFFFFF)


@njit(nogil=True, cache=True)
def take_bits(words, order, leading):
    for i in range(len(words)):
        bits = np.uint64(0)
        for place in order:
            bits = (bits << np.uint64(1)) | ((words[i, place >> 6] >> np.uint64(place & 63)) & np.uint64(1))
        leading[i] = bits
