"""Loops of `nearkin.kernels.java_hash`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.characters import decoded
from nearkin.kernels.compiled.jit import njit

_BASE = np.uint32(31)
_INVERSE = np.uint32(pow(31, -1, 1 << 32))
_SPACE = np.uint8(32)


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
