"""Bit strings sorted by their bits in another order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit

_DIGIT = 11
_MASK = (1 << _DIGIT) - 1


def leading_bits(words: NDArray[np.uint64], order: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Some bits of each string, the first as the highest: what strings with their bits in another order sort by.

    Parameters
    ----------
    words : uint64 array, shape (n_strings, n_words)
        Bit ``j`` of a string is bit ``j % 64`` of word ``j // 64``, counted from the lowest.
    order : int64 array, shape (n_bits,)
        At most 64 of the places.
    """
    leading = np.zeros(len(words), np.uint64)
    _leading_bits_many(words, order, leading)
    return leading


def order_of(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The places of keys in rising order; of equal ones in their own.

    Passes over eleven bits each: 20 ns a key for 400,000, where numpy's stable ``argsort`` takes 181.

    Parameters
    ----------
    keys : uint64 array, shape (n,)
        Below 2**32; n too.

    Returns
    -------
    order : int64 array, shape (n,)
    """
    packed, other = (keys << np.uint64(32)) | np.arange(len(keys), dtype=np.uint64), np.empty(len(keys), np.uint64)
    order: NDArray[np.uint64] = _order_many(packed, other, np.zeros(1 << _DIGIT, np.int64))
    return order.view(np.int64)


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
def _leading_bits_many(words, order, leading):
    for i in range(len(words)):
        bits = np.uint64(0)
        for place in order:
            bits = (bits << np.uint64(1)) | ((words[i, place >> 6] >> np.uint64(place & 63)) & np.uint64(1))
        leading[i] = bits
