"""Groups from matches: principals and their members, or connected components."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit


def principals(
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    similarity: NDArray[np.float64],
    order: NDArray[np.uint32],
) -> NDArray[np.uint32]:
    """The principal of each row: in order of preference, a row with no principal among its matches becomes one.

    Each other row then belongs to the principal most similar to it, the more preferred if two are equally so.

    Parameters
    ----------
    left, right : uint32 arrays, shape (n_matches,)
    similarity : float64 array, shape (n_matches,)
    order : uint32 array, shape (n_rows,)
        All rows, the most preferred first.

    Returns
    -------
    principal : uint32 array, shape (n_rows,)
    """
    starts, neighbours, likeness = _adjacency(left, right, similarity, len(order))
    rank = np.empty(len(order), np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    is_principal = np.zeros(len(order), np.bool_)
    principal = np.arange(len(order), dtype=np.uint32)
    _choose_principals(starts, neighbours, order, is_principal)
    _assign_members(starts, neighbours, likeness, rank, is_principal, principal)
    return principal


def components(left: NDArray[np.uint32], right: NDArray[np.uint32], n_rows: int) -> NDArray[np.uint32]:
    """The least row of each row's connected component, shape (n_rows,)."""
    parent = np.arange(n_rows, dtype=np.uint32)
    _unite(left, right, parent)
    return parent


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
def _unite(left, right, parent):
    """Union-find with path halving; the lesser root wins, so the answer does not depend on the order of the matches."""
    for i in range(len(left)):
        a, b = _root(parent, left[i]), _root(parent, right[i])
        if a != b:
            parent[max(a, b)] = min(a, b)
    for row in range(len(parent)):
        parent[row] = _root(parent, np.uint32(row))


@njit(nogil=True, cache=True)
def _root(parent, row):
    while parent[row] != row:
        parent[row] = parent[parent[row]]
        row = parent[row]
    return row
