"""The twin of ``compiled.keccak``."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

RATE_BYTES = 136
MOST_MESSAGE_BYTES = RATE_BYTES - 1


def shake256(
    data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, n_bytes: int
) -> NDArray[np.uint8]:
    """See ``compiled.keccak.shake256``.

    Examples
    --------
    >>> bytes(shake256(np.zeros(0, np.uint8), np.array([0]), np.array([0]), n_bytes=4)[0]).hex()
    '46b9dd2b'
    """
    digests = [
        np.frombuffer(hashlib.shake_256(data[a:b].tobytes()).digest(n_bytes), np.uint8)
        for a, b in zip(starts, ends, strict=True)
    ]
    return np.array(digests, np.uint8).reshape(len(digests), n_bytes)
