"""Comparison of bit strings with ranges of others in tiles, for distances at which comparisons cannot stop early."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

LANES = 64
"""Number of strings side by side in a tile."""
UNIT = 4
"""Words of a string are padded to a multiple of it."""


def tiled(words: NDArray[np.uint64], rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Arrange some strings word by word, with those of neighbours side by side.

    Parameters
    ----------
    words : uint64 array, shape (n_strings, n_words)
    rows : int64 array, shape (n,)

    Returns
    -------
    tiles : uint64 array, shape (ceil(n / LANES), n_words filled up, LANES)
        Padded with zeros.

    Examples
    --------
    >>> tiles = tiled(np.array([[7], [8], [9]], np.uint64), np.array([2, 0]))
    >>> tiles.shape, tiles[0, 0, :3].tolist()
    ((1, 4, 64), [9, 7, 0])
    """
    n_words = -(-words.shape[1] // UNIT) * UNIT
    tiles = np.empty((-(-len(rows) // LANES), n_words, LANES), np.uint64)
    loops("signature_tiles", words.nbytes).tile_many(*frozen(words, rows), tiles)
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
    left : uint64 array, shape (n_left, n_words filled up)
    tiles : uint64 array, shape (n_tiles, n_words filled up, LANES)
    starts, ends : int64 arrays, shape (n_left,)
        Range of each, in strings; fastest if ranges of neighbours overlap.
    distance : int
        Maximum number of differing bits.
    pairs, distances : uint64 and uint16 arrays
        Room for at least ``2 * LANES`` pairs; written from index 0, with the left one in the upper 32 bits of a pair.

    Yields
    ------
    n_pairs : int
        Number of results in ``pairs`` and ``distances``, valid until the next iteration.

    Examples
    --------
    >>> words = np.array([[0b0, 0, 0, 0], [0b11, 0, 0, 0], [0b111, 0, 0, 0]], np.uint64)
    >>> pairs, distances = np.zeros(128, np.uint64), np.zeros(128, np.uint16)
    >>> tiles, stretch = tiled(words, np.arange(3)), (np.array([1]), np.array([3]))
    >>> for n in near_in_tiles(words[1:2], tiles, *stretch, distance=1, pairs=pairs, distances=distances):
    ...     print([(int(pair) >> 32, int(pair) & 0xFFFFFFFF) for pair in pairs[:n]], distances[:n].tolist())
    [(0, 1), (0, 2)] [0, 1]
    """
    kernel = loops("signature_tiles", 8 * int(np.maximum(ends - starts, 0).sum()))
    own = *frozen(left, tiles, starts, ends), np.uint64(distance)
    block = tile = i = 0
    while block < len(left):
        n_pairs, block, tile, i = kernel.near_many(*own, block, tile, i, pairs, distances)
        yield int(n_pairs)
