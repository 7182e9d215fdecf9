"""The plain twins of the loops of `nearkin.kernels.sliding_window`."""

from __future__ import annotations

import numpy as np


def take_bits(words, order, leading):
    for place in order.tolist():
        bit = (words[:, place // 64] >> np.uint64(place % 64)) & np.uint64(1)
        leading[:] = (leading << np.uint64(1)) | bit


def order_of(keys):
    return np.argsort(keys, kind="stable").astype(np.int64)
