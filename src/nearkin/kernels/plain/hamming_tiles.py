"""The plain twins of the loops of `nearkin.kernels.hamming_tiles`."""

from __future__ import annotations

import numpy as np


def move_many(words, lookup, moved):
    for byte in range(len(lookup)):
        value = words[:, byte // 8] >> np.uint64(8 * (byte % 8)) & np.uint64(255)
        moved |= lookup[byte, value]


def scan_many(
    tiles,
    queries,
    first,
    last,
    first_row,
    end_row,
    is_one_set,
    n_lead_words,
    most,
    start,
    start_row,
    pairs,
    distances,
):
    n_pairs, n_lanes = 0, tiles.shape[2]
    for tile in range(start, len(tiles)):
        row = first_row + tile * n_lanes
        end = min(last, row + n_lanes - 1) if is_one_set else last
        for i in range(start_row if tile == start else first, end):
            if n_pairs + n_lanes > len(pairs):
                return n_pairs, tile, i
            ones = np.bitwise_count(tiles[tile] ^ queries[i][:, None]).sum(axis=0, dtype=np.uint64)
            for lane in np.flatnonzero(ones <= most).tolist():
                right = row + lane
                if right < end_row and (right > i or not is_one_set):
                    pairs[n_pairs], distances[n_pairs] = (i << 32) | right, ones[lane]
                    n_pairs += 1
    return n_pairs, len(tiles), first
