"""Terms of documents: counted, and carried from one vocabulary into another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit

Counts = tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]
Matrix = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


def count_terms(ids: NDArray[np.int32], offsets: NDArray[np.int64], n_terms: int) -> Counts:
    """The distinct terms of each document and how often each occurs.

    Parameters
    ----------
    ids : int32 array, shape (n_occurrences,)
        From 0, below ``n_terms``.
    offsets : int64 array, shape (n_documents + 1,)
        The terms of document ``i`` are ``ids[offsets[i]:offsets[i + 1]]``.
    n_terms : int

    Returns
    -------
    terms : int32 array
        Of each document in order of first occurrence.
    counts : float32 array
    term_offsets : int64 array, shape (n_documents + 1,)
    """
    room = len(ids)
    terms, counts = np.empty(room, np.int32), np.empty(room, np.float32)
    term_offsets = np.zeros(len(offsets), np.int64)
    n = _count_many(ids, offsets, np.zeros(n_terms, np.int32), terms, counts, term_offsets)
    return terms[:n].copy(), counts[:n].copy(), term_offsets


def project_terms(counts: Counts, matrix: Matrix, n_targets: int, *, least: float) -> Counts:
    """The terms of each document as terms of another vocabulary: ``counts`` times ``matrix``.

    Parameters
    ----------
    counts : tuple of int32 array, float32 array, int64 array of shape (n_documents + 1,)
        Terms, their counts, and where the terms of each document begin.
    matrix : tuple of int64 array of shape (n_terms + 1,), int32 array, float32 array
        Of each term the terms that it becomes, and how much of each.
    n_targets : int
        Terms of the other vocabulary.
    least : float
        What comes to less is left out.

    Returns
    -------
    As `count_terms`.
    """
    terms, _, offsets = counts
    sizes = np.concatenate([[0], np.cumsum(np.diff(matrix[0])[terms])])
    room = int(sizes[-1])
    out_terms, out_counts = np.empty(room, np.int32), np.empty(room, np.float32)
    out_offsets = np.zeros(len(offsets), np.int64)
    n = _project_many(*counts, *matrix, least, np.zeros(n_targets), out_terms, out_counts, out_offsets)
    return out_terms[:n].copy(), out_counts[:n].copy(), out_offsets


def best_sources(
    counts: Counts, matrix: Matrix, rows: NDArray[np.int64], terms: NDArray[np.int32], n_targets: int
) -> NDArray[np.int32]:
    """Which of a document's own terms brought it most of a term of the other vocabulary.

    Parameters
    ----------
    counts, matrix, n_targets
        As for `project_terms`.
    rows : int64 array, shape (n,)
        Documents; quickest where they are sorted.
    terms : int32 array, shape (n, m)
        Terms of the other vocabulary that are asked for of each; -1 for none.

    Returns
    -------
    sources : int32 array, shape (n, m)
        -1 where no term became this one.
    """
    sources = np.full(terms.shape, -1, np.int32)
    best, most = np.full(n_targets, -1, np.int32), np.zeros(n_targets)
    _best_sources(*counts, *matrix, rows, terms, best, most, sources)
    return sources


@njit(nogil=True, cache=True)
def _best_sources(own, amounts, offsets, starts, targets, shares, rows, terms, best, most, sources):
    open_row = np.int64(-1)
    for i in range(len(rows)):
        if rows[i] != open_row:
            if open_row >= 0:
                _mark_sources(own, amounts, offsets, starts, targets, shares, open_row, best, most, False)
            open_row = rows[i]
            _mark_sources(own, amounts, offsets, starts, targets, shares, open_row, best, most, True)
        for j in range(terms.shape[1]):
            if terms[i, j] >= 0:
                sources[i, j] = best[terms[i, j]]


@njit(nogil=True, cache=True)
def _mark_sources(own, amounts, offsets, starts, targets, shares, row, best, most, is_opened):
    """Note the best source of each target of a document, or take the notes away again."""
    for k in range(offsets[row], offsets[row + 1]):
        for at in range(starts[own[k]], starts[own[k] + 1]):
            target, amount = targets[at], np.float64(amounts[k]) * np.float64(shares[at])
            if not is_opened:
                best[target], most[target] = -1, 0.0
            elif amount > most[target]:
                best[target], most[target] = own[k], amount


@njit(nogil=True, cache=True)
def _count_many(ids, offsets, seen, terms, counts, term_offsets):
    n = 0
    for i in range(len(offsets) - 1):
        first = n
        for k in range(offsets[i], offsets[i + 1]):
            term = ids[k]
            if seen[term] == 0:
                terms[n] = term
                n += 1
            seen[term] += 1
        for k in range(first, n):
            counts[k] = seen[terms[k]]
            seen[terms[k]] = 0
        term_offsets[i + 1] = n
    return n


@njit(nogil=True, cache=True)
def _project_many(terms, counts, offsets, starts, targets, shares, least, sums, out_terms, out_counts, out_offsets):
    n = 0
    for i in range(len(offsets) - 1):
        n = _project_one(
            terms[offsets[i] : offsets[i + 1]], counts[offsets[i] : offsets[i + 1]],
            starts, targets, shares, least, sums, out_terms, out_counts, n,
        )  # fmt: skip
        out_offsets[i + 1] = n
    return n


@njit(nogil=True, cache=True)
def _project_one(terms, counts, starts, targets, shares, least, sums, out_terms, out_counts, n):
    """Add up in a place for each target; then keep what is enough. ``n`` is where to write."""
    touched = n
    for k in range(len(terms)):
        count = np.float64(counts[k])
        for at in range(starts[terms[k]], starts[terms[k] + 1]):
            target = targets[at]
            if sums[target] == 0.0:
                out_terms[touched] = target
                touched += 1
            sums[target] += count * np.float64(shares[at])
    for at in range(n, touched):
        target = out_terms[at]
        if sums[target] >= least:
            out_terms[n], out_counts[n] = target, sums[target]
            n += 1
        sums[target] = 0.0
    return n
