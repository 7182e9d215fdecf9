"""The twin of ``compiled.cosines``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Sparse = tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]
Block = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32], NDArray[np.int32], NDArray[np.float32]]


def products(
    left: Sparse, right: Sparse, rows: tuple[NDArray[np.int64], NDArray[np.int64]], n_terms: int
) -> NDArray[np.float64]:
    """See ``compiled.cosines.products``.

    Examples
    --------
    >>> one = np.array([3, 1], np.int32), np.array([0.5, 2.0], np.float32), np.array([0, 2])
    >>> products(one, one, (np.array([0]), np.array([0])), 4).tolist()
    [4.25]
    """
    out = np.empty(len(rows[0]))
    for i, shares in enumerate(_shares(left, right, rows)):
        total = 0.0
        for share in shares.values():
            total += share
        out[i] = total
    return out


def best_terms(
    left: Sparse, right: Sparse, rows: tuple[NDArray[np.int64], NDArray[np.int64]], n_terms: int, *, most: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """See ``compiled.cosines.best_terms``.

    Examples
    --------
    >>> one = np.array([3, 1], np.int32), np.array([0.5, 2.0], np.float32), np.array([0, 2])
    >>> terms, shares = best_terms(one, one, (np.array([0]), np.array([0])), 4, most=1)
    >>> terms.tolist(), shares.tolist()
    ([[1]], [[4.0]])
    """
    terms = np.full((len(rows[0]), most), -1, np.int32)
    shares = np.zeros((len(rows[0]), most), np.float32)
    for i, found in enumerate(_shares(left, right, rows)):
        positive = [(np.float32(share), term) for term, share in found.items() if np.float32(share) > 0]
        best = sorted(positive, key=lambda one: -one[0])[:most]  # of equal shares the one that comes first
        terms[i, : len(best)] = [term for _, term in best]
        shares[i, : len(best)] = [share for share, _ in best]
    return terms, shares


def block_by_terms(vectors: Sparse, first: int, end: int, n_terms: int) -> Block:
    """See ``compiled.cosines.block_by_terms``; here no term is frequent.

    Examples
    --------
    >>> one = np.array([3, 1], np.int32), np.array([0.5, 2.0], np.float32), np.array([0, 2])
    >>> starts, places, weights, _, _ = block_by_terms(one, 0, 1, 4)
    >>> starts.tolist(), places.tolist(), weights.tolist()
    ([0, 0, 1, 1, 2], [0, 0], [2.0, 0.5])
    """
    terms, weights, offsets = vectors
    own = slice(int(offsets[first]), int(offsets[end]))
    documents = np.repeat(np.arange(end - first, dtype=np.int32), np.diff(offsets[first : end + 1]))
    order = np.argsort(terms[own], kind="stable")
    starts = np.searchsorted(terms[own][order], np.arange(n_terms + 1)).astype(np.int64)
    none = np.full(n_terms, -1, np.int32)
    return starts, documents[order], weights[own][order], none, np.zeros((0, end - first), np.float32)


def near_in_block(
    left: Sparse, rows: tuple[int, int], block: Block, *, least: float, pairs: NDArray[np.uint64]
) -> tuple[int, int]:
    """See ``compiled.cosines.near_in_block``.

    Examples
    --------
    >>> one = np.array([3, 1], np.int32), np.array([0.5, 2.0], np.float32), np.array([0, 2])
    >>> near_in_block(one, (0, 1), block_by_terms(one, 0, 1, 4), least=4.0, pairs=np.zeros(1, np.uint64))
    (1, 1)
    """
    dense = block[4]
    n_pairs = 0
    for row in range(*rows):
        if n_pairs + dense.shape[1] > len(pairs):
            return n_pairs, row
        near = np.flatnonzero(_sums(left, row, block) >= np.float32(least)).astype(np.uint64)
        pairs[n_pairs : n_pairs + len(near)] = (np.uint64(row) << np.uint64(32)) | near
        n_pairs += len(near)
    return n_pairs, rows[1]


def spread_in_block(left: Sparse, rows: tuple[int, int], block: Block, counts: NDArray[np.int64]) -> None:
    """See ``compiled.cosines.spread_in_block``.

    Examples
    --------
    >>> one = np.array([3, 1], np.int32), np.array([0.5, 0.5], np.float32), np.array([0, 2])
    >>> counts = np.zeros(4, np.int64)
    >>> spread_in_block(one, (0, 1), block_by_terms(one, 0, 1, 4), counts)
    >>> counts.tolist()
    [0, 0, 1, 0]
    """
    for row in range(*rows):
        sums = _sums(left, row, block)
        bins = (sums * np.float32(len(counts))).astype(np.int64)
        counts += np.bincount(np.clip(bins, 0, len(counts) - 1), minlength=len(counts))


def _sums(left: Sparse, row: int, block: Block) -> NDArray[np.float32]:
    terms, weights, offsets = left
    starts, places, held, dense_rows, dense = block
    sums = np.zeros(dense.shape[1], np.float32)
    for k in range(int(offsets[row]), int(offsets[row + 1])):
        term = int(terms[k])
        if dense_rows[term] >= 0:
            sums += weights[k] * dense[dense_rows[term]]
        else:
            own = slice(int(starts[term]), int(starts[term + 1]))
            sums[places[own]] += weights[k] * held[own]
    return sums


def _shares(left: Sparse, right: Sparse, rows: tuple[NDArray[np.int64], NDArray[np.int64]]) -> list[dict[int, float]]:
    """Of each pair what each term of the right vector adds."""
    found = []
    for a, b in zip(*(side.tolist() for side in rows), strict=True):
        first, second = (slice(int(side[2][row]), int(side[2][row + 1])) for side, row in ((left, a), (right, b)))
        own = dict(zip(left[0][first].tolist(), left[1][first].tolist(), strict=True))
        other = zip(right[0][second].tolist(), right[1][second].tolist(), strict=True)
        found.append({term: own.get(term, 0.0) * weight for term, weight in other})
    return found
