"""Weighted features to bits: each feature votes for or against every bit, and the majority decides.

A bit is 1 where the sum is greater than 0. Weights are integers, so that no order of summation changes a bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import GOLDEN, mix

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
        The row of each feature of each document, and its votes.
    offsets : int64 array, shape (n_documents + 1,)

    Returns
    -------
    bits : uint32 array, shape (n_documents, n_words)
    """
    bits = np.empty((len(offsets) - 1, rows.shape[1]), np.uint32)
    _project_rows(rows, row_of, weights, offsets, np.zeros(32 * rows.shape[1], weights.dtype), bits)
    return bits


def project_hashes(
    hashes: NDArray[np.uint64], weights: Weights, offsets: NDArray[np.int64], *, n_words: int, seed: int
) -> NDArray[np.uint32]:
    """Sum vectors of +1 and -1 that are made from the hash of each feature as they are needed.

    Parameters
    ----------
    hashes, weights : uint64, and int32 or int64 arrays, shape (n_features,)
    offsets : int64 array, shape (n_documents + 1,)
    n_words : int
        32 bits each.
    seed : int
        In [0, 2**64).

    Returns
    -------
    bits : uint32 array, shape (n_documents, n_words)
    """
    bits = np.empty((len(offsets) - 1, n_words), np.uint32)
    sums = np.zeros(32 * n_words, weights.dtype)
    _project_hashes(hashes, weights, offsets, np.uint64(seed), sums, np.empty(n_words + 1, np.uint32), bits)
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
    """Sum vectors of 0, +1 and -1 that are made from the hash of each feature.

    The ``n_bits`` places are cut into ``n_nonzero`` stretches, and in each of them one place is not 0: it is drawn
    evenly, and so is its sign.

    Returns
    -------
    packed : uint8 array, shape (n_documents, n_bits // 8)
        As in `records.BitSignatures`.
    """
    packed = np.zeros((len(offsets) - 1, n_bits // 8), np.uint8)
    edges = np.arange(n_nonzero + 1) * n_bits // n_nonzero
    _project_sparse(hashes, weights, offsets, edges, np.uint64(seed), np.zeros(n_bits, weights.dtype), packed)
    return packed


def least_rows(
    rows: NDArray[np.uint64], row_of: NDArray[np.int64], offsets: NDArray[np.int64], *, n_parts: int
) -> NDArray[np.uint64]:
    """The least of the rows of a document's features, part by part.

    Parameters
    ----------
    rows : uint64 array, shape (n_rows, n_words)
        Each of ``n_parts`` parts of equal length; parts compare word by word.
    row_of : int64 array, shape (n_features,)
    offsets : int64 array, shape (n_documents + 1,)
    n_parts : int

    Returns
    -------
    least : uint64 array, shape (n_documents, n_words)
        All ones for a document without features.
    """
    least = np.empty((len(offsets) - 1, rows.shape[1]), np.uint64)
    _least_rows(rows, row_of, offsets, rows.shape[1] // n_parts, least)
    return least


def logarithms(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Natural logarithms of integers >= 1 in units of 2**-20, the same on every machine.

    Only additions, multiplications and divisions, which IEEE 754 rounds alike everywhere; the error is that of the
    last rounding.
    """
    out = np.empty(len(numbers), np.int64)
    _logarithms(numbers, out)
    return out


def growing_weights(
    counts: NDArray[np.uint32],
    numbers: NDArray[np.int64],
    offsets: NDArray[np.int64],
    occurrences: NDArray[np.int64],
    n_occurrences: int,
) -> NDArray[np.int64]:
    """Weights of features by the documents so far: each document is counted, then weighted, before the next.

    Parameters
    ----------
    counts, numbers : uint32 and int64 arrays, shape (n_features,)
        Of the features of each document: how often it has them, and their places in ``occurrences``.
    offsets : int64 array, shape (n_documents + 1,)
    occurrences : int64 array, written
        How often each feature has occurred.
    n_occurrences : int
        Of all of them, before the first of these documents.

    Returns
    -------
    weights : int64 array, shape (n_features,)
        ``ln((tf / |d|) / (cf / |C|))`` in units of 2**-20.
    """
    weights = np.empty(len(counts), np.int64)
    _growing_weights(counts, numbers, offsets, occurrences, n_occurrences, weights)
    return weights


@njit(nogil=True, cache=True)
def _growing_weights(counts, numbers, offsets, occurrences, total, weights):
    for i in range(len(offsets) - 1):
        length = 0
        for k in range(offsets[i], offsets[i + 1]):
            occurrences[numbers[k]] += counts[k]
            length += counts[k]
        total += length
        of_all = _logarithm(max(1, total)) - _logarithm(max(1, length))
        for k in range(offsets[i], offsets[i + 1]):
            weights[k] = _logarithm(np.int64(counts[k])) - _logarithm(occurrences[numbers[k]]) + of_all


@njit(nogil=True, cache=True)
def _project_rows(rows, row_of, weights, offsets, sums, bits):
    for i in range(len(offsets) - 1):
        sums[:] = 0
        total = np.int64(0)
        for k in range(offsets[i], offsets[i + 1]):
            _vote(rows[row_of[k]], weights[k], sums)
            total += weights[k]
        _decide(sums, total, bits[i])


@njit(nogil=True, cache=True)
def _project_hashes(hashes, weights, offsets, seed, sums, vector, bits):
    n_words = bits.shape[1]
    base = mix(seed + GOLDEN)
    for i in range(len(offsets) - 1):
        sums[:] = 0
        total = np.int64(0)
        for k in range(offsets[i], offsets[i + 1]):
            for j in range(0, n_words, 2):
                word = mix(hashes[k] ^ (base + np.uint64(j >> 1) * GOLDEN))
                vector[j] = word & np.uint64(0xFFFFFFFF)
                vector[j + 1] = word >> np.uint64(32)
            _vote(vector[:n_words], weights[k], sums)
            total += weights[k]
        _decide(sums, total, bits[i])


@njit(nogil=True, cache=True)
def _vote(vector, weight, sums):
    """Add the weight where the bit is 1; no branch, so that it becomes vector instructions."""
    for w in range(len(vector)):
        word = np.int32(vector[w])
        part = sums[32 * w : 32 * w + 32]
        for s in range(32):
            part[s] += weight & -((word >> np.int32(s)) & np.int32(1))


@njit(nogil=True, cache=True)
def _decide(sums, total, bits):
    """The votes for are more than those against: for - (total - for) > 0."""
    for w in range(len(bits)):
        word = np.uint32(0)
        for s in range(32):
            if 2 * np.int64(sums[32 * w + s]) > total:
                word |= np.uint32(1) << np.uint32(s)
        bits[w] = word


@njit(nogil=True, cache=True)
def _project_sparse(hashes, weights, offsets, edges, seed, sums, packed):
    n_nonzero = len(edges) - 1
    base = mix(seed + GOLDEN)
    for i in range(len(offsets) - 1):
        sums[:] = 0
        for k in range(offsets[i], offsets[i + 1]):
            for j in range(0, n_nonzero, 2):  # 32 bits a draw: the sign, and 31 for the place
                word = mix(hashes[k] ^ (base + np.uint64(j >> 1) * GOLDEN))
                _draw(word & np.uint64(0xFFFFFFFF), edges[j], edges[j + 1], weights[k], sums)
                if j + 1 < n_nonzero:
                    _draw(word >> np.uint64(32), edges[j + 1], edges[j + 2], weights[k], sums)
        for j in range(len(sums)):
            if sums[j] > 0:
                packed[i, j >> 3] |= np.uint8(0x80 >> (j & 7))


@njit(inline="always", cache=True)
def _draw(word, start, end, weight, sums):
    place = start + np.int64(((word >> np.uint64(1)) * np.uint64(end - start)) >> np.uint64(31))
    sums[place] += weight * (2 * np.int64(word & np.uint64(1)) - 1)


@njit(nogil=True, cache=True)
def _least_rows(rows, row_of, offsets, part_words, least):
    for i in range(len(offsets) - 1):
        least[i] = np.uint64(0xFFFFFFFFFFFFFFFF)
        for k in range(offsets[i], offsets[i + 1]):
            row = rows[row_of[k]]
            for start in range(0, rows.shape[1], part_words):
                word = start
                while word < start + part_words - 1 and row[word] == least[i, word]:
                    word += 1
                if row[word] < least[i, word]:
                    least[i, start : start + part_words] = row[start : start + part_words]


@njit(nogil=True, cache=True)
def _logarithms(numbers, out):
    for i in range(len(numbers)):
        out[i] = _logarithm(numbers[i])


@njit(nogil=True, cache=True)
def _logarithm(number):
    """ln(m * 2**e) = e ln 2 + 2 atanh((m - 1) / (m + 1)), with m between 0.7 and 1.42."""
    m, e = np.float64(number), 0
    while m > 1.4142135623730951:
        m *= 0.5
        e += 1
    x = (m - 1.0) / (m + 1.0)
    square = x * x
    term, total = x, 0.0
    for k in range(1, 24, 2):
        total = total + term / k
        term = term * square
    value = (2.0 * total + e * 0.6931471805599453) * 1048576.0
    return np.int64(np.floor(value + 0.5))
