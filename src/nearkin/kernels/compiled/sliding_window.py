"""Bit strings sorted by their bits in another order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit


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


@njit(nogil=True, cache=True)
def _leading_bits_many(words, order, leading):
    for i in range(len(words)):
        bits = np.uint64(0)
        for place in order:
            bits = (bits << np.uint64(1)) | ((words[i, place >> 6] >> np.uint64(place & 63)) & np.uint64(1))
        leading[i] = bits
