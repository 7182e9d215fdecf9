"""Which of many hashes may be among some: a bitmap by their upper bits, one look a hash."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit


def mark(hashes: NDArray[np.uint64], bitmap: NDArray[np.uint8]) -> None:
    """Set the bits of some hashes.

    Parameters
    ----------
    hashes : uint64 array, shape (n_hashes,)
    bitmap : uint8 array, shape (a power of two,), written
        A hash has the bit whose number its upper bits are; bit ``i`` is bit ``i % 8`` of byte ``i // 8``.
    """
    _mark(hashes, _shift(bitmap), bitmap)


def is_marked(hashes: NDArray[np.uint64], bitmap: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether the bit of each hash is set, shape (n_hashes,)."""
    found = np.empty(len(hashes), np.bool_)
    _is_marked(hashes, _shift(bitmap), bitmap, found)
    return found


def _shift(bitmap: NDArray[np.uint8]) -> int:
    """By how much a hash is shifted to the number of its bit."""
    return 64 - ((8 * len(bitmap)).bit_length() - 1)


@njit(nogil=True, cache=True)
def _mark(hashes, shift, bitmap):
    for i in range(len(hashes)):
        bit = hashes[i] >> np.uint64(shift)
        bitmap[bit >> np.uint64(3)] |= np.uint8(1) << np.uint8(bit & np.uint64(7))


@njit(nogil=True, cache=True)
def _is_marked(hashes, shift, bitmap, found):
    for i in range(len(hashes)):
        bit = hashes[i] >> np.uint64(shift)
        found[i] = (bitmap[bit >> np.uint64(3)] >> np.uint8(bit & np.uint64(7))) & 1
