"""The plain twins of the loops of `nearkin.kernels.sketch`."""

from __future__ import annotations

from itertools import pairwise

from nearkin.kernels.plain.hashing import GOLDEN, MASK, mix
from nearkin.kernels.sketch import EMPTY

_EMPTY = int(EMPTY)


def fill_round_constants(seed, constants):
    base = mix((int(seed) + GOLDEN) & MASK)
    constants[:] = [mix((base + i * GOLDEN) & MASK) for i in range(len(constants))]


def sketch_many(hashes, offsets, constants, slots):
    rounds = [int(c) for c in constants]
    for row, (start, end) in zip(slots, pairwise(offsets)):
        row[:] = _sketch_one([int(h) for h in hashes[start:end]], rounds)


def keys_many(slots, rows, keys):
    for i, row in enumerate(slots):
        own = [int(slot) for slot in row]
        keys[:, i] = [_key_one(own, band, rows) for band in range(len(keys))]


def _sketch_one(elements: list[int], constants: list[int]) -> list[int]:
    size = len(constants) // 2
    slots = [_EMPTY] * size
    for round_, constant in enumerate(constants):
        if not elements or _EMPTY not in slots:
            break
        for element in elements:
            x = mix(element ^ constant)
            slot = ((x >> 32) * size) >> 32 if round_ < size else round_ - size
            slots[slot] = min(slots[slot], (round_ << 32) | (x & 0xFFFFFFFF))
    return slots


def _key_one(slots: list[int], band: int, rows: int) -> int:
    key = mix((band + GOLDEN) & MASK)
    for slot in slots[band * rows : (band + 1) * rows]:
        key = (mix(key ^ slot) + GOLDEN) & MASK
    return key
