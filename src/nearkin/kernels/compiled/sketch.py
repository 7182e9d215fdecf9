"""Loops of `nearkin.kernels.sketch`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.basics import GOLDEN, mix, njit
from nearkin.kernels.sketch import EMPTY


@njit(cache=True)
def fill_round_constants(seed, constants):
    for i in range(len(constants)):
        constants[i] = mix(mix(seed + GOLDEN) + np.uint64(i) * GOLDEN)


@njit(nogil=True, cache=True)
def sketch_many(hashes, offsets, constants, slots):
    for i in range(len(offsets) - 1):
        _sketch_one(hashes, offsets[i], offsets[i + 1], constants, slots[i])


@njit(nogil=True, cache=True)
def _sketch_one(hashes, start, end, constants, slots):
    """Keep in each slot the minimum of the first round that reaches it; large sets need one round."""
    size = len(slots)
    slots[:] = EMPTY
    if start == end:
        return
    for round_ in range(2 * size):
        stamp = np.uint64(round_) << np.uint64(32)
        constant = constants[round_]
        for i in range(start, end):
            x = mix(hashes[i] ^ constant)
            slot = (
                np.int64(((x >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32)) if round_ < size else round_ - size
            )
            value = stamp | (x & np.uint64(0xFFFFFFFF))
            if value < slots[slot]:
                slots[slot] = value
        is_full = True
        for slot in range(size):
            is_full &= slots[slot] != EMPTY
        if is_full:
            return


@njit(nogil=True, cache=True)
def keys_many(slots, rows, keys):
    for i in range(len(slots)):
        for band in range(len(keys)):
            keys[band, i] = _key_one(slots[i], band, rows)


@njit(nogil=True, cache=True)
def _key_one(slots, band, rows):
    key = mix(np.uint64(band) + GOLDEN)
    for slot in range(band * rows, (band + 1) * rows):
        key = mix(key ^ slots[slot]) + GOLDEN
    return key
