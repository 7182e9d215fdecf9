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
    hashes : uint64 array
        The sets; hashes are distinct within a set, in any order.
    starts, ends : int64 arrays, shape (n_rows,)
        The set of a row is ``hashes[starts[row]:ends[row]]``.
    left, right : uint32 arrays, shape (n_pairs,)
        Rows.

    Returns
    -------
    common : uint32 array, shape (n_pairs,)

    Examples
    --------
    >>> hashes, starts, ends = np.array([1, 2, 3, 3, 4], np.uint64), np.array([0, 3]), np.array([3, 5])
    >>> n_common(hashes, starts, ends, np.array([0], np.uint32), np.array([1], np.uint32)).tolist()
    [1]
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
    """Return the number of hashes with which both sets of each pair begin, and of those with which the rest ends.

    Parameters
    ----------
    hashes, starts, ends, left, right
        See `n_common`; here the order of the hashes of a set counts.

    Returns
    -------
    n_first, n_last : uint32 arrays, shape (n_pairs,)
        Together at most the size of the smaller set.

    Examples
    --------
    >>> hashes, starts, ends = np.array([1, 2, 3, 1, 9, 8, 3], np.uint64), np.array([0, 3]), np.array([3, 7])
    >>> [n.tolist() for n in shared_ends(hashes, starts, ends, np.array([0], np.uint32), np.array([1], np.uint32))]
    [[1], [1]]
    """
    n_first, n_last = np.empty(len(left), np.uint32), np.empty(len(left), np.uint32)
    size_bytes = 8 * int((ends[left] - starts[left]).sum()) + _PAIR_BYTES * len(left)
    loops("overlap", size_bytes).ends_many(*frozen(hashes, starts, ends, left, right), n_first, n_last)
    return n_first, n_last
