"""Share of copies among the first documents: the article divides a count of pairs by the number of documents.

That quotient is not a share: three copies of a text make three pairs. Readers want to know how many documents have a
near-duplicate, and how many could be removed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.minhash.truth import KeptPairs
from nearkin.records import U32


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """Near-duplicates among the first documents.

    Parameters
    ----------
    n_documents : int
    threshold : float
    n_pairs : int
        Number of pairs at or above the threshold.
    n_pairs_without_last : int
        The same number with the article's ``get_shingles``, which drops the last shingle of each text.
    n_with_a_copy : int
        Number of documents in at least one such pair.
    n_removable : int
        Number of documents that can be removed if one is kept of each set connected by such pairs.
    """

    n_documents: int
    threshold: float
    n_pairs: int
    n_pairs_without_last: int
    n_with_a_copy: int
    n_removable: int


def count_copies(similar: KeptPairs, n_documents: int, threshold: float, n_pairs_without_last: int) -> Copies:
    """Count copies among the first ``n_documents`` rows.

    Examples
    --------
    >>> rows = np.array([0, 0, 1, 3], np.uint32), np.array([1, 2, 2, 9], np.uint32)
    >>> copies = count_copies(KeptPairs(*rows, np.array([1.0, 0.9, 0.9, 1.0])), 5, 0.75, 3)
    >>> copies.n_pairs, copies.n_with_a_copy, copies.n_removable
    (3, 3, 2)
    """
    wanted = (similar.similarity >= threshold) & (similar.right < n_documents)
    left, right = similar.left[wanted], similar.right[wanted]
    touched = np.unique(np.concatenate([left, right]))
    return Copies(
        n_documents=n_documents,
        threshold=threshold,
        n_pairs=len(left),
        n_pairs_without_last=n_pairs_without_last,
        n_with_a_copy=len(touched),
        n_removable=len(touched) - _n_sets(left, right),
    )


def _n_sets(left: U32, right: U32) -> int:
    """Return the number of sets into which the pairs connect their rows."""
    parent: dict[int, int] = {}

    def root(row: int) -> int:
        while parent.setdefault(row, row) != row:
            parent[row] = row = parent[parent[row]]
        return row

    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        parent[root(a)] = root(b)
    return sum(row == above for row, above in parent.items())
