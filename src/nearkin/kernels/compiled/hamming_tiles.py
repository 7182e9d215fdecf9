"""Loops of `nearkin.kernels.hamming_tiles`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.ones import n_ones

_FEW = 16


@njit(nogil=True, cache=True)
def move_many(words, lookup, moved):
    for row in range(len(words)):
        for w in range(words.shape[1]):
            word = words[row, w]
            for byte in range(8):
                value = (word >> np.uint64(8 * byte)) & np.uint64(255)
                for out in range(words.shape[1]):
                    moved[row, out] |= lookup[8 * w + byte, value, out]


@njit(nogil=True, cache=True)
def scan_many(
    tiles, queries, first, last, first_row, end_row, is_one_set, n_lead_words, most, tile, i, pairs, distances
):
    n_pairs, n_lanes = np.int64(0), tiles.shape[2]
    partial = np.empty(n_lanes, np.uint64)
    while tile < len(tiles):
        row = first_row + tile * n_lanes
        # in one set, a string is compared only with later ones
        end = min(last, row + n_lanes - 1) if is_one_set else last
        was_close = False
        while i < end:
            if n_pairs + n_lanes > len(pairs):
                return n_pairs, tile, i
            # if the previous string passed the first words, this one will too: skip their test
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
    """Whether any lane is close in the first words; without an early exit, so that many lanes run at once."""
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
    """Add up word by word while many lanes are close, then lane by lane."""
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
