"""The plain twins of the loops of `nearkin.kernels.grouping`."""

from __future__ import annotations


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
