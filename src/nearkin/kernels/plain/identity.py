"""The twin of ``compiled.identity``."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.plain.mixing import GOLDEN, MASK, mix


def hash_strings(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """See ``compiled.identity.hash_strings``.

    Examples
    --------
    >>> a, b, c = hash_strings(np.frombuffer(b"xyxyx", np.uint8), np.array([0, 2, 4, 5]))
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    hashes = []
    for start, end in pairwise(offsets):
        value = mix((int(end - start) + GOLDEN) & MASK)
        for byte in data[start:end].tobytes():
            value = ((value ^ byte) * GOLDEN) & MASK
        hashes.append(mix(value))
    return np.array(hashes, np.uint64)
