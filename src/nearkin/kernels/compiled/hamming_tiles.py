"""Pairs of bit strings that differ in few places, by a look at every pair, many at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.ones import n_ones

_FEW = 16


def move_bits(words: NDArray[np.uint64], order: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The strings with their bits in another order: bit ``i`` of the result is bit ``order[i]`` of the string.

    Parameters
    ----------
    words : uint64 array, shape (n_strings, n_words)
        Bit ``j`` of a string is bit ``j % 64`` of word ``j // 64``, counted from the lowest.
    order : int64 array, shape (64 * n_words,)
        A permutation.
    """
    n_words = words.shape[1]
    lookup = np.zeros((8 * n_words, 256, n_words), np.uint64)
    for place, bit in enumerate(order.tolist()):
        is_set = (np.arange(256) >> (bit % 8)) & 1 == 1
        lookup[bit // 8, is_set, place // 64] |= np.uint64(1 << (place % 64))
    moved = np.zeros_like(words)
    _move_many(words, lookup, moved)
    return moved


def scan_tiles(
    tiles: NDArray[np.uint64],
    queries: NDArray[np.uint64],
    *,
    rows: tuple[int, int],
    first_row: int,
    end_row: int,
    is_one_set: bool,
    n_lead_words: int,
    distance: int,
    start: tuple[int, int],
    pairs: NDArray[np.uint64],
    distances: NDArray[np.uint16],
) -> tuple[int, tuple[int, int]]:
    """Compare queries with every string of the tiles.

    Parameters
    ----------
    tiles : uint64 array, shape (n_tiles, n_words, n_lanes)
        The strings, word by word, ``n_lanes`` of them side by side.
    queries : uint64 array, shape (n_queries, n_words)
    rows : (int, int)
        The queries to take: from the first number on, before the second.
    first_row : int
        The row of the first string of the first tile.
    end_row : int
        Strings from here on only fill the last tile.
    is_one_set : bool
        The queries are the strings themselves: a pair needs a right row greater than the left.
    n_lead_words : int
        1, 2 or 4: so many words decide whether the rest is looked at.
    start : (int, int)
        (0, first of ``rows``), or what the last call said.
    pairs, distances : uint64 and uint16 arrays
        With room for ``n_lanes`` pairs at least; written from 0 on.

    Returns
    -------
    n_pairs : int
    next_start : (int, int)
        Its first number is ``len(tiles)`` when all is done.
    """
    n_pairs, tile, i = _scan_many(
        tiles,
        queries,
        rows[0],
        rows[1],
        first_row,
        end_row,
        is_one_set,
        n_lead_words,
        distance,
        start[0],
        start[1],
        pairs,
        distances,
    )
    return int(n_pairs), (int(tile), int(i))


@njit(nogil=True, cache=True)
def _move_many(words, lookup, moved):
    for row in range(len(words)):
        for w in range(words.shape[1]):
            word = words[row, w]
            for byte in range(8):
                value = (word >> np.uint64(8 * byte)) & np.uint64(255)
                for out in range(words.shape[1]):
                    moved[row, out] |= lookup[8 * w + byte, value, out]


@njit(nogil=True, cache=True)
def _scan_many(
    tiles, queries, first, last, first_row, end_row, is_one_set, n_lead_words, limit, tile, i, pairs, distances
):
    n_pairs, n_lanes = 0, tiles.shape[2]
    most = np.uint64(limit)
    partial = np.empty(n_lanes, np.uint64)
    while tile < len(tiles):
        row = first_row + tile * n_lanes
        # of one set, a string is compared with those after it only
        end = min(last, row + n_lanes - 1) if is_one_set else last
        was_close = False
        while i < end:
            if n_pairs + n_lanes > len(pairs):
                return n_pairs, tile, i
            # where the string before this one passed the first words this one will, too: then they are not asked first
            if was_close or _any_lead_close(tiles, tile, queries, i, n_lead_words, most):
                begin = max(0, i + 1 - row) if is_one_set else 0
                stop = min(n_lanes, end_row - row)
                n_pairs, was_close = _scan_one(
                    tiles, tile, queries, i, row, begin, stop, most, partial, pairs, distances, n_pairs
                )
            i += 1
        tile += 1
        i = first
    return n_pairs, tile, first


@njit(inline="always", cache=True)
def _any_lead_close(tiles, tile, queries, i, n_lead_words, most):
    """Whether any lane is close in the first words; without a way out of the loop, so that many lanes go at once."""
    n_close, n_lanes = 0, tiles.shape[2]
    if n_lead_words == 1:
        a = queries[i, 0]
        for lane in range(n_lanes):
            n_close += n_ones(tiles[tile, 0, lane] ^ a) <= most
    elif n_lead_words == 2:
        a, b = queries[i, 0], queries[i, 1]
        for lane in range(n_lanes):
            n_close += n_ones(tiles[tile, 0, lane] ^ a) + n_ones(tiles[tile, 1, lane] ^ b) <= most
    else:
        for lane in range(n_lanes):
            n_close += _ones_of_four(tiles, tile, lane, queries, i, 0) <= most
    return n_close > 0


@njit(inline="always", cache=True)
def _ones_of_four(tiles, tile, lane, queries, i, w):
    ones = n_ones(tiles[tile, w, lane] ^ queries[i, w])
    ones += n_ones(tiles[tile, w + 1, lane] ^ queries[i, w + 1])
    ones += n_ones(tiles[tile, w + 2, lane] ^ queries[i, w + 2])
    return ones + n_ones(tiles[tile, w + 3, lane] ^ queries[i, w + 3])


@njit(nogil=True, cache=True)
def _scan_one(tiles, tile, queries, i, row, begin, stop, most, partial, pairs, distances, n_pairs):
    """Add up word by word while many lanes are close, then lane by lane; and whether the first words left any close."""
    n_words = tiles.shape[1]
    partial[:] = np.uint64(0)
    n_close, w = _add_words(tiles, tile, queries, i, 0, most, partial)
    was_close = n_close > 0
    while w < n_words and n_close > _FEW:
        n_close, w = _add_words(tiles, tile, queries, i, w, most, partial)
    if n_close == 0:
        return n_pairs, was_close
    for lane in range(begin, stop):
        distance = partial[lane]
        later = w
        while distance <= most and later < n_words:
            distance += n_ones(tiles[tile, later, lane] ^ queries[i, later])
            later += 1
        if distance <= most:
            pairs[n_pairs] = (np.uint64(i) << np.uint64(32)) | np.uint64(row + lane)
            distances[n_pairs] = distance
            n_pairs += 1
    return n_pairs, was_close


@njit(inline="always", cache=True)
def _add_words(tiles, tile, queries, i, w, most, partial):
    """Add the next words, four where there are four, to the distances so far: lanes that are still close, next word."""
    n_close, n_lanes = 0, tiles.shape[2]
    if w + 4 <= tiles.shape[1]:
        for lane in range(n_lanes):
            partial[lane] += _ones_of_four(tiles, tile, lane, queries, i, w)
            n_close += partial[lane] <= most
        return n_close, w + 4
    for lane in range(n_lanes):
        partial[lane] += n_ones(tiles[tile, w, lane] ^ queries[i, w])
        n_close += partial[lane] <= most
    return n_close, w + 1
