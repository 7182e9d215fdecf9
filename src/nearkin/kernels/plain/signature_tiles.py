"""The plain twins of the loops of `nearkin.kernels.signature_tiles`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.signature_tiles import LANES


def tile_many(words, rows, tiles):
    n_tiles, n_words, _ = tiles.shape
    filled = np.zeros((n_tiles * LANES, n_words), np.uint64)
    filled[: len(rows), : words.shape[1]] = words[rows]
    tiles[:] = filled.reshape(n_tiles, LANES, n_words).transpose(0, 2, 1)


def near_many(left, tiles, starts, ends, most, i, tile, _, pairs, distances):
    n_pairs = 0
    while i < len(left):
        while tile * LANES < ends[i]:
            if n_pairs + LANES > len(pairs):
                return n_pairs, i, tile, 0
            differs = np.bitwise_count(tiles[tile] ^ left[i][:, None]).sum(axis=0)
            places = tile * LANES + np.arange(LANES)
            near = (differs <= most) & (places >= starts[i]) & (places < ends[i])
            block = slice(n_pairs, n_pairs + int(near.sum()))
            pairs[block] = (np.uint64(i) << np.uint64(32)) | places[near].astype(np.uint64)
            distances[block] = differs[near]
            n_pairs, tile = block.stop, tile + 1
        i, tile = i + 1, 0
    return n_pairs, i, 0, 0
