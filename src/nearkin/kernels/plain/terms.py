"""The plain twins of the loops of `nearkin.kernels.terms`."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise


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
