"""The plain twins of the loops of `nearkin.kernels.marks`."""

from __future__ import annotations

import numpy as np


def mark_many(hashes, shift, bitmap):
    bits = hashes >> np.uint64(shift)
    np.bitwise_or.at(bitmap, bits >> np.uint64(3), np.uint8(1) << (bits & np.uint64(7)).astype(np.uint8))


def find_marked(hashes, shift, bitmap, found):
    bits = hashes >> np.uint64(shift)
    found[:] = bitmap[bits >> np.uint64(3)] >> (bits & np.uint64(7)).astype(np.uint8) & 1
