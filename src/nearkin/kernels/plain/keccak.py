"""The plain loops of `nearkin.kernels.keccak`."""

from __future__ import annotations

import hashlib

import numpy as np


def shake_many(data, starts, ends, digests):
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        message = data[start:end].tobytes()
        digests[i] = np.frombuffer(hashlib.shake_256(message).digest(digests.shape[1]), np.uint8)
