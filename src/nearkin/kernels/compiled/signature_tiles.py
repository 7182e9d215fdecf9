"""Loops of `nearkin.kernels.signature_tiles`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.ones import n_ones
from nearkin.kernels.signature_tiles import LANES, UNIT

_BLOCK = 64


@njit(nogil=True, cache=True)
def tile_many(words, rows, tiles):
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
def near_many(left, tiles, starts, ends, most, block, tile, i, pairs, distances):
    """Compare tiles with blocks of strings, two at a time, so that a tile stays in the nearest cache."""
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
    """Add four words at once: each is loaded once for both strings, and the sums once for four."""
    words_0, words_1, words_2, words_3 = tile[w], tile[w + 1], tile[w + 2], tile[w + 3]
    p0, p1, p2, p3 = p[w], p[w + 1], p[w + 2], p[w + 3]
    q0, q1, q2, q3 = q[w], q[w + 1], q[w + 2], q[w + 3]
    for lane in range(LANES):
        x0, x1, x2, x3 = words_0[lane], words_1[lane], words_2[lane], words_3[lane]
        one[lane] += n_ones(x0 ^ p0) + n_ones(x1 ^ p1) + n_ones(x2 ^ p2) + n_ones(x3 ^ p3)
        two[lane] += n_ones(x0 ^ q0) + n_ones(x1 ^ q1) + n_ones(x2 ^ q2) + n_ones(x3 ^ q3)


@njit(inline="always", cache=True)
def _keep(i, first, starts, ends, most, differs, pairs, distances, n_pairs):
    for lane in range(max(0, starts[i] - first), min(LANES, ends[i] - first)):
        if differs[lane] <= most:
            pairs[n_pairs] = (np.uint64(i) << np.uint64(32)) | np.uint64(first + lane)
            distances[n_pairs] = differs[lane]
            n_pairs += 1
    return n_pairs
