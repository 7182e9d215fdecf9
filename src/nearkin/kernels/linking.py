"""Pairs made from keys: sort the entries by key, then link the rows that share one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

_FEW_BYTES = 1 << 18


def sort_by_key(keys: NDArray[np.uint64], rows: NDArray[np.uint32]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Sort by key; rows with the same key keep their order."""
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
    """Pair the rows that share a key, from entry ``start`` on, until ``pairs`` may not hold another run.

    In a run of up to ``max_pivots`` rows, all rows are paired. In a longer run, each is paired with the first
    ``max_pivots``, or with fewer if that would make more than ``max_pairs`` pairs; omitted pairs are counted if their
    sides would have let them match. Following rows are paired with leading rows, never with one another.

    Parameters
    ----------
    keys, rows : uint64 and uint32 arrays, shape (n_entries,)
        Sorted by key; in each run, leading rows come before following ones.
    sizes : uint32 array
        Number of shingles of each row: pairs whose ratio of sizes is below ``min_size_ratio`` cannot match and are
        omitted.
    sides : uint8 array
        Bits of each row; a pair needs one row with bit 1 and the other with bit 2. A row with bit 4 is following, one
        without it leading.
    pairs : uint64 array
        Written from index 0: the lower row in the upper 32 bits, the higher in the lower.

    Returns
    -------
    n_pairs, next_start, n_not_compared : int
        ``next_start`` is ``len(keys)`` when all is done. If not even one run fits, ``n_pairs`` is 0 and
        ``next_start`` is ``start``.
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
    if keys.nbytes > _FEW_BYTES:
        return keys.nbytes
    lengths = np.diff(np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1], [True]]))) if len(keys) else keys
    return keys.nbytes + 8 * int(np.square(lengths).sum())
