"""Loops of `nearkin.kernels.cosines`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.jit import njit


@njit(nogil=True, cache=True)
def spread_many(terms, weights, offsets, starts, places, held, dense_rows, dense, row, end, counts):
    most, sums = len(counts) - 1, np.empty(dense.shape[1], np.float32)
    scale = np.float32(len(counts))
    for i in range(row, end):
        _sum_one(
            terms[offsets[i] : offsets[i + 1]], weights[offsets[i] : offsets[i + 1]],
            starts, places, held, dense_rows, dense, sums,
        )  # fmt: skip
        for place in range(len(sums)):
            counts[min(most, max(0, np.int64(sums[place] * scale)))] += 1


@njit(nogil=True, cache=True)
def multiply_many(
    left_terms, left_weights, left_starts, right_terms, right_weights, right_starts, left, right, n_terms, out
):
    dense, open_row = np.zeros(n_terms, np.float32), np.int64(-1)
    for i in range(len(left)):
        if left[i] != open_row:
            open_row = _open(left_terms, left_weights, left_starts, open_row, left[i], dense)
        total = 0.0
        for k in range(right_starts[right[i]], right_starts[right[i] + 1]):
            total += np.float64(dense[right_terms[k]]) * np.float64(right_weights[k])
        out[i] = total


@njit(nogil=True, cache=True)
def find_best_terms(
    left_terms, left_weights, left_starts, right_terms, right_weights, right_starts, left, right, n_terms, terms, shares
):
    dense, open_row = np.zeros(n_terms, np.float32), np.int64(-1)
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


@njit(inline="always", cache=True)
def _open(terms, weights, starts, was, row, dense):
    """Replace one vector by another in the array with a place for every term."""
    if was >= 0:
        for k in range(starts[was], starts[was + 1]):
            dense[terms[k]] = 0.0
    for k in range(starts[row], starts[row + 1]):
        dense[terms[k]] = weights[k]
    return row


@njit(nogil=True, cache=True)
def fill_block(terms, weights, offsets, first, end, starts, dense_rows, places, held, dense):
    at = starts.copy()
    for i in range(first, end):
        for k in range(offsets[i], offsets[i + 1]):
            term = terms[k]
            if dense_rows[term] >= 0:
                dense[dense_rows[term], i - first] = weights[k]
            else:
                places[at[term]], held[at[term]] = i - first, weights[k]
                at[term] += 1


@njit(nogil=True, cache=True)
def near_many(terms, weights, offsets, starts, places, held, dense_rows, dense, row, end, least, pairs):
    n_pairs, sums = 0, np.empty(dense.shape[1], np.float32)
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
