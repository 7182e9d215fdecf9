"""The twin of ``compiled.signature_tiles``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LANES = 64
UNIT = 4

Start = tuple[int, int, int]


def tiled(words: NDArray[np.uint64], rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    """See ``compiled.signature_tiles.tiled``.

    Examples
    --------
    >>> tiles = tiled(np.array([[7], [8], [9]], np.uint64), np.array([2, 0]))
    >>> tiles.shape, tiles[0, 0, :3].tolist()
    ((1, 4, 64), [9, 7, 0])
    """
    n_tiles, n_words = -(-len(rows) // LANES), -(-words.shape[1] // UNIT) * UNIT
    filled = np.zeros((n_tiles * LANES, n_words), np.uint64)
    filled[: len(rows), : words.shape[1]] = words[rows]
    return np.ascontiguousarray(filled.reshape(n_tiles, LANES, n_words).transpose(0, 2, 1))


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
    """See ``compiled.signature_tiles.near_in_tiles``; pairs come in another order.

    Examples
    --------
    >>> words = np.array([[0b0, 0, 0, 0], [0b11, 0, 0, 0], [0b111, 0, 0, 0]], np.uint64)
    >>> room = np.zeros(128, np.uint64), np.zeros(128, np.uint16)
    >>> n, _ = near_in_tiles(words[1:2], tiled(words, np.arange(3)), np.array([1]), np.array([3]), distance=1,
    ...     start=(0, 0, 0), pairs=room[0], distances=room[1])
    >>> [(int(pair) >> 32, int(pair) & 0xFFFFFFFF, int(d)) for pair, d in zip(room[0][:n], room[1])]
    [(0, 1, 0), (0, 2, 1)]
    """
    i, tile, _ = start
    n_pairs = 0
    while i < len(left):
        while tile * LANES < ends[i]:
            if n_pairs + LANES > len(pairs):
                return n_pairs, (i, tile, 0)
            differs = np.bitwise_count(tiles[tile] ^ left[i][:, None]).sum(axis=0)
            places = tile * LANES + np.arange(LANES)
            near = (differs <= distance) & (places >= starts[i]) & (places < ends[i])
            found = slice(n_pairs, n_pairs + int(near.sum()))
            pairs[found] = (np.uint64(i) << np.uint64(32)) | places[near].astype(np.uint64)
            distances[found] = differs[near]
            n_pairs, tile = found.stop, tile + 1
        i, tile = i + 1, 0
    return n_pairs, (i, 0, 0)
