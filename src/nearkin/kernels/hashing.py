"""Hashes of strings, by which equal ones are found without storing them; SHAKE-256 of many short messages.

Source of SHAKE-256: NIST, "SHA-3 Standard: Permutation-Based Hash and Extendable-Output Functions", FIPS 202, 2015.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: odd, so that multiplying by it is a bijection of 64 bits."""
RATE_BYTES = 136
MAX_MESSAGE_BYTES = RATE_BYTES - 1
"""Maximum size of a message: one block, with at least one byte of padding."""


def spread(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Apply a bijection of 64 bits in which low bits of the result depend on high bits of the values.

    Stored checksums are sums of such numbers: it never changes.

    Examples
    --------
    >>> spread(np.array([1, 2], np.uint64)).tolist()
    [11400714820970677676, 4354685563936836440]
    """
    mixed = (values ^ (values >> np.uint64(29))) * GOLDEN
    return mixed ^ (mixed >> np.uint64(32))


def hash_strings(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return one hash per string; equal strings have equal hashes."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    loops("hashing", int(offsets[-1] - offsets[0])).hash_many(*frozen(data, offsets), hashes)
    return hashes


def shake256(
    data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, n_bytes: int
) -> NDArray[np.uint8]:
    """Return the first bytes of SHAKE-256 of each message.

    Parameters
    ----------
    starts, ends : int64 arrays, shape (n_messages,)
        Message ``i`` is ``data[starts[i]:ends[i]]``, of at most 135 bytes.

    Examples
    --------
    >>> bytes(shake256(np.zeros(0, np.uint8), np.array([0]), np.array([0]), n_bytes=4)[0]).hex()
    '46b9dd2b'
    """
    digests = np.empty((len(starts), n_bytes), np.uint8)
    loops("hashing", 64 * len(starts)).shake_many(*frozen(data, starts, ends), digests)
    return digests
