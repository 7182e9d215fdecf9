"""The twin of ``compiled.marks``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mark(hashes: NDArray[np.uint64], bitmap: NDArray[np.uint8]) -> None:
    """See ``compiled.marks.mark``.

    Examples
    --------
    >>> bitmap = np.zeros(1, np.uint8)  # eight bits: the upper three of a hash say which
    >>> mark(np.array([7 << 61, 1 << 61, 5], np.uint64), bitmap)
    >>> f"{bitmap[0]:08b}"
    '10000011'
    """
    bits = hashes >> np.uint64(_shift(bitmap))
    np.bitwise_or.at(bitmap, bits >> np.uint64(3), np.uint8(1) << (bits & np.uint64(7)).astype(np.uint8))


def is_marked(hashes: NDArray[np.uint64], bitmap: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """See ``compiled.marks.is_marked``.

    Examples
    --------
    >>> is_marked(np.array([7 << 61, 6 << 61], np.uint64), np.array([0b10000011], np.uint8)).tolist()
    [True, False]
    """
    bits = hashes >> np.uint64(_shift(bitmap))
    found: NDArray[np.bool_] = (bitmap[bits >> np.uint64(3)] >> (bits & np.uint64(7)).astype(np.uint8) & 1) > 0
    return found


def _shift(bitmap: NDArray[np.uint8]) -> int:
    return 64 - ((8 * len(bitmap)).bit_length() - 1)
