"""Bit strings compared with stretches of others that lie in tiles: for distances at which nothing can be left early."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

LANES = 64
"""Strings of a tile, side by side."""
UNIT = 4
"""Words of a string are filled up to a multiple of it."""


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
    """Pairs of a string and one of its stretch of the tiles that differ in few bits, in no certain order.

    Parameters
    ----------
    left : uint64 array, shape (n_left, n_words filled up)
    tiles : uint64 array, shape (n_tiles, n_words filled up, LANES)
    starts, ends : int64 arrays, shape (n_left,)
        The stretch of each, in strings; it is quickest where those of neighbours overlap.
    distance : int
        Bits in which a pair may differ.
    pairs, distances : uint64 and uint16 arrays
        Room for ``2 * LANES`` pairs at least; written from 0 on: the left one in the upper 32 bits of a pair.

    Yields
    ------
    n_pairs : int
        So many stand in ``pairs`` and ``distances``, until the next are asked for.

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
