"""Loops of `nearkin.kernels.signatures`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.basics import GOLDEN, mix, njit

_DIGIT = 11
_MASK = (1 << _DIGIT) - 1


@njit(nogil=True, cache=True)
def weigh_growing(counts, numbers, offsets, occurrences, total, weights):
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
def sum_rows(rows, row_of, weights, offsets, bits):
    sums = np.empty(32 * rows.shape[1], weights.dtype)
    for i in range(len(offsets) - 1):
        sums[:] = 0
        total = np.int64(0)
        for k in range(offsets[i], offsets[i + 1]):
            _vote(rows[row_of[k]], weights[k], sums)
            total += weights[k]
        _decide(sums, total, bits[i])


@njit(nogil=True, cache=True)
def sum_hashes(hashes, weights, offsets, seed, bits):
    n_words = bits.shape[1]
    sums, vector = np.empty(32 * n_words, weights.dtype), np.empty(n_words + 1, np.uint32)
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
    """Add the weight where the bit is 1; without branches, so that it becomes vector instructions."""
    for w in range(len(vector)):
        word = np.int32(vector[w])
        part = sums[32 * w : 32 * w + 32]
        for s in range(32):
            part[s] += weight & -((word >> np.int32(s)) & np.int32(1))


@njit(nogil=True, cache=True)
def _decide(sums, total, bits):
    """Set bits with more votes for than against: for - (total - for) > 0."""
    for w in range(len(bits)):
        word = np.uint32(0)
        for s in range(32):
            if 2 * np.int64(sums[32 * w + s]) > total:
                word |= np.uint32(1) << np.uint32(s)
        bits[w] = word


@njit(nogil=True, cache=True)
def sum_sparse(hashes, weights, offsets, edges, seed, packed):
    n_nonzero = len(edges) - 1
    sums = np.empty(edges[-1], weights.dtype)
    base = mix(seed + GOLDEN)
    for i in range(len(offsets) - 1):
        sums[:] = 0
        for k in range(offsets[i], offsets[i + 1]):
            for j in range(0, n_nonzero, 2):  # 32 bits per draw: the sign, and 31 for the place
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
def fill_logarithms(numbers, out):
    for i in range(len(numbers)):
        out[i] = _logarithm(numbers[i])


@njit(nogil=True, cache=True)
def _logarithm(number):
    """Compute ln(m * 2**e) = e ln 2 + 2 atanh((m - 1) / (m + 1)), with m between 0.7 and 1.42."""
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


def order_of(keys):
    packed, other = (keys << np.uint64(32)) | np.arange(len(keys), dtype=np.uint64), np.empty(len(keys), np.uint64)
    return _order_many(packed, other, np.zeros(1 << _DIGIT, np.int64)).view(np.int64)


@njit(nogil=True, cache=True)
def _order_many(packed, other, counts):
    for shift in (32, 32 + _DIGIT, 32 + 2 * _DIGIT):
        counts[:] = 0
        for i in range(len(packed)):
            counts[(packed[i] >> np.uint64(shift)) & np.uint64(_MASK)] += 1
        total = 0
        for digit in range(len(counts)):
            counts[digit], total = total, total + counts[digit]
        for i in range(len(packed)):
            digit = (packed[i] >> np.uint64(shift)) & np.uint64(_MASK)
            other[counts[digit]] = packed[i]
            counts[digit] += 1
        packed, other = other, packed
    return packed & np.uint64(0xFFFFFFFF)


@njit(nogil=True, cache=True)
def take_bits(words, order, leading):
    for i in range(len(words)):
        bits = np.uint64(0)
        for place in order:
            bits = (bits << np.uint64(1)) | ((words[i, place >> 6] >> np.uint64(place & 63)) & np.uint64(1))
        leading[i] = bits
