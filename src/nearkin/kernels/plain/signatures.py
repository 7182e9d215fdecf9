"""The plain twins of the loops of `nearkin.kernels.signatures`."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from nearkin.kernels.plain.hashing import GOLDEN, MASK, mix


def sum_rows(rows, row_of, weights, offsets, bits):
    _decide(np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")[row_of], weights, offsets, bits)


def sum_hashes(hashes, weights, offsets, seed, bits):
    n_words = bits.shape[1]
    n_draws = -(-n_words // 2)
    words = np.array([_words(int(h), n_draws, seed) for h in hashes], np.uint64)
    vectors = np.unpackbits(words.reshape(len(hashes), n_draws).view(np.uint8), axis=1, bitorder="little")
    _decide(vectors[:, : 32 * n_words], weights, offsets, bits)


def sum_sparse(hashes, weights, offsets, edges, seed, packed):
    stretches = list(pairwise(edges.tolist()))
    for row, (start, end) in zip(packed, pairwise(offsets.tolist())):
        sums = np.zeros(8 * len(row), np.int64)
        for h, weight in zip(hashes[start:end].tolist(), weights[start:end].tolist(), strict=True):
            words = _words(h, -(-len(stretches) // 2), seed)
            for j, (low, high) in enumerate(stretches):
                draw = (words[j // 2] >> (32 * (j % 2))) & 0xFFFFFFFF
                place = low + (((draw >> 1) * (high - low)) >> 31)
                sums[place] += weight if draw & 1 else -weight
        row[:] = np.packbits(sums > 0)


def fill_logarithms(numbers, out):
    out[:] = [_logarithm(n) for n in numbers.tolist()]


def weigh_growing(counts, numbers, offsets, occurrences, total, weights):
    for start, end in pairwise(offsets.tolist()):
        here, own = numbers[start:end], counts[start:end].tolist()
        np.add.at(occurrences, here, own)
        total += sum(own)
        of_all = _logarithm(max(1, total)) - _logarithm(max(1, sum(own)))
        weights[start:end] = [
            _logarithm(c) - _logarithm(cf) + of_all for c, cf in zip(own, occurrences[here].tolist(), strict=True)
        ]


def _logarithm(number):
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


def _words(value, n, seed):
    base = mix((int(seed) + GOLDEN) & MASK)
    return [mix(value ^ ((base + j * GOLDEN) & MASK)) for j in range(n)]


def _decide(vectors, weights, offsets, bits):
    for row, (start, end) in zip(bits, pairwise(offsets.tolist())):
        votes = weights[start:end].astype(np.int64)
        sums = ((2 * vectors[start:end].astype(np.int64) - 1) * votes[:, None]).sum(axis=0)
        row[:] = np.packbits(sums > 0, bitorder="little").view(np.uint32)


def take_bits(words, order, leading):
    for place in order.tolist():
        bit = (words[:, place // 64] >> np.uint64(place % 64)) & np.uint64(1)
        leading[:] = (leading << np.uint64(1)) | bit


def order_of(keys):
    return np.argsort(keys, kind="stable").astype(np.int64)
