"""A 64-bit hash of each string, to find equal ones without holding them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import GOLDEN, mix


def hash_strings(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """One hash a string, shape (n_strings,); equal strings have equal hashes."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    _hash_many(data, offsets, hashes)
    return hashes


@njit(nogil=True, cache=True)
def _hash_many(data, offsets, hashes):
    for i in range(len(offsets) - 1):
        hashes[i] = _hash_one(data, offsets[i], offsets[i + 1])


@njit(nogil=True, cache=True)
def _hash_one(data, start, end):
    value = mix(np.uint64(end - start) + GOLDEN)
    for at in range(start, end):
        value = (value ^ np.uint64(data[at])) * GOLDEN
    return mix(value)
