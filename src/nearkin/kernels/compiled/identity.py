"""Loops of `nearkin.kernels.identity`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import GOLDEN, mix


@njit(nogil=True, cache=True)
def hash_many(data, offsets, hashes):
    for i in range(len(offsets) - 1):
        hashes[i] = _hash_one(data, offsets[i], offsets[i + 1])


@njit(nogil=True, cache=True)
def _hash_one(data, start, end):
    value = mix(np.uint64(end - start) + GOLDEN)
    for at in range(start, end):
        value = (value ^ np.uint64(data[at])) * GOLDEN
    return mix(value)
