"""The twin of ``compiled.hamming_tiles``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def move_bits(words: NDArray[np.uint64], order: NDArray[np.int64]) -> NDArray[np.uint64]:
    """See ``compiled.hamming_tiles.move_bits``.

    Examples
    --------
    >>> backwards = np.arange(63, -1, -1)
    >>> [hex(word) for word in move_bits(np.array([[1], [6]], np.uint64), backwards)[:, 0]]
    ['0x8000000000000000', '0x6000000000000000']
    """
    moved = np.zeros_like(words)
    for place, bit in enumerate(order.tolist()):
        is_set = words[:, bit // 64] >> np.uint64(bit % 64) & np.uint64(1)
        moved[:, place // 64] |= is_set << np.uint64(place % 64)
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
    """See ``compiled.hamming_tiles.scan_tiles``; here ``n_lead_words`` is not needed."""
    n_pairs, n_lanes = 0, tiles.shape[2]
    for tile in range(start[0], len(tiles)):
        row = first_row + tile * n_lanes
        end = min(rows[1], row + n_lanes - 1) if is_one_set else rows[1]
        for i in range(start[1] if tile == start[0] else rows[0], end):
            if n_pairs + n_lanes > len(pairs):
                return n_pairs, (tile, i)
            ones = np.bitwise_count(tiles[tile] ^ queries[i][:, None]).sum(axis=0, dtype=np.int64)
            for lane in np.flatnonzero(ones <= distance).tolist():
                right = row + lane
                if right < end_row and (right > i or not is_one_set):
                    pairs[n_pairs], distances[n_pairs] = (i << 32) | right, ones[lane]
                    n_pairs += 1
    return n_pairs, (len(tiles), rows[0])
