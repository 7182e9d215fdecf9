"""Shingles to sketches, and sketches to one number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import GOLDEN, mix

Sketches = tuple[NDArray[np.int32], NDArray[np.int64]]
_THIRD = np.uint64((1 << 64) // 3)


def divisible(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, by: int) -> Sketches:
    """The shingles of each text that an odd number above 1 divides, in their order."""
    kept, kept_offsets = np.empty_like(shingles), np.zeros_like(offsets)
    inverse, most = np.uint32(pow(by, -1, 1 << 32)), np.uint32(((1 << 31) - 1) // by)
    _divisible_many(shingles, offsets, inverse, most, kept, kept_offsets)
    return kept[: kept_offsets[-1]], kept_offsets


def winnowed(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, window: int) -> Sketches:
    """The least shingle of every window, the rightmost of equals, each once; fewer than a window are one.

    Source: Saul Schleimer, Daniel S. Wilkerson, Alex Aiken, "Winnowing: local algorithms for document fingerprinting",
    SIGMOD 2003.
    """
    kept, kept_offsets = np.empty_like(shingles), np.zeros_like(offsets)
    _winnowed_many(shingles, offsets, window, kept, kept_offsets)
    return kept[: kept_offsets[-1]], kept_offsets


def lowest(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, most: int) -> Sketches:
    """So many of the lowest shingles of each text, equals included, rising."""
    kept, kept_offsets = np.empty_like(shingles), np.zeros_like(offsets)
    _extreme_many(shingles, offsets, most, False, kept, kept_offsets)
    return kept[: kept_offsets[-1]], kept_offsets


def highest(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, most: int) -> Sketches:
    """So many of the highest shingles of each text, equals included, rising."""
    kept, kept_offsets = np.empty_like(shingles), np.zeros_like(offsets)
    _extreme_many(shingles, offsets, most, True, kept, kept_offsets)
    return kept[: kept_offsets[-1]], kept_offsets


def random_third(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, seed: int) -> Sketches:
    """Each shingle with a probability of one third, by its place, the text's sum of shingles and the seed."""
    kept, kept_offsets = np.empty_like(shingles), np.zeros_like(offsets)
    _random_third_many(shingles, offsets, np.uint64(seed), kept, kept_offsets)
    return kept[: kept_offsets[-1]], kept_offsets


