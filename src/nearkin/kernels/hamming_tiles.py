"""Pairs of bit strings that differ in few bits, found by comparing all pairs, many at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops


def move_bits(words: NDArray[np.uint64], order: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Permute the bits of strings: bit ``i`` of the result is bit ``order[i]`` of the string.

    Parameters
    ----------
    words : uint64 array, shape (n_strings, n_words)
        Bit ``j`` of a string is bit ``j % 64`` of word ``j // 64``, counted from the lowest.
    """
    n_words = words.shape[1]
    lookup = np.zeros((8 * n_words, 256, n_words), np.uint64)  # the result for each value of each byte
    for place, bit in enumerate(order.tolist()):
        is_set = (np.arange(256) >> (bit % 8)) & 1 == 1
        lookup[bit // 8, is_set, place // 64] |= np.uint64(1 << (place % 64))
    moved = np.zeros_like(words)
    loops("hamming_tiles", words.nbytes).move_many(*frozen(words, lookup), moved)
    return moved


def laid_in_tiles(words: NDArray[np.uint64], n_lanes: int) -> NDArray[np.uint64]:
    """Arrange strings word by word, ``n_lanes`` side by side, the last tile padded with zeros."""
    n_words = words.shape[1]
    filled = np.zeros((-(-len(words) // n_lanes) * n_lanes, n_words), np.uint64)
    filled[: len(words)] = words
    return np.ascontiguousarray(filled.reshape(-1, n_lanes, n_words).transpose(0, 2, 1))


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
    room: int = 1 << 16,
) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.uint16]]]:
    """Compare queries with every string of the tiles, which are from `laid_in_tiles`.

    Parameters
    ----------
    first_row
        Row of the first string of the first tile.
    end_row
        Strings from this row on are only padding of the last tile.
    is_one_set
        Whether the queries are the strings themselves: then the right row of a pair is greater than the left.
    n_lead_words
        1, 2 or 4: number of words that decide whether the rest is compared.

    Yields
    ------
    pairs, distances : uint64 and uint16 arrays, shape (n_pairs,)
        Query in the upper 32 bits of a pair, row of the string in the lower.
    """
    kernel = loops("hamming_tiles", 8 * tiles.shape[1] * max(end_row - first_row, rows[1] - rows[0]))
    own = *frozen(tiles, queries), *rows, first_row, end_row, is_one_set, n_lead_words, np.uint64(distance)
    pairs, distances = np.empty(room, np.uint64), np.empty(room, np.uint16)
    tile, i = 0, rows[0]
    while tile < len(tiles):
        n_pairs, tile, i = kernel.scan_many(*own, tile, i, pairs, distances)
        if n_pairs:
            yield pairs[:n_pairs].copy(), distances[:n_pairs].copy()
