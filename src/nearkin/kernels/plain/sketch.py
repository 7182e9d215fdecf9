"""The twin of ``compiled.sketch``."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.plain.mixing import GOLDEN, MASK, mix

_EMPTY = 0xFFFFFFFFFFFFFFFF
EMPTY = np.uint64(_EMPTY)
"""What every slot of the empty set holds; it must never be compared."""


def sketch(hashes: NDArray[np.uint64], offsets: NDArray[np.int64], *, size: int, seed: int) -> NDArray[np.uint64]:
    """See ``compiled.sketch.sketch``.

    Examples
    --------
    >>> sets = np.array([1, 2, 3, 1, 2, 3], np.uint64)
    >>> slots = sketch(sets, np.array([0, 3, 6]), size=4, seed=0)
    >>> bool((slots[0] == slots[1]).all())
    True
    """
    constants = [int(c) for c in round_constants(size, seed)]
    rows = [_sketch_one([int(h) for h in hashes[a:b]], constants) for a, b in pairwise(offsets)]
    return np.array(rows, np.uint64).reshape(len(rows), size)


def round_constants(size: int, seed: int) -> NDArray[np.uint64]:
    """See ``compiled.sketch.round_constants``."""
    base = mix((seed + GOLDEN) & MASK)
    return np.array([mix((base + i * GOLDEN) & MASK) for i in range(2 * size)], np.uint64)


def band_keys(slots: NDArray[np.uint64], *, bands: int, rows: int) -> NDArray[np.uint64]:
    """See ``compiled.sketch.band_keys``."""
    keys = [[_key_one([int(s) for s in row], band, rows) for row in slots] for band in range(bands)]
    return np.array(keys, np.uint64).reshape(bands, len(slots))


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
