"""Loops of `nearkin.kernels.marks`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.jit import njit


@njit(nogil=True, cache=True)
def mark_many(hashes, shift, bitmap):
    for i in range(len(hashes)):
        bit = hashes[i] >> np.uint64(shift)
        bitmap[bit >> np.uint64(3)] |= np.uint8(1) << np.uint8(bit & np.uint64(7))


@njit(nogil=True, cache=True)
def find_marked(hashes, shift, bitmap, found):
    for i in range(len(hashes)):
        bit = hashes[i] >> np.uint64(shift)
        found[i] = (bitmap[bit >> np.uint64(3)] >> np.uint8(bit & np.uint64(7))) & 1
