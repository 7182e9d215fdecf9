"""Every pair: the search that misses nothing and grows with the square.

Truth for tests and audits, and a choice for small collections.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nearkin.records import Candidates


def all_pairs(n_rows: int, *, block_rows: int = 1024) -> Iterator[Candidates]:
    """All pairs of rows, in blocks of left rows.

    Examples
    --------
    >>> [(c.left.tolist(), c.right.tolist()) for c in all_pairs(3)]
    [([0, 0, 1], [1, 2, 2])]
    """
    for start in range(0, n_rows, block_rows):
        left, right = np.triu_indices(min(block_rows, n_rows - start), 1, n_rows - start)
        if len(left):
            yield Candidates((left + start).astype(np.uint32), (right + start).astype(np.uint32))
