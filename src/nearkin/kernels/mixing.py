"""Numbers mixed by numpy, where a sum or a comparison must depend on every bit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: odd, so that multiplying by it is a bijection of 64 bits."""


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