def sums(shingles: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of each sketch, in 64 bits."""
    values = np.zeros(len(offsets) - 1, np.int64)
    _sums_many(shingles, offsets, values)
    return values


def rabin(shingles: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The Rabin fingerprint of each sketch, modulo x^64 + x^4 + x^3 + x + 1.

    The polynomial divided is a 1, and then the bits of every shingle, the highest first. The remainder's 64 bits are
    read as a signed number.

    Source: Andrei Z. Broder, "Some applications of Rabin's fingerprinting method", 1993; the polynomial, irreducible,
    from Gadiel Seroussi, "Table of low-weight binary irreducible polynomials", 1998.
    """
    values = np.zeros(len(offsets) - 1, np.int64)
    _rabin_many(shingles, offsets, values)
    return values


def super_shingles(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, length: int) -> NDArray[np.int64]:
    """One number per text: k-grams of the shingles are hashed, and k-grams of these hashes, until one is left.

    The hash is Java's of a list of numbers, a polynomial in 31 that wraps around in 32 bits. What is left when there
    are fewer than a k-gram is one k-gram. The time grows with the square of the number of shingles.
    """
    values = np.zeros(len(offsets) - 1, np.int64)
    work = np.empty(int(np.diff(offsets).max(initial=0)), np.uint32)
    _super_shingles_many(shingles, offsets, length, work, values)
    return values


@njit(nogil=True, cache=True)
def _divisible_many(shingles, offsets, inverse, most, kept, kept_offsets):
    """An odd d divides x if x times its inverse, modulo 2^32, is one of the numbers that x / d can be; no division."""
    out = 0
    for i in range(len(offsets) - 1):
        for at in range(offsets[i], offsets[i + 1]):
            kept[out] = shingles[at]
            quotient = np.uint32(np.uint32(shingles[at]) * inverse)
            out += np.int64(np.uint32(quotient + most) <= np.uint32(most + most))
        kept_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _winnowed_many(shingles, offsets, window, kept, kept_offsets):
    out = 0
    for i in range(len(offsets) - 1):
        out = _winnowed_one(shingles[offsets[i] : offsets[i + 1]], window, kept, out)
        kept_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _winnowed_one(shingles, window, kept, out):
    """window=2, [3, 1, 1, 4] -> [1, 1]: a window is looked through again only when its least has left it."""
    least = -1
    for end in range(min(window, len(shingles)), len(shingles) + 1):
        first = max(0, end - window)
        if least < first:
            least = first
            for at in range(first, end):
                if shingles[at] <= shingles[least]:
                    least = at
        elif shingles[end - 1] <= shingles[least]:
            least = end - 1
        else:
            continue
        if least < end:
            kept[out] = shingles[least]
            out += 1
    return out


@njit(nogil=True, cache=True)
def _extreme_many(shingles, offsets, most, from_above, kept, kept_offsets):
    out = 0
    for i in range(len(offsets) - 1):
        own = shingles[offsets[i] : offsets[i + 1]]
        n = min(most, len(own))
        if n == len(own):
            chosen = own.copy()
        elif from_above:
            chosen = np.partition(own, len(own) - n)[len(own) - n :]
        else:
            chosen = np.partition(own, n - 1)[:n]
        kept[out : out + n] = np.sort(chosen)
        out += n
        kept_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _random_third_many(shingles, offsets, seed, kept, kept_offsets):
    out = 0
    for i in range(len(offsets) - 1):
        own = shingles[offsets[i] : offsets[i + 1]]
        total = np.int64(0)
        for shingle in own:
            total += shingle
        state = mix(mix(seed + GOLDEN) ^ np.uint64(total))
        for at in range(len(own)):
            kept[out] = own[at]
            out += np.int32(mix(state + np.uint64(at) * GOLDEN) < _THIRD)
        kept_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _sums_many(shingles, offsets, values):
    for i in range(len(values)):
        total = np.int64(0)
        for at in range(offsets[i], offsets[i + 1]):
            total += shingles[at]
        values[i] = total


@njit(nogil=True, cache=True)
def _rabin_many(shingles, offsets, values):
    for i in range(len(values)):
        remainder = np.uint64(1)
        for at in range(offsets[i], offsets[i + 1]):
            # x^64 is x^4 + x^3 + x + 1, so the 32 bits that are moved out come back at four places
            high = remainder >> np.uint64(32)
            folded = high ^ (high << np.uint64(1)) ^ (high << np.uint64(3)) ^ (high << np.uint64(4))
            remainder = ((remainder << np.uint64(32)) | np.uint64(np.uint32(shingles[at]))) ^ folded
        values[i] = np.int64(remainder)


@njit(nogil=True, cache=True)
def _super_shingles_many(shingles, offsets, length, work, values):
    for i in range(len(values)):
        n = offsets[i + 1] - offsets[i]
        for at in range(n):
            work[at] = np.uint32(shingles[offsets[i] + at])
        while n > 1:
            length_now = min(length, n)
            n = n - length_now + 1
            _hash_runs(work, n, length_now)
        values[i] = np.int64(np.int32(work[0])) if n else 0


@njit(nogil=True, cache=True)
def _hash_runs(work, n, length):
    """Each number becomes the hash of the run that begins with it; the loop becomes vector instructions."""
    for start in range(0, n, 1024):
        stop = min(n, start + 1024)
        block = work[start:stop].copy()
        for k in range(1, length):
            for at in range(stop - start):
                block[at] = np.uint32(block[at] * np.uint32(31) + work[start + at + k])
        work[start:stop] = block
