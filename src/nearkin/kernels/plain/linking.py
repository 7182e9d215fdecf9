"""The plain twins of the loops of `nearkin.kernels.linking`."""

from __future__ import annotations

from itertools import groupby, islice, pairwise, takewhile

import numpy as np

from nearkin.kernels.linking import NO_ROW
from nearkin.kernels.plain.hashing import mix


def sort_by_key(keys, rows):
    order = np.argsort(keys, kind="stable")
    return keys[order], rows[order]


def link_many(keys, rows, sizes, sides, start, min_size_ratio, max_pivots, max_pairs, pairs):
    n_pairs = n_not_compared = 0
    for _, run in groupby(range(start, len(keys)), key=lambda i: int(keys[i])):
        members = [int(rows[i]) for i in run]
        n_leads = len(list(takewhile(lambda row: not sides[row] & 4, members)))
        pivots = min(n_leads, max_pivots, max(1, max_pairs // len(members)))
        linked, possible = (
            [(a, b) for i, a in enumerate(members[:n_first]) for b in members[i + 1 :]] for n_first in (pivots, n_leads)
        )
        if n_pairs + len(linked) > len(pairs):
            break
        start += len(members)
        n_not_compared += sum(_is_crossing(sides, a, b) for a, b in possible[len(linked) :])
        for a, b in linked:
            small, large = sorted((int(sizes[a]), int(sizes[b])))
            if a != b and _is_crossing(sides, a, b) and small >= min_size_ratio * large:
                pairs[n_pairs] = (min(a, b) << 32) | max(a, b)
                n_pairs += 1
    return n_pairs, start, n_not_compared


def _is_crossing(sides, a, b):
    return bool((sides[a] & 1 and sides[b] & 2) or (sides[a] & 2 and sides[b] & 1))


def prefix_many(hashes, offsets, counts, lengths, shift, elements):
    found = []
    for (start, end), length in zip(pairwise(offsets), lengths, strict=True):
        one = [int(h) for h in hashes[start:end]]
        found += sorted(one, key=lambda h: (counts[h >> shift], h))[:length]
    elements[:] = found


def mark_many(hashes, shift, bitmap):
    bits = hashes >> np.uint64(shift)
    np.bitwise_or.at(bitmap, bits >> np.uint64(3), np.uint8(1) << (bits & np.uint64(7)).astype(np.uint8))


def find_marked(hashes, shift, bitmap, found):
    bits = hashes >> np.uint64(shift)
    found[:] = bitmap[bits >> np.uint64(3)] >> (bits & np.uint64(7)).astype(np.uint8) & 1


def find_and_add_one(keys, row, heads, previous, most, buffer):
    found, n_cut = [], 0
    for j in range(keys.shape[1]):
        _add(keys, row, j, heads, previous)
        chain = list(islice(_before(row, previous[:, j]), most + 1))
        found += chain[:most]
        n_cut += len(chain) > most
    buffer[: len(found)] = found
    return len(found), n_cut


def add_many(keys, n_rows, heads, previous):
    for row in range(n_rows):
        for j in range(keys.shape[1]):
            _add(keys, row, j, heads, previous)


def _add(keys, row, j, heads, previous):
    mask = heads.shape[1] - 1
    place = mix(int(keys[row, j])) & mask
    while heads[j, place] != NO_ROW and keys[heads[j, place], j] != keys[row, j]:
        place = (place + 1) & mask
    previous[row, j], heads[j, place] = heads[j, place], row


def _before(row, previous):
    while (row := int(previous[row])) != NO_ROW:
        yield row


def assign_principals(left, right, similarity, order, principal):
    likeness = [{} for _ in order]
    for a, b, value in zip(left.tolist(), right.tolist(), similarity.tolist(), strict=True):
        likeness[a][b] = likeness[b][a] = value
    rank = {row: i for i, row in enumerate(order.tolist())}
    chosen = set()
    for row in order.tolist():
        if not chosen & likeness[row].keys():
            chosen.add(row)
    for row in rank.keys() - chosen:
        principal[row] = min(chosen & likeness[row].keys(), key=lambda other: (-likeness[row][other], rank[other]))


def unite(left, right, parent):
    before = None
    while before is None or (parent != before).any():
        before = parent.copy()
        for a, b in zip(left, right, strict=True):
            parent[a] = parent[b] = min(parent[a], parent[b])
        parent[:] = parent[parent]  # otherwise a long chain would take a pass for each of its links
