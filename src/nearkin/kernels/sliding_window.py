"""Sorting of bit strings by their bits in another order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops


def leading_bits(words: NDArray[np.uint64], order: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return up to 64 bits of each string, the first as the highest: the sort key for strings with permuted bits.

    Bit ``j`` of a string is bit ``j % 64`` of word ``j // 64``, counted from the lowest.
    """
    leading = np.zeros(len(words), np.uint64)
    loops("sliding_window", words.nbytes).take_bits(*frozen(words, order), leading)
    return leading


def order_of(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the indices that sort keys below 2**32 in ascending order; equal keys keep their order."""
    order: NDArray[np.int64] = loops("sliding_window", keys.nbytes).order_of(*frozen(keys))
    return order
