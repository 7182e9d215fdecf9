"""Bit strings that differ in few bits: in tables of blocks of bits, or by comparing many pairs at a time, in tiles.

Equal strings are classes, which are searched in place of documents. A *string* is a row of 64-bit words. A pair is
returned as one number, with the left row in its upper 32 bits and the right row in its lower.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

NONE = -1
"""The class of a document without features."""
CHUNK = 64
"""Number of strings compared with one other at a time."""
LANES = 64
"""Number of strings side by side in a tile."""
UNIT = 4
"""Words of a string are padded to a multiple of it."""


def equal_classes(words: NDArray[np.uint64], has_features: NDArray[np.bool_]) -> tuple[NDArray[np.int32], int]:
    """Number the distinct strings in order of first occurrence; rows without features have `NONE`."""
    class_of_row = np.full(len(words), NONE, np.int32)
    kernel = loops("hamming", words.nbytes)
    return class_of_row, int(kernel.number_classes(*frozen(words, has_features), class_of_row))


def members_of(class_of_row: NDArray[np.int32], n_classes: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the rows of each class, ascending in each, and offsets."""
    counts = np.bincount(class_of_row[class_of_row != NONE], minlength=n_classes)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    members = np.empty(offsets[-1], np.uint32)
    loops("hamming", class_of_row.nbytes).fill_members(*frozen(class_of_row, offsets), members)
    return members, offsets


def expand_classes(
    class_of_row: NDArray[np.int32],
    members: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    neighbours: NDArray[np.uint32],
    neighbour_distances: NDArray[np.uint16],
    neighbour_offsets: NDArray[np.int64],
    *,
    start: int,
    pairs: NDArray[np.uint64],
    distances: NDArray[np.uint16],
) -> tuple[int, int]:
    """Expand pairs of classes to pairs of documents, by left row, until the room may not suffice for another row.

    Parameters
    ----------
    neighbours, neighbour_distances, neighbour_offsets : uint32, uint16 and int64 arrays
        Classes near each class, including itself.
    pairs, distances : uint64 and uint16 arrays
        Written from index 0; the right rows of a left row are ordered by class.

    Returns
    -------
    n_pairs, next_start : int
        If not even one row fits, ``n_pairs`` is 0 and ``next_start`` is ``start``.
    """
    n_pairs, next_start = loops("hamming", class_of_row.nbytes).expand_many(
        *frozen(class_of_row, members, offsets, neighbours, neighbour_distances, neighbour_offsets),
        start,
        pairs,
        distances,
    )
    return int(n_pairs), int(next_start)


def sort_by_block(words: NDArray[np.uint64], mask: NDArray[np.uint64], *, key_bits: int) -> NDArray[np.uint64]:
    """Bring together the strings that agree in all bits of the mask; others may come together by chance.

    Parameters
    ----------
    key_bits
        From 1 to 32: strings that differ under the mask have the same key with probability ``2**-key_bits``.

    Returns
    -------
    entries : uint64 array, shape (n_strings,)
        The key in the upper 32 bits, the row in the lower; sorted.
    """
    entries: NDArray[np.uint64] = loops("hamming", words.nbytes).sort_by_block(*frozen(words, mask), key_bits)
    return entries


def near_in_table(
    entries: NDArray[np.uint64],
    words: NDArray[np.uint64],
    blocks: NDArray[np.uint64],
    is_key: NDArray[np.bool_],
    *,
    distance: int,
    n_queries: int,
    room: int = 1 << 16,
) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.uint16]]]:
    """Yield the pairs within the distance that share the key of this table and of no earlier one.

    Parameters
    ----------
    blocks : uint64 array, shape (n_blocks, n_words)
        Masks that share no bit.
    is_key : bool array, shape (n_blocks,)
        Blocks in which strings with the same key agree. Tables are in the order in which ``itertools.combinations``
        chooses blocks, so the first table with a pair is that of the first blocks in which the pair agrees.
    n_queries
        0: compare all rows. Otherwise only rows below it with rows from it on.

    Yields
    ------
    pairs, distances : uint64 and uint16 arrays, shape (n_pairs,)
        Lower row in the upper 32 bits of a pair.
    """
    leads = words[(entries & np.uint64(0xFFFFFFFF)).astype(np.int64), 0]
    kernel = loops("hamming", words.nbytes)
    own = *frozen(entries, leads, words, blocks, is_key), np.uint64(distance), n_queries
    pairs, distances = np.empty(room, np.uint64), np.empty(room, np.uint16)
    i = j = 0
    while i < len(entries):
        n_pairs, i, j = kernel.link_many(*own, i, j, pairs, distances)
        if n_pairs:
            yield pairs[:n_pairs].copy(), distances[:n_pairs].copy()


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
    loops("hamming", words.nbytes).move_many(*frozen(words, lookup), moved)
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
    kernel = loops("hamming", 8 * tiles.shape[1] * max(end_row - first_row, rows[1] - rows[0]))
    own = *frozen(tiles, queries), *rows, first_row, end_row, is_one_set, n_lead_words, np.uint64(distance)
    pairs, distances = np.empty(room, np.uint64), np.empty(room, np.uint16)
    tile, i = 0, rows[0]
    while tile < len(tiles):
        n_pairs, tile, i = kernel.scan_many(*own, tile, i, pairs, distances)
        if n_pairs:
            yield pairs[:n_pairs].copy(), distances[:n_pairs].copy()


def tiled(words: NDArray[np.uint64], rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Arrange some strings word by word, with those of neighbours side by side.

    Returns
    -------
    tiles : uint64 array, shape (ceil(n / LANES), n_words filled up, LANES)
        Padded with zeros.
    """
    n_words = -(-words.shape[1] // UNIT) * UNIT
    tiles = np.empty((-(-len(rows) // LANES), n_words, LANES), np.uint64)
    loops("hamming", words.nbytes).tile_many(*frozen(words, rows), tiles)
    return tiles


def near_in_tiles(
    left: NDArray[np.uint64],
    tiles: NDArray[np.uint64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    *,
    distance: int,
    pairs: NDArray[np.uint64],
    distances: NDArray[np.uint16],
) -> Iterator[int]:
    """Yield pairs of a string and one of its range in the tiles that differ in few bits, in no particular order.

    Parameters
    ----------
    starts, ends : int64 arrays, shape (n_left,)
        Range of each, in strings; fastest if ranges of neighbours overlap.
    pairs, distances : uint64 and uint16 arrays
        Room for at least ``2 * LANES`` pairs; written from index 0, with the left one in the upper 32 bits of a pair.

    Yields
    ------
    n_pairs : int
        Number of results in ``pairs`` and ``distances``, valid until the next iteration.
    """
    kernel = loops("hamming", 8 * int(np.maximum(ends - starts, 0).sum()))
    own = *frozen(left, tiles, starts, ends), np.uint64(distance)
    block = tile = i = 0
    while block < len(left):
        n_pairs, block, tile, i = kernel.near_many(*own, block, tile, i, pairs, distances)
        yield int(n_pairs)
