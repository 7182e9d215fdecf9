"""The twin of ``compiled.projections``."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.plain.mixing import GOLDEN, MASK, mix

Weights = NDArray[np.int32] | NDArray[np.int64]


def project_rows(
    rows: NDArray[np.uint32], row_of: NDArray[np.int64], weights: Weights, offsets: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """See ``compiled.projections.project_rows``.

    Examples
    --------
    >>> rows = np.array([[0b011], [0b101]], np.uint32)
    >>> votes = np.array([2, 1], np.int64)
    >>> bin(project_rows(rows, np.array([0, 1]), votes, np.array([0, 2]))[0, 0])  # the first has more votes
    '0b11'
    """
    vectors = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")[row_of]
    return _decided(vectors, weights, offsets, rows.shape[1])


def project_hashes(
    hashes: NDArray[np.uint64], weights: Weights, offsets: NDArray[np.int64], *, n_words: int, seed: int
) -> NDArray[np.uint32]:
    """See ``compiled.projections.project_hashes``."""
    n_draws = -(-n_words // 2)
    words = np.array([_words(int(h), n_draws, seed) for h in hashes], np.uint64)
    vectors = np.unpackbits(words.reshape(len(hashes), n_draws).view(np.uint8), axis=1, bitorder="little")
    return _decided(vectors[:, : 32 * n_words], weights, offsets, n_words)


def project_sparse(
    hashes: NDArray[np.uint64],
    weights: Weights,
    offsets: NDArray[np.int64],
    *,
    n_bits: int,
    n_nonzero: int,
    seed: int,
) -> NDArray[np.uint8]:
    """See ``compiled.projections.project_sparse``.

    Examples
    --------
    >>> one = project_sparse(np.array([5], np.uint64), np.array([1]), np.array([0, 1]), n_bits=64, n_nonzero=8, seed=0)
    >>> one.shape
    (1, 8)
    """
    edges = [j * n_bits // n_nonzero for j in range(n_nonzero + 1)]
    packed = []
    for start, end in pairwise(offsets.tolist()):
        sums = np.zeros(n_bits, np.int64)
        for h, weight in zip(hashes[start:end].tolist(), weights[start:end].tolist(), strict=True):
            words = _words(h, -(-n_nonzero // 2), seed)
            for j, (low, high) in enumerate(pairwise(edges)):
                draw = (words[j // 2] >> (32 * (j % 2))) & 0xFFFFFFFF
                place = low + (((draw >> 1) * (high - low)) >> 31)
                sums[place] += weight if draw & 1 else -weight
        packed.append(np.packbits(sums > 0))
    return np.array(packed, np.uint8).reshape(len(packed), n_bits // 8)


def least_rows(
    rows: NDArray[np.uint64], row_of: NDArray[np.int64], offsets: NDArray[np.int64], *, n_parts: int
) -> NDArray[np.uint64]:
    """See ``compiled.projections.least_rows``.

    Examples
    --------
    >>> rows = np.array([[1, 9], [2, 3]], np.uint64)
    >>> least_rows(rows, np.array([0, 1]), np.array([0, 2]), n_parts=2).tolist()
    [[1, 3]]
    """
    least = []
    for start, end in pairwise(offsets.tolist()):
        own = [np.split(rows[row], n_parts) for row in row_of[start:end]]
        nothing = [np.full(rows.shape[1] // n_parts, MASK, np.uint64)] * n_parts
        parts = zip(*own, strict=True) if own else [[part] for part in nothing]
        least.append([word for part in parts for word in min(words.tolist() for words in part)])
    return np.array(least, np.uint64).reshape(len(least), rows.shape[1])


def logarithms(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """See ``compiled.projections.logarithms``.

    Examples
    --------
    >>> (logarithms(np.array([1, 2, 10])) / 2**20).round(6).tolist()
    [0.0, 0.693147, 2.302585]
    """
    return np.array([_logarithm(n) for n in numbers.tolist()], np.int64)


def growing_weights(
    counts: NDArray[np.uint32],
    numbers: NDArray[np.int64],
    offsets: NDArray[np.int64],
    occurrences: NDArray[np.int64],
    n_occurrences: int,
) -> NDArray[np.int64]:
    """See ``compiled.projections.growing_weights``.

    Examples
    --------
    >>> occurrences = np.zeros(2, np.int64)
    >>> counts, numbers = np.array([1, 1, 1], np.uint32), np.array([0, 0, 1])
    >>> weights = growing_weights(counts, numbers, np.array([0, 1, 3]), occurrences, 0)
    >>> (weights / 2**20).round(3).tolist(), occurrences.tolist()  # ln 1; ln (1/2) / (2/3), ln (1/2) / (1/3)
    ([0.0, -0.288, 0.405], [2, 1])
    """
    weights: list[int] = []
    for start, end in pairwise(offsets.tolist()):
        here, own = numbers[start:end], counts[start:end].tolist()
        np.add.at(occurrences, here, own)
        n_occurrences += sum(own)
        of_all = _logarithm(max(1, n_occurrences)) - _logarithm(max(1, sum(own)))
        weights += [
            _logarithm(c) - _logarithm(cf) + of_all for c, cf in zip(own, occurrences[here].tolist(), strict=True)
        ]
    return np.array(weights, np.int64)


def _logarithm(number: int) -> int:
    m, e = float(number), 0
    while m > 1.4142135623730951:
        m *= 0.5
        e += 1
    x = (m - 1.0) / (m + 1.0)
    term, total = x, 0.0
    for k in range(1, 24, 2):
        total += term / k
        term *= x * x
    return math.floor((2.0 * total + e * 0.6931471805599453) * 1048576.0 + 0.5)


def _words(value: int, n: int, seed: int) -> list[int]:
    base = mix((seed + GOLDEN) & MASK)
    return [mix(value ^ ((base + j * GOLDEN) & MASK)) for j in range(n)]


def _decided(
    vectors: NDArray[np.uint8], weights: Weights, offsets: NDArray[np.int64], n_words: int
) -> NDArray[np.uint32]:
    bits = []
    for start, end in pairwise(offsets.tolist()):
        votes = weights[start:end].astype(np.int64)
        sums = ((2 * vectors[start:end].astype(np.int64) - 1) * votes[:, None]).sum(axis=0)
        bits.append(np.packbits(sums > 0, bitorder="little").view(np.uint32))
    return np.array(bits, np.uint32).reshape(len(bits), n_words)
