"""Loops of `nearkin.kernels.terms`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.basics import GOLDEN, njit


@njit(nogil=True, cache=True)
def find_many(keys, table, wanted, numbers):
    mask = np.uint64(len(table) - 1)
    shift = np.uint64(_free_bits(len(table)))
    for i in range(len(wanted)):
        place = (wanted[i] * GOLDEN) >> shift
        entry = table[place]
        while entry != np.uint32(0) and keys[np.int64(entry) - 1] != wanted[i]:
            place = (place + np.uint64(1)) & mask
            entry = table[place]
        numbers[i] = np.int64(entry) - 1


@njit(nogil=True, cache=True)
def insert_many(keys, n_keys, table, wanted, numbers):
    mask = np.uint64(len(table) - 1)
    shift = np.uint64(_free_bits(len(table)))
    for i in range(len(wanted)):
        place = (wanted[i] * GOLDEN) >> shift
        entry = table[place]
        while entry != np.uint32(0) and keys[np.int64(entry) - 1] != wanted[i]:
            place = (place + np.uint64(1)) & mask
            entry = table[place]
        if entry == np.uint32(0):
            keys[n_keys] = wanted[i]
            n_keys += 1
            entry = np.uint32(n_keys)
            table[place] = entry
        numbers[i] = np.int64(entry) - 1
    return n_keys


@njit(nogil=True, cache=True)
def add_many(counts, numbers, added):
    for i in range(len(numbers)):
        counts[numbers[i]] += added[i]


@njit(cache=True)
def _free_bits(size):
    bits = 64
    while size > 1:
        size >>= 1
        bits -= 1
    return bits


@njit(nogil=True, cache=True)
def find_sources(own, amounts, offsets, starts, targets, shares, n_targets, rows, terms, sources):
    best, most = np.full(n_targets, -1, np.int32), np.zeros(n_targets)
    open_row = np.int64(-1)
    for i in range(len(rows)):
        if rows[i] != open_row:
            if open_row >= 0:
                _mark_sources(own, amounts, offsets, starts, targets, shares, open_row, best, most, np.bool_(False))
            open_row = rows[i]
            _mark_sources(own, amounts, offsets, starts, targets, shares, open_row, best, most, np.bool_(True))
        for j in range(terms.shape[1]):
            if terms[i, j] >= 0:
                sources[i, j] = best[terms[i, j]]


@njit(nogil=True, cache=True)
def _mark_sources(own, amounts, offsets, starts, targets, shares, row, best, most, is_opened):
    for k in range(offsets[row], offsets[row + 1]):
        for at in range(starts[own[k]], starts[own[k] + 1]):
            target, amount = targets[at], np.float64(amounts[k]) * np.float64(shares[at])
            if not is_opened:
                best[target], most[target] = -1, 0.0
            elif amount > most[target]:
                best[target], most[target] = own[k], amount


@njit(nogil=True, cache=True)
def count_many(ids, offsets, n_terms, terms, counts, term_offsets):
    seen = np.zeros(n_terms, np.int32)
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
def project_many(terms, counts, offsets, starts, targets, shares, n_targets, least, out_terms, out_counts, out_offsets):
    sums = np.zeros(n_targets)
    n = np.int64(0)
    for i in range(len(offsets) - 1):
        n = _project_one(
            terms[offsets[i] : offsets[i + 1]], counts[offsets[i] : offsets[i + 1]],
            starts, targets, shares, least, sums, out_terms, out_counts, n,
        )  # fmt: skip
        out_offsets[i + 1] = n
    return n


@njit(nogil=True, cache=True)
def _project_one(terms, counts, starts, targets, shares, least, sums, out_terms, out_counts, n):
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
