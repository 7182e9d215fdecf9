"""Bit strings compared with stretches of others that lie in tiles: for distances at which nothing can be left early."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.ones import n_ones

LANES = 64
"""Strings of a tile, side by side."""
UNIT = 4
"""Words of a string are filled up to a multiple of it."""
_BLOCK = 64

Start = tuple[int, int, int]


def tiled(words: NDArray[np.uint64], rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Some of the strings, word by word, so that those of neighbours lie side by side.

    Parameters
    ----------
    words : uint64 array, shape (n_strings, n_words)
    rows : int64 array, shape (n,)

    Returns
    -------
    tiles : uint64 array, shape (ceil(n / LANES), n_words filled up, LANES)
        What is over is 0.
    """
    n_words = -(-words.shape[1] // UNIT) * UNIT
    tiles = np.empty((-(-len(rows) // LANES), n_words, LANES), np.uint64)
    _tile_many(words, rows, tiles)
    return tiles


def near_in_tiles(
    left: NDArray[np.uint64],
    tiles: NDArray[np.uint64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    *,
    distance: int,
    start: Start,
    pairs: NDArray[np.uint64],
    distances: NDArray[np.uint16],
) -> tuple[int, Start]:
    """Pairs of a string and one of its stretch of the tiles that differ in few bits.

    Parameters
    ----------
    left : uint64 array, shape (n_left, n_words filled up)
    tiles : uint64 array, shape (n_tiles, n_words filled up, LANES)
    starts, ends : int64 arrays, shape (n_left,)
        The stretch of each, in strings; it is quickest where those of neighbours overlap.
    distance : int
        Bits in which a pair may differ.
    start : (int, int, int)
        (0, 0, 0), or what the last call said.
    pairs, distances : uint64 and uint16 arrays
        Room for ``2 * LANES`` pairs at least; written from 0 on: the left one in the upper 32 bits of a pair.

    Returns
    -------
    n_pairs : int
    next_start : (int, int, int)
        Its first number is at least ``n_left`` when all is done.
    """
    n_pairs, block, tile, i = _near_many(
        left, tiles, starts, ends, np.uint64(distance), start[0], start[1], start[2], pairs, distances
    )
    return int(n_pairs), (int(block), int(tile), int(i))


@njit(nogil=True, cache=True)
def _tile_many(words, rows, tiles):
    n_words = words.shape[1]
    for tile in range(len(tiles)):
        first = tile * LANES
        n = min(LANES, len(rows) - first)
        own = tiles[tile]
        if n < LANES or n_words < own.shape[0]:
            own[:] = np.uint64(0)
        for lane in range(n):
            row = rows[first + lane]
            for w in range(n_words):
                own[w, lane] = words[row, w]


@njit(nogil=True, cache=True)
def _near_many(left, tiles, starts, ends, most, block, tile, i, pairs, distances):
    """A tile stays in the nearest cache while a block of strings passes over it, two at a time."""
    one, two = np.empty(LANES, np.uint64), np.empty(LANES, np.uint64)
    n_pairs, n_left = 0, len(left)
    while block < n_left:
        stop = min(block + _BLOCK, n_left)
        low, high = _span(starts, ends, block, stop)
        tile, i = max(tile, low // LANES), max(i, block)
        while tile * LANES < high:
            first = tile * LANES
            while i < stop:
                if n_pairs + 2 * LANES > len(pairs):
                    return n_pairs, block, tile, i
                j = i + 1 if i + 1 < stop else i
                if _meets(starts, ends, i, first) or _meets(starts, ends, j, first):
                    n_close = _count_two(left[i], left[j], tiles[tile], most, one, two)
                    if n_close > 0:
                        n_pairs = _keep(i, first, starts, ends, most, one, pairs, distances, n_pairs)
                        if j > i:
                            n_pairs = _keep(j, first, starts, ends, most, two, pairs, distances, n_pairs)
                i += 2
            tile, i = tile + 1, block
        block, tile, i = block + _BLOCK, 0, 0
    return n_pairs, block, 0, 0


@njit(inline="always", cache=True)
def _span(starts, ends, block, stop):
    low, high = starts[block], ends[block]
    for i in range(block + 1, stop):
        low, high = min(low, starts[i]), max(high, ends[i])
    return low, high


@njit(inline="always", cache=True)
def _meets(starts, ends, i, first):
    return starts[i] < first + LANES and ends[i] > first and starts[i] < ends[i]


@njit(nogil=True, cache=True)
def _count_two(p, q, tile, most, one, two):
    """The bits in which two strings differ from those of a tile; how often these are few."""
    for lane in range(LANES):
        one[lane], two[lane] = np.uint64(0), np.uint64(0)
    for w in range(0, len(p), UNIT):
        _add_words(p, q, tile, w, one, two)
    n_close = 0
    for lane in range(LANES):
        n_close += (one[lane] <= most) + (two[lane] <= most)
    return n_close


@njit(inline="always", cache=True)
def _add_words(p, q, tile, w, one, two):
    """Four words at once: each is loaded once for both strings, and the sums once for four."""
    words_0, words_1, words_2, words_3 = tile[w], tile[w + 1], tile[w + 2], tile[w + 3]
    p0, p1, p2, p3 = p[w], p[w + 1], p[w + 2], p[w + 3]
    q0, q1, q2, q3 = q[w], q[w + 1], q[w + 2], q[w + 3]
    for lane in range(LANES):
        x0, x1, x2, x3 = words_0[lane], words_1[lane], words_2[lane], words_3[lane]
        one[lane] += n_ones(x0 ^ p0) + n_ones(x1 ^ p1) + n_ones(x2 ^ p2) + n_ones(x3 ^ p3)
        two[lane] += n_ones(x0 ^ q0) + n_ones(x1 ^ q1) + n_ones(x2 ^ q2) + n_ones(x3 ^ q3)


@njit(inline="always", cache=True)
def _keep(i, first, starts, ends, most, differs, pairs, distances, n_pairs):
    """Write those of the string's own stretch that are near."""
    for lane in range(max(0, starts[i] - first), min(LANES, ends[i] - first)):
        if differs[lane] <= most:
            pairs[n_pairs] = (np.uint64(i) << np.uint64(32)) | np.uint64(first + lane)
            distances[n_pairs] = differs[lane]
            n_pairs += 1
    return n_pairs
