"""Loops of `nearkin.kernels.grouping`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.jit import njit


@njit(nogil=True, cache=True)
def assign_principals(left, right, similarity, order, principal):
    starts, neighbours, likeness = _adjacency(left, right, similarity, len(order))
    rank = np.empty(len(order), np.uint32)
    for i in range(len(order)):
        rank[order[i]] = i
    is_principal = np.zeros(len(order), np.bool_)
    _choose_principals(starts, neighbours, order, is_principal)
    _assign_members(starts, neighbours, likeness, rank, is_principal, principal)


@njit(nogil=True, cache=True)
def unite(left, right, parent):
    """Union-find with path halving; the lower root wins, so the result does not depend on the order of the matches."""
    for i in range(len(left)):
        a, b = _root(parent, left[i]), _root(parent, right[i])
        if a != b:
            parent[max(a, b)] = min(a, b)
    for row in range(len(parent)):
        parent[row] = _root(parent, np.uint32(row))


@njit(nogil=True, cache=True)
def _adjacency(left, right, similarity, n_rows):
    """Compressed rows: the neighbours of i are neighbours[starts[i]:starts[i + 1]]."""
    starts = np.zeros(n_rows + 1, np.int64)
    for i in range(len(left)):
        starts[left[i] + 1] += 1
        starts[right[i] + 1] += 1
    for i in range(n_rows):
        starts[i + 1] += starts[i]
    fill = starts[:-1].copy()
    neighbours = np.empty(2 * len(left), np.uint32)
    likeness = np.empty(2 * len(left), np.float64)
    for i in range(len(left)):
        a, b = left[i], right[i]
        neighbours[fill[a]], likeness[fill[a]] = b, similarity[i]
        neighbours[fill[b]], likeness[fill[b]] = a, similarity[i]
        fill[a] += 1
        fill[b] += 1
    return starts, neighbours, likeness


@njit(nogil=True, cache=True)
def _choose_principals(starts, neighbours, order, is_principal):
    for i in range(len(order)):
        row = order[i]
        is_free = True
        for j in range(starts[row], starts[row + 1]):
            if is_principal[neighbours[j]]:
                is_free = False
                break
        is_principal[row] = is_free


@njit(nogil=True, cache=True)
def _assign_members(starts, neighbours, likeness, rank, is_principal, principal):
    for row in range(len(principal)):
        if is_principal[row]:
            continue
        best = -1.0
        for j in range(starts[row], starts[row + 1]):
            other = neighbours[j]
            is_better = likeness[j] > best or (likeness[j] == best and rank[other] < rank[principal[row]])
            if is_principal[other] and is_better:
                best = likeness[j]
                principal[row] = other


@njit(nogil=True, cache=True)
def _root(parent, row):
    while parent[row] != row:
        parent[row] = parent[parent[row]]
        row = parent[row]
    return row
