"""SHAKE-256 of many short messages.

Source: NIST, "SHA-3 Standard: Permutation-Based Hash and Extendable-Output Functions", FIPS 202, 2015.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

RATE_BYTES = 136
MAX_MESSAGE_BYTES = RATE_BYTES - 1
"""Maximum size of a message: one block, with at least one byte of padding."""


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
    loops("keccak", 64 * len(starts)).shake_many(*frozen(data, starts, ends), digests)
    return digests
