"""Exhaustive search of every pair: it misses nothing, and its cost grows quadratically.

Used as the truth for tests and audits, and as a choice for small collections.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nearkin.kernels.linking import link_runs, sort_by_key
from nearkin.records import I64, U8, Candidates, ShingleSets


def all_pairs(n_rows: int, *, block_rows: int = 1024) -> Iterator[Candidates]:
    """Yield all pairs of rows, in blocks of left rows.

    Examples
    --------
    >>> [(c.left.tolist(), c.right.tolist()) for c in all_pairs(3)]
    [([0, 0, 1], [1, 2, 2])]
    """
    for start in range(0, n_rows, block_rows):
        left, right = np.triu_indices(min(block_rows, n_rows - start), 1, n_rows - start)
        if len(left):
            yield Candidates((left + start).astype(np.uint32), (right + start).astype(np.uint32))


def common_counts(sets: ShingleSets) -> I64:
    """Count the shingles that each pair of a few sets shares, shape (n_sets, n_sets); zero on the diagonal.

    Every shingle is looked up once, in sorted order, instead of once for every other set: pairs that share nothing
    cost nothing.

    Examples
    --------
    >>> sets = ShingleSets(np.array([1, 2, 2, 3], np.uint64), np.array([0, 2, 4]), np.array([2, 2]), "")
    >>> common_counts(sets).tolist()
    [[0, 1], [1, 0]]
    """
    n_sets = len(sets)
    of_shingle = np.repeat(np.arange(n_sets, dtype=np.uint32), sets.sizes)
    keys, rows = sort_by_key(sets.hashes, of_shingle)
    counts = np.zeros(n_sets * n_sets, np.int64)
    every, pairs, start = np.ones(n_sets, np.uint32), np.empty(max(n_sets * n_sets, 1 << 18), np.uint64), 0
    any_side: U8 = np.full(n_sets, 3, np.uint8)
    while start < len(keys):
        n_pairs, start, _ = link_runs(
            keys,
            rows,
            every,
            any_side,
            start=start,
            min_size_ratio=0.0,
            max_pivots=n_sets,
            max_pairs=len(pairs),
            pairs=pairs,
        )
        left, right = pairs[:n_pairs] >> np.uint64(32), pairs[:n_pairs] & np.uint64(0xFFFFFFFF)
        counts += np.bincount((left * np.uint64(n_sets) + right).astype(np.int64), minlength=len(counts))
    upper = counts.reshape(n_sets, n_sets)
    return upper + upper.T
