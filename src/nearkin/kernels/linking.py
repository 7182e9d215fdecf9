"""From keys to pairs: sort the entries by key, link the rows that share one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

_FEW_BYTES = 1 << 18


def sort_by_key(keys: NDArray[np.uint64], rows: NDArray[np.uint32]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Sort by key, rows with one key in the order in which they came.

    Examples
    --------
    >>> keys, rows = sort_by_key(np.array([7, 5, 7], np.uint64), np.array([9, 8, 1], np.uint32))
    >>> keys.tolist(), rows.tolist()
    ([5, 7, 7], [8, 9, 1])
    """
    keys, rows = loops("linking", keys.nbytes).sort_by_key(keys, rows)
    return keys, rows


def link_runs(
    keys: NDArray[np.uint64],
    rows: NDArray[np.uint32],
    sizes: NDArray[np.uint32],
    sides: NDArray[np.uint8],
    *,
    start: int,
    min_size_ratio: float,
    max_pivots: int,
    max_pairs: int,
    pairs: NDArray[np.uint64],
) -> tuple[int, int, int]:
    """Pair the rows that share a key, from entry ``start`` on, until ``pairs`` may not hold one more run.

    In a run of up to ``max_pivots`` rows all are paired. In a longer one each is paired with the first
    ``max_pivots``, or with fewer if that would make more than ``max_pairs`` pairs; those not made are counted where
    their sides would have let them match. Rows that follow are paired with rows that lead, never with one another.

    Parameters
    ----------
    keys, rows : uint64 and uint32 arrays, shape (n_entries,)
        Sorted by key; in a run the rows that lead come before those that follow.
    sizes : uint32 array
        Shingles of each row: pairs with a smaller ratio of sizes than ``min_size_ratio`` cannot match and are left
        out.
    sides : uint8 array
        Bits of each row; a pair needs one row with bit 1 and the other with bit 2. A row with bit 4 follows, one
        without it leads.
    pairs : uint64 array
        Written from 0 on: the lower row in the upper 32 bits, the higher in the lower.

    Returns
    -------
    n_pairs, next_start, n_not_compared : int
        ``next_start`` is ``len(keys)`` when all is done. If one run alone does not fit, ``n_pairs`` is 0 and
        ``next_start`` is ``start``.

    Examples
    --------
    >>> keys, rows = np.array([5, 5, 7], np.uint64), np.array([3, 1, 2], np.uint32)
    >>> sizes, sides, pairs = np.ones(4, np.uint32), np.full(4, 3, np.uint8), np.empty(9, np.uint64)
    >>> options = {"min_size_ratio": 0.0, "max_pivots": 9, "max_pairs": 9}
    >>> link_runs(keys, rows, sizes, sides, start=0, **options, pairs=pairs), int(pairs[0]) == (1 << 32) + 3
    ((1, 3, 0), True)
    """
    n_pairs, next_start, n_not_compared = loops("linking", _work_bytes(keys)).link_many(
        *frozen(keys, rows, sizes, sides),
        start,
        float(min_size_ratio),
        max_pivots,
        max_pairs,
        pairs,
    )
    return int(n_pairs), int(next_start), int(n_not_compared)


def _work_bytes(keys: NDArray[np.uint64]) -> int:
    """Size of the keys and, where they are few, of the pairs of their runs: the plain loop takes time for each."""
    if keys.nbytes > _FEW_BYTES:
        return keys.nbytes
    lengths = np.diff(np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1], [True]]))) if len(keys) else keys
    return keys.nbytes + 8 * int(np.square(lengths).sum())
