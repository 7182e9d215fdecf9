"""Products of sparse vectors of weighted terms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

Sparse = tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]
"""Terms, their weights, and the start of each vector: shape (n_vectors + 1,)."""
Block = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32], NDArray[np.int32], NDArray[np.float32]]
_ROOM = 16
"""Number of left vectors whose pairs with a whole block fit the buffer."""


def products(
    left: Sparse, right: Sparse, rows: tuple[NDArray[np.int64], NDArray[np.int64]], n_terms: int
) -> NDArray[np.float64]:
    """Return the products of pairs of vectors; ``rows`` are fastest if the left ones are sorted.

    Returns
    -------
    products : float64 array, shape (n_pairs,)
        Terms are added in the order of the right vector.
    """
    out = np.empty(len(rows[0]))
    loops("cosines", 1024 * len(out)).multiply_many(*frozen(*left, *right, *rows), n_terms, out)
    return out


def best_terms(
    left: Sparse, right: Sparse, rows: tuple[NDArray[np.int64], NDArray[np.int64]], n_terms: int, *, most: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the terms, shape (n_pairs, most), that add most to products, -1 for none, and their shares."""
    n = len(rows[0])
    terms, shares = np.full((n, most), -1, np.int32), np.zeros((n, most), np.float32)
    loops("cosines", 1024 * n).find_best_terms(*frozen(*left, *right, *rows), n_terms, terms, shares)
    return terms, shares


def block_by_terms(vectors: Sparse, first: int, end: int, n_terms: int) -> Block:
    """Invert some vectors: frequent terms get a number for each vector, the others a list of the vectors with them.

    Returns
    -------
    starts : int64 array, shape (n_terms + 1,)
    places, weights : int32 and float32 arrays
        The vectors with each term, numbered from ``first``.
    dense_rows : int32 array, shape (n_terms,)
        The row of a frequent term, or -1.
    """
    terms, _, offsets = vectors
    own, n = terms[offsets[first] : offsets[end]], end - first
    frequencies = np.bincount(own, minlength=n_terms)
    # a row for each such term must fit the cache; one sixteenth was measured to be as fast
    frequent = np.flatnonzero(frequencies * 8 > n) if n >= 64 else np.zeros(0, np.int64)
    dense_rows = np.full(n_terms, -1, np.int32)
    dense_rows[frequent] = np.arange(len(frequent))
    frequencies[frequent] = 0
    starts = np.concatenate([[0], np.cumsum(frequencies)]).astype(np.int64)
    places, weights = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    dense = np.zeros((len(frequent), n), np.float32)
    kernel = loops("cosines", 16 * len(own))
    kernel.fill_block(*frozen(*vectors), first, end, *frozen(starts, dense_rows), places, weights, dense)
    return starts, places, weights, dense_rows, dense


def near_in_block(left: Sparse, rows: tuple[int, int], block: Block, *, least: float) -> NDArray[np.uint64]:
    """Return the pairs with at least this product, in 32-bit precision, of left vectors ``rows[0]`` to ``rows[1]``.

    Returns
    -------
    pairs : uint64 array, shape (n_pairs,)
        Ascending: the left row in the upper 32 bits, the position in the block in the lower.
    """
    (row, end), n_vectors = rows, block[4].shape[1]
    kernel, own = loops("cosines", 64 * (end - row) * n_vectors), frozen(*left, *block)
    pairs, found = np.empty(min(_ROOM, end - row) * n_vectors, np.uint64), [np.zeros(0, np.uint64)]
    while row < end:
        n, row = kernel.near_many(*own, row, end, np.float32(least), pairs)
        found.append(pairs[:n].copy())
    return np.concatenate(found)


def spread_in_block(left: Sparse, rows: tuple[int, int], block: Block, *, n_bins: int) -> NDArray[np.int64]:
    """Count the products of vectors with those of a block in bins of equal width from 0; 1 counts in the last bin."""
    counts = np.zeros(n_bins, np.int64)
    kernel = loops("cosines", 64 * (rows[1] - rows[0]) * block[4].shape[1])
    kernel.spread_many(*frozen(*left, *block), *rows, counts)
    return counts
