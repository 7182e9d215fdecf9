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

    Returns
    -------
    tiles : uint64 array, shape (ceil(n / LANES), n_words filled up, LANES)
        Padded with zeros.
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
    starts, ends : int64 arrays, shape (n_left,)
        Range of each, in strings; fastest if ranges of neighbours overlap.
    pairs, distances : uint64 and uint16 arrays
        Room for at least ``2 * LANES`` pairs; written from index 0, with the left one in the upper 32 bits of a pair.

    Yields
    ------
    n_pairs : int
        Number of results in ``pairs`` and ``distances``, valid until the next iteration.
    """
    kernel = loops("signature_tiles", 8 * int(np.maximum(ends - starts, 0).sum()))
    own = *frozen(left, tiles, starts, ends), np.uint64(distance)
    block = tile = i = 0
    while block < len(left):
        n_pairs, block, tile, i = kernel.near_many(*own, block, tile, i, pairs, distances)
        yield int(n_pairs)
