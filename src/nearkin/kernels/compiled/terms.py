"""Loops of `nearkin.kernels.terms`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.jit import njit


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
