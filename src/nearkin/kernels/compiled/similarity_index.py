"""Loops of `nearkin.kernels.similarity_index`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.basics import GOLDEN, copy_into, decoded, mix, njit

_BASE = np.uint32(31)
_INVERSE = np.uint32(pow(31, -1, 1 << 32))
_SPACE = np.uint8(32)
_THIRD = np.uint64((1 << 64) // 3)


def character_shingles_many(data, offsets, length, without_vowels, shingles, shingle_offsets):
    prefixes = np.empty(int(np.diff(offsets).max(initial=0)) + 1, np.uint32)
    power = np.uint32(pow(31, length, 1 << 32))
    _character_shingles_many(data, offsets, length, power, without_vowels, prefixes, shingles, shingle_offsets)


def word_shingles_many(ids, offsets, length, hashes, powers, shingles, shingle_offsets):
    longest = int(np.diff(offsets).max(initial=0))
    work = tuple(np.empty(longest, np.uint32) for _ in range(3))
    words = hashes, powers, _inverses(powers)
    _word_shingles_many(ids, offsets, length, words, work, shingles, shingle_offsets)


def _inverses(numbers):
    """Return inverses of odd numbers modulo 2**32: Newton's method doubles the correct bits, starting with three."""
    inverses = numbers.copy()
    for _ in range(4):
        inverses *= np.uint32(2) - numbers * inverses
    return inverses


@njit(nogil=True, cache=True)
def _character_shingles_many(data, offsets, length, power, without_vowels, prefixes, shingles, shingle_offsets):
    is_kept = np.ones(128, np.int64)
    is_kept[_SPACE] = 0
    if without_vowels:
        for vowel in (97, 101, 105, 111, 117):
            is_kept[vowel] = 0
    out = 0
    for i in range(len(offsets) - 1):
        n = _prefixes_of_characters(data[offsets[i] : offsets[i + 1]], is_kept, prefixes)
        if n >= length:
            _differences(prefixes, n, length, power, shingles[out:])
            out += n - length + 1
        shingle_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _prefixes_of_characters(text, is_kept, prefixes):
    """Return the hash of each prefix of the kept units; without a branch: skipped units are overwritten."""
    prefixes[0] = np.uint32(0)
    hashed, n, at = np.uint32(0), 0, 0
    while at < len(text):
        byte = text[at]
        if byte < 128:
            kept = is_kept[byte]
            longer = np.uint32(hashed * _BASE + byte)
            hashed = longer if kept else hashed
            n += kept
            prefixes[n] = hashed
            at += 1
            continue
        code_point, at = decoded(text, at)
        if code_point >= 0x10000:
            hashed = np.uint32(hashed * _BASE + np.uint32(0xD800 + ((code_point - 0x10000) >> 10)))
            n += 1
            prefixes[n] = hashed
            code_point = 0xDC00 + ((code_point - 0x10000) & 0x3FF)
        hashed = np.uint32(hashed * _BASE + np.uint32(code_point))
        n += 1
        prefixes[n] = hashed
    return n


@njit(nogil=True, cache=True)
def _differences(prefixes, n, length, power, shingles):
    """Hash each k-gram: the prefix that ends with it, minus the shifted prefix before it."""
    for i in range(n - length + 1):
        shingles[i] = np.int32(np.uint32(prefixes[i + length] - np.uint32(prefixes[i] * power)))


@njit(nogil=True, cache=True)
def hash_words_many(data, bounds, hashes, powers):
    for i in range(len(bounds)):
        hashed, power, at = np.uint32(0), np.uint32(1), bounds[i, 0]
        while at < bounds[i, 1]:
            unit = np.int64(data[at])
            if unit < 128:
                at += 1
            else:
                unit, at = decoded(data, at)
            if unit >= 0x10000:
                hashed = np.uint32(hashed * _BASE + np.uint32(0xD800 + ((unit - 0x10000) >> 10)))
                power = np.uint32(power * _BASE)
                unit = 0xDC00 + ((unit - 0x10000) & 0x3FF)
            hashed = np.uint32(hashed * _BASE + np.uint32(unit))
            power = np.uint32(power * _BASE)
        hashes[i], powers[i] = hashed, power


@njit(nogil=True, cache=True)
def _word_shingles_many(ids, offsets, length, words, work, shingles, shingle_offsets):
    before, up_to, raised = work
    out = 0
    for i in range(len(offsets) - 1):
        n = offsets[i + 1] - offsets[i]
        _prefixes_of_words(ids[offsets[i] : offsets[i + 1]], words, before, up_to, raised)
        for first in range(n - length + 1):
            last = first + length - 1
            shingles[out + first] = np.int32(np.uint32(up_to[last] - np.uint32(before[first] * raised[last])))
        out += max(0, n - length + 1)
        shingle_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _prefixes_of_words(ids, words, before, up_to, raised):
    """Return for each word: hash of all before it, over 31^(units before it); hash up to its end; 31^(these units)."""
    hashes, powers, inverses = words
    hashed, power, inverse = np.uint32(0), np.uint32(1), np.uint32(1)
    for i in range(len(ids)):
        before[i] = np.uint32(hashed * inverse)
        word = ids[i]
        hashed = np.uint32(np.uint32(hashed * powers[word]) + hashes[word])
        power, inverse = np.uint32(power * powers[word]), np.uint32(inverse * inverses[word])
        up_to[i], raised[i] = hashed, power
        hashed = np.uint32(hashed * _BASE + np.uint32(_SPACE))
        power, inverse = np.uint32(power * _BASE), np.uint32(inverse * _INVERSE)


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
