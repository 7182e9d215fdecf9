"""The twin of ``compiled.sliding_window``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def leading_bits(words: NDArray[np.uint64], order: NDArray[np.int64]) -> NDArray[np.uint64]:
    """See ``compiled.sliding_window.leading_bits``.

    Examples
    --------
    >>> leading_bits(np.array([[0b0110]], np.uint64), np.array([1, 0, 2])).tolist() == [0b101]
    True
    """
    leading = np.zeros(len(words), np.uint64)
    for place in order.tolist():
        bit = (words[:, place // 64] >> np.uint64(place % 64)) & np.uint64(1)
        leading = (leading << np.uint64(1)) | bit
    return leading


def order_of(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """See ``compiled.sliding_window.order_of``.

    Examples
    --------
    >>> order_of(np.array([5, 1, 5, 0], np.uint64)).tolist()
    [3, 1, 0, 2]
    """
    return np.argsort(keys, kind="stable").astype(np.int64)
