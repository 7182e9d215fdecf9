"""The twin of ``compiled.terms``."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Counts = tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]
Matrix = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


def count_terms(ids: NDArray[np.int32], offsets: NDArray[np.int64], n_terms: int) -> Counts:
    """See ``compiled.terms.count_terms``.

    Examples
    --------
    >>> terms, counts, offsets = count_terms(np.array([4, 2, 4], np.int32), np.array([0, 3, 3]), 5)
    >>> terms.tolist(), counts.tolist(), offsets.tolist()
    ([4, 2], [2.0, 1.0], [0, 2, 2])
    """
    documents = []
    for start, end in pairwise(offsets.tolist()):
        counted: dict[int, float] = {}
        for term in ids[start:end].tolist():
            counted[term] = counted.get(term, 0.0) + 1.0
        documents.append(counted)
    return _joined(documents)


def project_terms(counts: Counts, matrix: Matrix, n_targets: int, *, least: float) -> Counts:
    """See ``compiled.terms.project_terms``.

    Examples
    --------
    >>> counts = np.array([1], np.int32), np.array([2], np.float32), np.array([0, 1])
    >>> matrix = np.array([0, 0, 2]), np.array([5, 3], np.int32), np.array([0.75, 0.25], np.float32)
    >>> terms, projected, _ = project_terms(counts, matrix, 6, least=0.6)
    >>> terms.tolist(), projected.tolist()
    ([5], [1.5])
    """
    terms, amounts, offsets = counts
    starts, targets, shares = matrix
    documents = []
    for start, end in pairwise(offsets.tolist()):
        sums: dict[int, float] = {}
        for term, amount in zip(terms[start:end].tolist(), amounts[start:end].tolist(), strict=True):
            row = slice(int(starts[term]), int(starts[term + 1]))
            for target, share in zip(targets[row].tolist(), shares[row].tolist(), strict=True):
                sums[target] = sums.get(target, 0.0) + amount * share
        documents.append({target: total for target, total in sums.items() if total >= least})
    return _joined(documents)


def best_sources(
    counts: Counts, matrix: Matrix, rows: NDArray[np.int64], terms: NDArray[np.int32], n_targets: int
) -> NDArray[np.int32]:
    """See ``compiled.terms.best_sources``.

    Examples
    --------
    >>> counts = np.array([0, 1], np.int32), np.array([1, 3], np.float32), np.array([0, 2])
    >>> matrix = np.array([0, 1, 2]), np.array([5, 5], np.int32), np.array([0.5, 0.25], np.float32)
    >>> best_sources(counts, matrix, np.array([0]), np.array([[5, -1]], np.int32), 6).tolist()
    [[1, -1]]
    """
    own, amounts, offsets = counts
    starts, targets, shares = matrix
    sources = np.full(terms.shape, -1, np.int32)
    for i, row in enumerate(rows.tolist()):
        most: dict[int, float] = {}
        best: dict[int, int] = {}
        for k in range(int(offsets[row]), int(offsets[row + 1])):
            term = int(own[k])
            for at in range(int(starts[term]), int(starts[term + 1])):
                amount = float(amounts[k]) * float(shares[at])
                if amount > most.get(int(targets[at]), 0.0):
                    most[int(targets[at])], best[int(targets[at])] = amount, term
        sources[i] = [best.get(term, -1) for term in terms[i].tolist()]
    return sources


def _joined(documents: list[dict[int, float]]) -> Counts:
    offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    terms = np.array([term for one in documents for term in one], np.int32)
    return terms, np.array([count for one in documents for count in one.values()], np.float32), offsets
