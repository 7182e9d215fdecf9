"""Approximate set of hashes: a bitmap by their upper bits, with one lookup per hash."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops


def mark(hashes: NDArray[np.uint64], bitmap: NDArray[np.uint8]) -> None:
    """Set the bits of some hashes.

    Parameters
    ----------
    bitmap : uint8 array, shape (a power of two,), written
        The upper bits of a hash are the number of its bit; bit ``i`` is bit ``i % 8`` of byte ``i // 8``.
    """
    loops("marks", hashes.nbytes).mark_many(*frozen(hashes), _shift(bitmap), bitmap)


def is_marked(hashes: NDArray[np.uint64], bitmap: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether the bit of each hash is set, shape (n_hashes,)."""
    found = np.empty(len(hashes), np.bool_)
    loops("marks", hashes.nbytes).find_marked(*frozen(hashes), _shift(bitmap), *frozen(bitmap), found)
    return found


def _shift(bitmap: NDArray[np.uint8]) -> int:
    return 64 - ((8 * len(bitmap)).bit_length() - 1)
