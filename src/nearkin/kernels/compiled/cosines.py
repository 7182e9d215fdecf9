"""Sparse vectors of weighted terms multiplied with one another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit

Sparse = tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]
"""Terms, their weights, and where each vector begins: shape (n_vectors + 1,)."""
Block = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32], NDArray[np.int32], NDArray[np.float32]]


def products(
    left: Sparse, right: Sparse, rows: tuple[NDArray[np.int64], NDArray[np.int64]], n_terms: int
) -> NDArray[np.float64]:
    """The products of pairs of vectors.

    Parameters
    ----------
    left, right : Sparse
    rows : tuple of int64 arrays, shape (n_pairs,)
        Of the left one and the right one; quickest where the left rows are sorted.
    n_terms : int

    Returns
    -------
    products : float64 array, shape (n_pairs,)
        Terms are added in the order in which the right vector has them.
    """
    out = np.empty(len(rows[0]))
    _products(*left, *right, *rows, np.zeros(n_terms, np.float32), out)
    return out


def best_terms(
    left: Sparse, right: Sparse, rows: tuple[NDArray[np.int64], NDArray[np.int64]], n_terms: int, *, most: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The terms that add most to the products of pairs.

    Returns
    -------
    terms : int32 array, shape (n_pairs, most)
        The greatest first; -1 where there are no more.
    shares : float32 array, shape (n_pairs, most)
        What each adds.
    """
    terms = np.full((len(rows[0]), most), -1, np.int32)
    shares = np.zeros((len(rows[0]), most), np.float32)
    _best_terms(*left, *right, *rows, np.zeros(n_terms, np.float32), terms, shares)
    return terms, shares


def block_by_terms(vectors: Sparse, first: int, end: int, n_terms: int) -> Block:
    """Some vectors term by term: frequent terms with a number for each vector, the others with those that have them.

    Returns
    -------
    starts : int64 array, shape (n_terms + 1,)
    places, weights : int32 and float32 arrays
        The vectors with each term, counted from ``first``.
    dense_rows : int32 array, shape (n_terms,)
        The row of a frequent term, or -1.
    dense : float32 array, shape (n_dense, end - first)
    """
    terms, weights, offsets = vectors
    own = slice(int(offsets[first]), int(offsets[end]))
    n = end - first
    frequencies = np.bincount(terms[own], minlength=n_terms)
    # a row for each such term must fit the cache; from a sixteenth on was measured to be as quick
    frequent = np.flatnonzero(frequencies * 8 > n) if n >= 64 else np.zeros(0, np.int64)
    dense_rows = np.full(n_terms, -1, np.int32)
    dense_rows[frequent] = np.arange(len(frequent))
    frequencies[frequent] = 0
    starts = np.concatenate([[0], np.cumsum(frequencies)]).astype(np.int64)
    places, held = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    dense = np.zeros((len(frequent), n), np.float32)
    _fill_block(terms, weights, offsets, first, end, starts[:-1].copy(), places, held, dense_rows, dense)
    return starts, places, held, dense_rows, dense


def near_in_block(
    left: Sparse, rows: tuple[int, int], block: Block, *, least: float, pairs: NDArray[np.uint64]
) -> tuple[int, int]:
    """Pairs of a vector and one of a block whose product is at least so much, to the precision of 32-bit numbers.

    Parameters
    ----------
    left : Sparse
    rows : (int, int)
        From the first number on, before the second.
    block : tuple of arrays
        From `block_by_terms`.
    least : float
    pairs : uint64 array
        Room for as many pairs as the block has vectors at least; written from 0 on: the left row in the upper 32 bits,
        the place in the block in the lower.

    Returns
    -------
    n_pairs : int
    next_row : int
        Where to go on; the second of ``rows`` when all is done.
    """
    sums = np.zeros(block[4].shape[1], np.float32)
    n_pairs, row = _near_many(*left, rows[0], rows[1], *block, np.float32(least), sums, pairs)
    return int(n_pairs), int(row)


def spread_in_block(left: Sparse, rows: tuple[int, int], block: Block, counts: NDArray[np.int64]) -> None:
    """Count the products of vectors and those of a block: 1 goes into the last of the bins, of equal width from 0.

    Parameters
    ----------
    left, rows, block
        As for `near_in_block`.
    counts : int64 array, shape (n_bins,), added to
    """
    _spread_many(*left, rows[0], rows[1], *block, np.zeros(block[4].shape[1], np.float32), counts)


