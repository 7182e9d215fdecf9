"""Terms of documents: counted, and projected into another vocabulary."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

Counts = tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]
Matrix = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


def count_terms(ids: NDArray[np.int32], offsets: NDArray[np.int64], n_terms: int) -> Counts:
    """Return the distinct terms of each document with their counts, in order of first occurrence."""
    room = len(ids)
    terms, counts = np.empty(room, np.int32), np.empty(room, np.float32)
    term_offsets = np.zeros(len(offsets), np.int64)
    kernel = loops("terms", 16 * room)
    n = kernel.count_many(*frozen(ids, offsets), n_terms, terms, counts, term_offsets)
    return terms[:n].copy(), counts[:n].copy(), term_offsets


def project_terms(counts: Counts, matrix: Matrix, n_targets: int, *, least: float) -> Counts:
    """Project the terms of each document into another vocabulary: ``counts`` times ``matrix``.

    Parameters
    ----------
    matrix : tuple of int64 array of shape (n_terms + 1,), int32 array, float32 array
        For each term its target terms, and the share of each.
    """
    terms, _, offsets = counts
    sizes = np.concatenate([[0], np.cumsum(np.diff(matrix[0])[terms])])
    room = int(sizes[-1])
    out_terms, out_counts = np.empty(room, np.int32), np.empty(room, np.float32)
    out_offsets = np.zeros(len(offsets), np.int64)
    own = frozen(*counts, *matrix)
    n = loops("terms", 64 * len(terms)).project_many(*own, n_targets, float(least), out_terms, out_counts, out_offsets)
    return out_terms[:n].copy(), out_counts[:n].copy(), out_offsets


def best_sources(
    counts: Counts, matrix: Matrix, rows: NDArray[np.int64], terms: NDArray[np.int32], n_targets: int
) -> NDArray[np.int32]:
    """Return, for terms of the other vocabulary, the document's own term that contributed most.

    Parameters
    ----------
    rows : int64 array, shape (n,)
        Documents; fastest if they are sorted.
    terms : int32 array, shape (n, m)
        Terms of the other vocabulary for each; -1 for none, as in the result.
    """
    sources = np.full(terms.shape, -1, np.int32)
    own = frozen(*counts, *matrix)
    loops("terms", 1024 * len(rows)).find_sources(*own, n_targets, *frozen(rows, terms), sources)
    return sources
