"""Bits made from weighted features, and the sorting of bit strings by their bits in another order.

Each feature votes for or against every bit, and the majority decides. Weights are integers, so the order of summation
does not matter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

Weights = NDArray[np.int32] | NDArray[np.int64]


def project_rows(
    rows: NDArray[np.uint32], row_of: NDArray[np.int64], weights: Weights, offsets: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """Sum the vectors of a table.

    Parameters
    ----------
    rows : uint32 array, shape (n_rows, n_words)
        The bits of each vector: 1 is a vote for, 0 one against.
    """
    bits = np.empty((len(offsets) - 1, rows.shape[1]), np.uint32)
    kernel = loops("signatures", row_of.nbytes)
    kernel.sum_rows(*frozen(rows, row_of, weights, offsets), bits)
    return bits


def project_hashes(
    hashes: NDArray[np.uint64], weights: Weights, offsets: NDArray[np.int64], *, n_words: int, seed: int
) -> NDArray[np.uint32]:
    """Sum vectors of +1 and -1 that are generated from the hash of each feature."""
    bits = np.empty((len(offsets) - 1, n_words), np.uint32)
    kernel = loops("signatures", hashes.nbytes)
    kernel.sum_hashes(*frozen(hashes, weights, offsets), np.uint64(seed), bits)
    return bits


def project_sparse(
    hashes: NDArray[np.uint64],
    weights: Weights,
    offsets: NDArray[np.int64],
    *,
    n_bits: int,
    n_nonzero: int,
    seed: int,
) -> NDArray[np.uint8]:
    """Sum vectors of 0, +1 and -1 that are generated from the hash of each feature."""
    packed = np.zeros((len(offsets) - 1, n_bits // 8), np.uint8)
    edges = np.arange(n_nonzero + 1) * n_bits // n_nonzero
    kernel = loops("signatures", hashes.nbytes)
    kernel.sum_sparse(*frozen(hashes, weights, offsets, edges), np.uint64(seed), packed)
    return packed


def logarithms(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return natural logarithms of integers >= 1 in units of 2**-20, the same on every machine."""
    out = np.empty(len(numbers), np.int64)
    loops("signatures", numbers.nbytes).fill_logarithms(*frozen(numbers), out)
    return out


def growing_weights(
    counts: NDArray[np.uint32],
    numbers: NDArray[np.int64],
    offsets: NDArray[np.int64],
    occurrences: NDArray[np.int64],
    n_occurrences: int,
) -> NDArray[np.int64]:
    """Weight features by the documents so far: each document is counted, then weighted, before the next.

    Parameters
    ----------
    numbers : int64 array, shape (n_features,)
        Positions of the features of each document in ``occurrences``.

    Returns
    -------
    weights : int64 array, shape (n_features,)
        ``ln((tf / |d|) / (cf / |C|))`` in units of 2**-20.
    """
    weights = np.empty(len(counts), np.int64)
    kernel, own = loops("signatures", numbers.nbytes), frozen(counts, numbers, offsets)
    kernel.weigh_growing(*own, occurrences, n_occurrences, weights)
    return weights


def leading_bits(words: NDArray[np.uint64], order: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return up to 64 bits of each string, the first as the highest: the sort key for strings with permuted bits.

    Bit ``j`` of a string is bit ``j % 64`` of word ``j // 64``, counted from the lowest.
    """
    leading = np.zeros(len(words), np.uint64)
    loops("signatures", words.nbytes).take_bits(*frozen(words, order), leading)
    return leading


def order_of(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the indices that sort keys below 2**32 in ascending order; equal keys keep their order."""
    order: NDArray[np.int64] = loops("signatures", keys.nbytes).order_of(*frozen(keys))
    return order
