"""Loops of `nearkin.kernels.fingerprint_sketches`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.copying import copy_into
from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import GOLDEN, mix

_THIRD = np.uint64((1 << 64) // 3)


@njit(nogil=True, cache=True)
def keep_divisible(shingles, offsets, _, inverse, most, kept, kept_offsets):
    out = 0
    for i in range(len(offsets) - 1):
        for at in range(offsets[i], offsets[i + 1]):
            kept[out] = shingles[at]
            quotient = np.uint32(np.uint32(shingles[at]) * inverse)
            out += np.int64(np.uint32(quotient + most) <= np.uint32(most + most))
        kept_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def winnow(shingles, offsets, window, kept, kept_offsets):
    out = np.int64(0)
    for i in range(len(offsets) - 1):
        out = _winnowed_one(shingles[offsets[i] : offsets[i + 1]], window, kept, out)
        kept_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _winnowed_one(shingles, window, kept, out):
    """Search a window again only when its minimum has left it."""
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
def keep_extremes(shingles, offsets, most, from_above, kept, kept_offsets):
    out = 0
    for i in range(len(offsets) - 1):
        own = shingles[offsets[i] : offsets[i + 1]].copy()
        n = min(most, len(own))
        first = len(own) - n if from_above else 0
        if n < len(own):
            _move_before(own, first if from_above else n)
        copy_into(kept[out:], np.sort(own[first : first + n]))
        out += n
        kept_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _move_before(values, place):
    """Move the smallest values before a place: quickselect; `numpy.partition` takes seconds to compile."""
    left, right = 0, len(values) - 1
    while left < right:
        pivot = values[(left + right) // 2]
        i, j = left, right
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            right = j
        elif place >= i:
            left = i
        else:
            return


@njit(nogil=True, cache=True)
def keep_random_third(shingles, offsets, seed, kept, kept_offsets):
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
def sum_many(shingles, offsets, values):
    for i in range(len(values)):
        total = np.int64(0)
        for at in range(offsets[i], offsets[i + 1]):
            total += shingles[at]
        values[i] = total


@njit(nogil=True, cache=True)
def divide_many(shingles, offsets, values):
    for i in range(len(values)):
        remainder = np.uint64(1)
        for at in range(offsets[i], offsets[i + 1]):
            # x^64 is x^4 + x^3 + x + 1, so the 32 bits shifted out are added at four places
            high = remainder >> np.uint64(32)
            folded = high ^ (high << np.uint64(1)) ^ (high << np.uint64(3)) ^ (high << np.uint64(4))
            remainder = ((remainder << np.uint64(32)) | np.uint64(np.uint32(shingles[at]))) ^ folded
        values[i] = np.int64(remainder)


@njit(nogil=True, cache=True)
def hash_repeatedly(shingles, offsets, length, work, values):
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
    """Replace each number by the hash of the run that begins with it; the loop becomes vector instructions."""
    for start in range(0, n, 1024):
        stop = min(n, start + 1024)
        block = work[start:stop].copy()
        for k in range(1, length):
            for at in range(stop - start):
                block[at] = np.uint32(block[at] * np.uint32(31) + work[start + at + k])
        copy_into(work[start:stop], block)
