"""64-bit hashes of strings, to find equal ones without storing them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops


def hash_strings(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return one hash per string; equal strings have equal hashes."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    loops("identity", int(offsets[-1] - offsets[0])).hash_many(*frozen(data, offsets), hashes)
    return hashes
