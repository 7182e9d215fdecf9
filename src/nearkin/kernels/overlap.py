"""Exact number of shingles that two documents share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

_PAIR_BYTES = 64  # the plain loop takes as long for a pair as for this many bytes
_FEW = 64
"""Below this number of pairs, the work is estimated from their own hashes, which may be few of all."""


def n_common(
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
) -> NDArray[np.uint32]:
    """Return the size of the intersection of each pair of sets; fastest if pairs with the same left row are adjacent.

    Parameters
    ----------
    hashes, starts, ends : uint64 and int64 arrays
        The set of a row is ``hashes[starts[row]:ends[row]]``: distinct, in any order.
    """
    common = np.empty(len(left), np.uint32)
    size_bytes = 8 * int((ends[left] - starts[left]).sum()) if len(left) < _FEW else hashes.nbytes
    size_bytes += _PAIR_BYTES * len(left)
    loops("overlap", size_bytes).common_many(*frozen(hashes, starts, ends, left, right), common)
    return common


def shared_ends(
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return how many hashes both sets of each pair begin with, and how many the rest ends with, in their order."""
    n_first, n_last = np.empty(len(left), np.uint32), np.empty(len(left), np.uint32)
    size_bytes = 8 * int((ends[left] - starts[left]).sum()) + _PAIR_BYTES * len(left)
    loops("overlap", size_bytes).ends_many(*frozen(hashes, starts, ends, left, right), n_first, n_last)
    return n_first, n_last
