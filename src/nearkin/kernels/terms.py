"""Terms of documents: counted, and projected into another vocabulary."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

Counts = tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]
Matrix = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


def count_terms(ids: NDArray[np.int32], offsets: NDArray[np.int64], n_terms: int) -> Counts:
    """Return the distinct terms of each document with their counts.

    Parameters
    ----------
    ids : int32 array, shape (n_occurrences,)
        From 0 to below ``n_terms``.
    offsets : int64 array, shape (n_documents + 1,)
        The terms of document ``i`` are ``ids[offsets[i]:offsets[i + 1]]``.
    n_terms : int

    Returns
    -------
    terms : int32 array
        For each document, in order of first occurrence.
    counts : float32 array
    term_offsets : int64 array, shape (n_documents + 1,)

    Examples
    --------
    >>> terms, counts, offsets = count_terms(np.array([4, 2, 4], np.int32), np.array([0, 3, 3]), 5)
    >>> terms.tolist(), counts.tolist(), offsets.tolist()
    ([4, 2], [2.0, 1.0], [0, 2, 2])
    """
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
    counts : tuple of int32 array, float32 array, int64 array of shape (n_documents + 1,)
        Terms, their counts, and the start of each document's terms.
    matrix : tuple of int64 array of shape (n_terms + 1,), int32 array, float32 array
        For each term its target terms, and the share of each.
    n_targets : int
        Number of terms of the other vocabulary.
    least : float
        Minimum result; smaller ones are omitted.

    Returns
    -------
    See `count_terms`.

    Examples
    --------
    >>> counts = np.array([1], np.int32), np.array([2], np.float32), np.array([0, 1])
    >>> matrix = np.array([0, 0, 2]), np.array([5, 3], np.int32), np.array([0.75, 0.25], np.float32)
    >>> terms, projected, _ = project_terms(counts, matrix, 6, least=0.6)
    >>> terms.tolist(), projected.tolist()
    ([5], [1.5])
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
    counts, matrix, n_targets
        See `project_terms`.
    rows : int64 array, shape (n,)
        Documents; fastest if they are sorted.
    terms : int32 array, shape (n, m)
        Requested terms of the other vocabulary for each; -1 for none.

    Returns
    -------
    sources : int32 array, shape (n, m)
        -1 if no term was projected to this one.

    Examples
    --------
    >>> counts = np.array([0, 1], np.int32), np.array([1, 3], np.float32), np.array([0, 2])
    >>> matrix = np.array([0, 1, 2]), np.array([5, 5], np.int32), np.array([0.5, 0.25], np.float32)
    >>> best_sources(counts, matrix, np.array([0]), np.array([[5, -1]], np.int32), 6).tolist()
    [[1, -1]]
    """
    sources = np.full(terms.shape, -1, np.int32)
    own = frozen(*counts, *matrix)
    loops("terms", 1024 * len(rows)).find_sources(*own, n_targets, *frozen(rows, terms), sources)
    return sources