@njit(nogil=True, cache=True)
def _spread_many(terms, weights, offsets, row, end, starts, places, held, dense_rows, dense, sums, counts):
    most = len(counts) - 1
    scale = np.float32(len(counts))
    for i in range(row, end):
        _sum_one(
            terms[offsets[i] : offsets[i + 1]], weights[offsets[i] : offsets[i + 1]],
            starts, places, held, dense_rows, dense, sums,
        )  # fmt: skip
        for place in range(len(sums)):
            counts[min(most, max(0, np.int64(sums[place] * scale)))] += 1


@njit(nogil=True, cache=True)
def _products(left_terms, left_weights, left_starts, right_terms, right_weights, right_starts, left, right, dense, out):
    open_row = np.int64(-1)
    for i in range(len(left)):
        if left[i] != open_row:
            open_row = _open(left_terms, left_weights, left_starts, open_row, left[i], dense)
        total = 0.0
        for k in range(right_starts[right[i]], right_starts[right[i] + 1]):
            total += np.float64(dense[right_terms[k]]) * np.float64(right_weights[k])
        out[i] = total
    _open(left_terms, left_weights, left_starts, open_row, np.int64(-1), dense)


@njit(nogil=True, cache=True)
def _best_terms(
    left_terms, left_weights, left_starts, right_terms, right_weights, right_starts, left, right, dense, terms, shares
):
    open_row = np.int64(-1)
    most = terms.shape[1]
    for i in range(len(left)):
        if left[i] != open_row:
            open_row = _open(left_terms, left_weights, left_starts, open_row, left[i], dense)
        for k in range(right_starts[right[i]], right_starts[right[i] + 1]):
            share = dense[right_terms[k]] * right_weights[k]
            at = most
            while at > 0 and share > shares[i, at - 1]:
                at -= 1
            if at < most and share > 0:
                for later in range(most - 1, at, -1):
                    shares[i, later], terms[i, later] = shares[i, later - 1], terms[i, later - 1]
                shares[i, at], terms[i, at] = share, right_terms[k]
    _open(left_terms, left_weights, left_starts, open_row, np.int64(-1), dense)


@njit(inline="always", cache=True)
def _open(terms, weights, starts, was, row, dense):
    """Take one vector out of the array with a place for every term, and put another one in."""
    if was >= 0:
        for k in range(starts[was], starts[was + 1]):
            dense[terms[k]] = 0.0
    if row >= 0:
        for k in range(starts[row], starts[row + 1]):
            dense[terms[k]] = weights[k]
    return row


@njit(nogil=True, cache=True)
def _fill_block(terms, weights, offsets, first, end, at, places, held, dense_rows, dense):
    for i in range(first, end):
        for k in range(offsets[i], offsets[i + 1]):
            term = terms[k]
            if dense_rows[term] >= 0:
                dense[dense_rows[term], i - first] = weights[k]
            else:
                places[at[term]], held[at[term]] = i - first, weights[k]
                at[term] += 1


@njit(nogil=True, cache=True)
def _near_many(terms, weights, offsets, row, end, starts, places, held, dense_rows, dense, least, sums, pairs):
    n_pairs = 0
    while row < end:
        if n_pairs + len(sums) > len(pairs):
            return n_pairs, row
        _sum_one(
            terms[offsets[row] : offsets[row + 1]], weights[offsets[row] : offsets[row + 1]],
            starts, places, held, dense_rows, dense, sums,
        )  # fmt: skip
        for place in range(len(sums)):
            if sums[place] >= least:
                pairs[n_pairs] = (np.uint64(row) << np.uint64(32)) | np.uint64(place)
                n_pairs += 1
        row += 1
    return n_pairs, row


@njit(nogil=True, cache=True)
def _sum_one(terms, weights, starts, places, held, dense_rows, dense, sums):
    sums[:] = 0.0
    for k in range(len(terms)):
        term, weight = terms[k], weights[k]
        if dense_rows[term] >= 0:
            row = dense[dense_rows[term]]
            for place in range(len(sums)):
                sums[place] += weight * row[place]
        else:
            for at in range(starts[term], starts[term + 1]):
                sums[np.uint32(places[at])] += weight * held[at]
