"""Terms of documents: numbered, counted, projected into another vocabulary; products of their weighted vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

Counts = tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]
Matrix = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]
Sparse = tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]
"""Terms, their weights, and the start of each vector: shape (n_vectors + 1,)."""
Block = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32], NDArray[np.int32], NDArray[np.float32]]
_ROOM = 16
"""Number of left vectors whose pairs with a whole block fit the buffer."""


def find_numbers(keys: NDArray[np.uint64], table: NDArray[np.uint32], wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the number of each key, -1 if it has none.

    Parameters
    ----------
    table : uint32 array, shape (a power of two,)
        1 + a number, or 0. The search starts at the upper bits of the key times an odd constant: otherwise sorted keys
        would all fall into one corner of a table that is still small.
    """
    numbers = np.empty(len(wanted), np.int64)
    loops("terms", wanted.nbytes).find_many(*frozen(keys, table, wanted), numbers)
    return numbers


def insert_numbers(
    keys: NDArray[np.uint64], n_keys: int, table: NDArray[np.uint32], wanted: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], int]:
    """Return the number of each key, and how many keys have one now; a new key gets the next number.

    Parameters
    ----------
    keys : uint64 array, written
        With room for all wanted keys after the first ``n_keys``.
    table : uint32 array, shape (a power of two,), written
        At least twice the maximum number of keys.
    """
    numbers = np.empty(len(wanted), np.int64)
    n_keys = loops("terms", wanted.nbytes).insert_many(keys, n_keys, table, *frozen(wanted), numbers)
    return numbers, int(n_keys)


def add_at(counts: NDArray[np.int64], numbers: NDArray[np.int64], added: NDArray[np.int64]) -> None:
    """Add to the counts of these numbers, some of which may occur more than once."""
    loops("terms", numbers.nbytes).add_many(counts, *frozen(numbers, added))


def count_terms(ids: NDArray[np.int32], offsets: NDArray[np.int64], n_terms: int) -> Counts:
    """Return the distinct terms of each document with their counts, in order of first occurrence."""
    room = len(ids)
    terms, counts = np.empty(room, np.int32), np.empty(room, np.float32)
    term_offsets = np.zeros(len(offsets), np.int64)
    kernel = loops("terms", 16 * room)
    n = kernel.count_many(*frozen(ids, offsets), n_terms, terms, counts, term_offsets)
    return terms[:n].copy(), counts[:n].copy(), term_offsets


def project_terms(counts: Counts, matrix: Matrix, n_targets: int, *, least: float) -> Counts:
    """Project the terms of each document into another vocabulary: ``counts`` times ``matrix``.

    Parameters
    ----------
    matrix : tuple of int64 array of shape (n_terms + 1,), int32 array, float32 array
        For each term its target terms, and the share of each.
    """
    terms, _, offsets = counts
    sizes = np.concatenate([[0], np.cumsum(np.diff(matrix[0])[terms])])
    room = int(sizes[-1])
    out_terms, out_counts = np.empty(room, np.int32), np.empty(room, np.float32)
    out_offsets = np.zeros(len(offsets), np.int64)
    own = frozen(*counts, *matrix)
    n = loops("terms", 64 * len(terms)).project_many(*own, n_targets, float(least), out_terms, out_counts, out_offsets)
    return out_terms[:n].copy(), out_counts[:n].copy(), out_offsets


def best_sources(
    counts: Counts, matrix: Matrix, rows: NDArray[np.int64], terms: NDArray[np.int32], n_targets: int
) -> NDArray[np.int32]:
    """Return, for terms of the other vocabulary, the document's own term that contributed most.

    Parameters
    ----------
    rows : int64 array, shape (n,)
        Documents; fastest if they are sorted.
    terms : int32 array, shape (n, m)
        Terms of the other vocabulary for each; -1 for none, as in the result.
    """
    sources = np.full(terms.shape, -1, np.int32)
    own = frozen(*counts, *matrix)
    loops("terms", 1024 * len(rows)).find_sources(*own, n_targets, *frozen(rows, terms), sources)
    return sources


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
    loops("terms", 1024 * len(out)).multiply_many(*frozen(*left, *right, *rows), n_terms, out)
    return out


def best_terms(
    left: Sparse, right: Sparse, rows: tuple[NDArray[np.int64], NDArray[np.int64]], n_terms: int, *, most: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the terms, shape (n_pairs, most), that add most to products, -1 for none, and their shares."""
    n = len(rows[0])
    terms, shares = np.full((n, most), -1, np.int32), np.zeros((n, most), np.float32)
    loops("terms", 1024 * n).find_best_terms(*frozen(*left, *right, *rows), n_terms, terms, shares)
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
    kernel = loops("terms", 16 * len(own))
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
    kernel, own = loops("terms", 64 * (end - row) * n_vectors), frozen(*left, *block)
    pairs, found = np.empty(min(_ROOM, end - row) * n_vectors, np.uint64), [np.zeros(0, np.uint64)]
    while row < end:
        n, row = kernel.near_many(*own, row, end, np.float32(least), pairs)
        found.append(pairs[:n].copy())
    return np.concatenate(found)


def spread_in_block(left: Sparse, rows: tuple[int, int], block: Block, *, n_bins: int) -> NDArray[np.int64]:
    """Count the products of vectors with those of a block in bins of equal width from 0; 1 counts in the last bin."""
    counts = np.zeros(n_bins, np.int64)
    kernel = loops("terms", 64 * (rows[1] - rows[0]) * block[4].shape[1])
    kernel.spread_many(*frozen(*left, *block), *rows, counts)
    return counts
