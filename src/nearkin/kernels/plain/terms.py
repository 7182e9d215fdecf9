"""The plain twins of the loops of `nearkin.kernels.terms`."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from nearkin.kernels.plain.hashing import GOLDEN, MASK


def find_many(keys, table, wanted, numbers):
    numbers[:] = [int(table[_place(keys, table, key)]) - 1 for key in wanted.tolist()]


def insert_many(keys, n_keys, table, wanted, numbers):
    for i, key in enumerate(wanted.tolist()):
        place = _place(keys, table, key)
        if table[place] == 0:
            keys[n_keys] = key
            n_keys += 1
            table[place] = n_keys
        numbers[i] = int(table[place]) - 1
    return n_keys


def add_many(counts, numbers, added):
    np.add.at(counts, numbers, added)


def _place(keys, table, key):
    place = (key * GOLDEN & MASK) >> (65 - len(table).bit_length())
    while table[place] and int(keys[int(table[place]) - 1]) != key:
        place = (place + 1) % len(table)
    return place


def count_many(ids, offsets, n_terms, terms, counts, term_offsets):
    documents = [Counter(ids[start:end].tolist()) for start, end in pairwise(offsets)]
    return _fill(documents, terms, counts, term_offsets)


def project_many(terms, counts, offsets, starts, targets, shares, n_targets, least, out_terms, out_counts, out_offsets):
    documents = []
    for start, end in pairwise(offsets.tolist()):
        sums = {}
        for term, count in zip(terms[start:end].tolist(), counts[start:end].tolist(), strict=True):
            row = slice(int(starts[term]), int(starts[term + 1]))
            for target, share in zip(targets[row].tolist(), shares[row].tolist(), strict=True):
                sums[target] = sums.get(target, 0.0) + count * share
        documents.append({target: total for target, total in sums.items() if total >= least})
    return _fill(documents, out_terms, out_counts, out_offsets)


def find_sources(own, amounts, offsets, starts, targets, shares, n_targets, rows, terms, sources):
    for i, row in enumerate(rows.tolist()):
        most, best = {}, {}
        for k in range(int(offsets[row]), int(offsets[row + 1])):
            term = int(own[k])
            for at in range(int(starts[term]), int(starts[term + 1])):
                amount = float(amounts[k]) * float(shares[at])
                if amount > most.get(int(targets[at]), 0.0):
                    most[int(targets[at])], best[int(targets[at])] = amount, term
        sources[i] = [best.get(term, -1) for term in terms[i].tolist()]


def _fill(documents, terms, counts, offsets):
    n = 0
    for i, one in enumerate(documents):
        first, n = n, n + len(one)
        terms[first:n], counts[first:n] = list(one), list(one.values())
        offsets[i + 1] = n
    return n


def multiply_many(left_terms, left_weights, left_starts, right_terms, right_weights, right_starts, left, right, _, out):
    sides = (left_terms, left_weights, left_starts), (right_terms, right_weights, right_starts)
    for i, shares in enumerate(_shares(*sides, left, right)):
        total = 0.0
        for share in shares.values():
            total += share
        out[i] = total


def find_best_terms(
    left_terms,
    left_weights,
    left_starts,
    right_terms,
    right_weights,
    right_starts,
    left,
    right,
    _n_terms,
    terms,
    shares,
):
    sides = (left_terms, left_weights, left_starts), (right_terms, right_weights, right_starts)
    for i, found in enumerate(_shares(*sides, left, right)):
        positive = [(np.float32(share), term) for term, share in found.items() if np.float32(share) > 0]
        best = sorted(positive, key=lambda one: -one[0])[: terms.shape[1]]  # in a tie the first
        terms[i, : len(best)] = [term for _, term in best]
        shares[i, : len(best)] = [share for share, _ in best]


def fill_block(terms, weights, offsets, first, end, starts, dense_rows, places, held, dense):
    at = starts.tolist()
    for i in range(first, end):
        for k in range(offsets[i], offsets[i + 1]):
            term = terms[k]
            if dense_rows[term] >= 0:
                dense[dense_rows[term], i - first] = weights[k]
            else:
                places[at[term]], held[at[term]] = i - first, weights[k]
                at[term] += 1


def near_many(terms, weights, offsets, starts, places, held, dense_rows, dense, row, end, least, pairs):
    n_pairs = 0
    while row < end and n_pairs + dense.shape[1] <= len(pairs):
        sums = _sums(terms, weights, offsets, row, starts, places, held, dense_rows, dense)
        near = np.flatnonzero(sums >= least).astype(np.uint64)
        pairs[n_pairs : n_pairs + len(near)] = (np.uint64(row) << np.uint64(32)) | near
        n_pairs, row = n_pairs + len(near), row + 1
    return n_pairs, row


def spread_many(terms, weights, offsets, starts, places, held, dense_rows, dense, row, end, counts):
    for own in range(row, end):
        sums = _sums(terms, weights, offsets, own, starts, places, held, dense_rows, dense)
        bins = (sums * np.float32(len(counts))).astype(np.int64)
        counts += np.bincount(np.clip(bins, 0, len(counts) - 1), minlength=len(counts))


def _sums(terms, weights, offsets, row, starts, places, held, dense_rows, dense):
    sums = np.zeros(dense.shape[1], np.float32)
    for k in range(offsets[row], offsets[row + 1]):
        term = terms[k]
        if dense_rows[term] >= 0:
            sums += weights[k] * dense[dense_rows[term]]
        else:
            block = slice(starts[term], starts[term + 1])
            sums[places[block]] += weights[k] * held[block]
    return sums


def _shares(left, right, left_rows, right_rows):
    for a, b in zip(left_rows.tolist(), right_rows.tolist(), strict=True):
        first, second = (slice(side[2][row], side[2][row + 1]) for side, row in ((left, a), (right, b)))
        own = dict(zip(left[0][first].tolist(), left[1][first].tolist(), strict=True))
        other = zip(right[0][second].tolist(), right[1][second].tolist(), strict=True)
        yield {term: own.get(term, 0.0) * weight for term, weight in other}
