"""The plain twins of the loops of `nearkin.kernels.hashing`."""

from __future__ import annotations

import hashlib
from itertools import pairwise

import numpy as np

MASK = 0xFFFFFFFFFFFFFFFF
GOLDEN = 0x9E3779B97F4A7C15


def mix(x: int) -> int:
    """Apply a pseudo-random bijection to 64 bits.

    Examples
    --------
    >>> hex(mix(1))
    '0x5692161d100b05e5'
    """
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def hash_many(data, offsets, hashes):
    for i, (start, end) in enumerate(pairwise(offsets.tolist())):
        value = mix((end - start + GOLDEN) & MASK)
        for byte in data[start:end].tobytes():
            value = ((value ^ byte) * GOLDEN) & MASK
        hashes[i] = mix(value)


def shake_many(data, starts, ends, digests):
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        message = data[start:end].tobytes()
        digests[i] = np.frombuffer(hashlib.shake_256(message).digest(digests.shape[1]), np.uint8)
