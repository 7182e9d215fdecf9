"""Bit strings compared with those that stand near them in a sorted order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.ones import n_ones

_LANES = 64


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


def near_in_order(
    left: NDArray[np.uint64],
    right: NDArray[np.uint64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    *,
    distance: int,
    first: int,
    found: NDArray[np.int64],
) -> tuple[int, int]:
    """Pairs of which the right one is in the left one's window, and differs in few bits.

    Parameters
    ----------
    left : uint64 array, shape (n_left, n_words)
    right : uint64 array, shape (n_words, n_right)
        Word by word: those of neighbours lie side by side.
    starts, ends : int64 arrays, shape (n_left,)
        The window of each.
    distance : int
        Bits in which a pair may differ.
    first : int
        The left one to begin with.
    found : int64 array, shape (room, 3)
        Written from 0 on: left, right, distance; room for the longest window at least.

    Returns
    -------
    n_found : int
    next_first : int
        ``n_left`` when all is done; else where to go on.
    """
    n_found, next_first = _near_many(left, right, starts, ends, np.uint64(distance), first, found)
    return int(n_found), int(next_first)


@njit(nogil=True, cache=True)
def _leading_bits_many(words, order, leading):
    for i in range(len(words)):
        bits = np.uint64(0)
        for place in order:
            bits = (bits << np.uint64(1)) | ((words[i, place >> 6] >> np.uint64(place & 63)) & np.uint64(1))
        leading[i] = bits


@njit(nogil=True, cache=True)
def _near_many(left, right, starts, ends, most, first, found):
    differs = np.empty(_LANES, np.uint64)
    n_found = 0
    for i in range(first, len(left)):
        if n_found + ends[i] - starts[i] > len(found):
            return n_found, i
        for start in range(starts[i], ends[i], _LANES):
            n = min(_LANES, ends[i] - start)
            if n == _LANES:
                _count_block(left, i, right, start, differs)
            else:
                _count_rest(left, i, right, start, n, differs)
            for lane in range(n):
                if differs[lane] <= most:
                    found[n_found, 0], found[n_found, 1], found[n_found, 2] = i, start + lane, differs[lane]
                    n_found += 1
    return n_found, len(left)


@njit(inline="always", cache=True)
def _count_block(left, i, right, start, differs):
    """The bits in which one differs from a block of others; the loops become vector instructions."""
    word = left[i, 0]
    for lane in range(_LANES):
        differs[lane] = n_ones(right[0, start + lane] ^ word)
    for w in range(1, left.shape[1]):
        word = left[i, w]
        for lane in range(_LANES):
            differs[lane] += n_ones(right[w, start + lane] ^ word)


@njit(inline="always", cache=True)
def _count_rest(left, i, right, start, n, differs):
    for lane in range(n):
        differs[lane] = 0
        for w in range(left.shape[1]):
            differs[lane] += n_ones(right[w, start + lane] ^ left[i, w])
