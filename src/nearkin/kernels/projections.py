"""Bits made from weighted features: each feature votes for or against every bit, and the majority decides.

A bit is 1 if the sum is greater than 0. Weights are integers, so the order of summation does not matter.
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
    row_of, weights : int64, and int32 or int64 arrays, shape (n_features,)
        Row of each feature of each document, and its votes.
    offsets : int64 array, shape (n_documents + 1,)

    Returns
    -------
    bits : uint32 array, shape (n_documents, n_words)

    Examples
    --------
    >>> rows = np.array([[0b011], [0b101]], np.uint32)
    >>> votes = np.array([2, 1], np.int64)
    >>> bin(project_rows(rows, np.array([0, 1]), votes, np.array([0, 2]))[0, 0])  # the first has more votes
    '0b11'
    """
    bits = np.empty((len(offsets) - 1, rows.shape[1]), np.uint32)
    kernel = loops("projections", row_of.nbytes)
    kernel.sum_rows(*frozen(rows, row_of, weights, offsets), bits)
    return bits


def project_hashes(
    hashes: NDArray[np.uint64], weights: Weights, offsets: NDArray[np.int64], *, n_words: int, seed: int
) -> NDArray[np.uint32]:
    """Sum vectors of +1 and -1 that are generated from the hash of each feature.

    Parameters
    ----------
    hashes, weights : uint64, and int32 or int64 arrays, shape (n_features,)
    offsets : int64 array, shape (n_documents + 1,)
    n_words : int
        Number of 32-bit words.
    seed : int
        In [0, 2**64).

    Returns
    -------
    bits : uint32 array, shape (n_documents, n_words)
    """
    bits = np.empty((len(offsets) - 1, n_words), np.uint32)
    kernel = loops("projections", hashes.nbytes)
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
    """Sum vectors of 0, +1 and -1 that are generated from the hash of each feature.

    The ``n_bits`` places are cut into ``n_nonzero`` stretches, each with one place that is not 0: its position and sign
    are drawn uniformly.

    Returns
    -------
    packed : uint8 array, shape (n_documents, n_bits // 8)
        As in `records.BitSignatures`.

    Examples
    --------
    >>> one = project_sparse(np.array([5], np.uint64), np.array([1]), np.array([0, 1]), n_bits=64, n_nonzero=8, seed=0)
    >>> one.shape
    (1, 8)
    """
    packed = np.zeros((len(offsets) - 1, n_bits // 8), np.uint8)
    edges = np.arange(n_nonzero + 1) * n_bits // n_nonzero
    kernel = loops("projections", hashes.nbytes)
    kernel.sum_sparse(*frozen(hashes, weights, offsets, edges), np.uint64(seed), packed)
    return packed


def logarithms(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return natural logarithms of integers >= 1 in units of 2**-20, the same on every machine.

    Uses only additions, multiplications and divisions, which IEEE 754 rounds alike everywhere; the error is that of the
    final rounding.

    Examples
    --------
    >>> (logarithms(np.array([1, 2, 10])) / 2**20).round(6).tolist()
    [0.0, 0.693147, 2.302585]
    """
    out = np.empty(len(numbers), np.int64)
    loops("projections", numbers.nbytes).fill_logarithms(*frozen(numbers), out)
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
    counts, numbers : uint32 and int64 arrays, shape (n_features,)
        Occurrences of the features of each document, and their positions in ``occurrences``.
    offsets : int64 array, shape (n_documents + 1,)
    occurrences : int64 array, written
        Occurrences of each feature so far.
    n_occurrences : int
        Total before the first of these documents.

    Returns
    -------
    weights : int64 array, shape (n_features,)
        ``ln((tf / |d|) / (cf / |C|))`` in units of 2**-20.

    Examples
    --------
    >>> occurrences = np.zeros(2, np.int64)
    >>> counts, numbers = np.array([1, 1, 1], np.uint32), np.array([0, 0, 1])
    >>> weights = growing_weights(counts, numbers, np.array([0, 1, 3]), occurrences, 0)
    >>> (weights / 2**20).round(3).tolist(), occurrences.tolist()  # ln 1; ln (1/2) / (2/3), ln (1/2) / (1/3)
    ([0.0, -0.288, 0.405], [2, 1])
    """
    weights = np.empty(len(counts), np.int64)
    kernel, own = loops("projections", numbers.nbytes), frozen(counts, numbers, offsets)
    kernel.weigh_growing(*own, occurrences, n_occurrences, weights)
    return weights
