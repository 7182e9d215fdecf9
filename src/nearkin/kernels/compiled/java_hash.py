"""Java's ``String.hashCode`` of every k-gram of a text: of characters, or of words joined by one space.

The hash of a string is a polynomial in 31 over its UTF-16 units, in 32 bits that wrap around. So the hash of any part
follows from the hashes of two prefixes, and each k-gram costs the same, however long it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit

_BASE = np.uint32(31)
_INVERSE = np.uint32(pow(31, -1, 1 << 32))
_SPACE = np.uint8(32)


def character_shingles(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, length: int, without_vowels: bool
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The hash of every run of so many characters of each text; spaces are skipped, and a, e, i, o and u if asked.

    Parameters
    ----------
    data, offsets : uint8 and int64 arrays
        Valid UTF-8; all white space is U+0020.
    length : int
        UTF-16 units in a k-gram, at least 1. A text with fewer has none.
    without_vowels : bool

    Returns
    -------
    shingles : int32 array
        Of all texts, one after another, in their order.
    shingle_offsets : int64 array, shape (n_texts + 1,)
    """
    shingles = np.empty(int(offsets[-1] - offsets[0]), np.int32)  # of what is not written the system makes no memory
    shingle_offsets = np.zeros(len(offsets), np.int64)
    prefixes = np.empty(int(np.diff(offsets).max(initial=0)) + 1, np.uint32)
    power = np.uint32(pow(31, length, 1 << 32))
    _character_shingles_many(data, offsets, length, power, without_vowels, prefixes, shingles, shingle_offsets)
    return shingles[: shingle_offsets[-1]], shingle_offsets


def hash_words(data: NDArray[np.uint8], bounds: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The hash of each word, and 31 to the power of its UTF-16 units.

    Parameters
    ----------
    data, bounds : uint8 array, int64 array of shape (n_words, 2)
        Valid UTF-8; word ``i`` is ``data[bounds[i, 0]:bounds[i, 1]]``.
    """
    hashes, powers = np.empty(len(bounds), np.uint32), np.empty(len(bounds), np.uint32)
    _hash_words_many(data, bounds, hashes, powers)
    return hashes, powers


def word_shingles(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint32],
    powers: NDArray[np.uint32],
    *,
    length: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The hash of every run of so many words of each text, joined by one space.

    Parameters
    ----------
    ids, offsets : int32 and int64 arrays
        The words of each text.
    hashes, powers : uint32 arrays, shape (n_distinct,)
        See `hash_words`.
    length : int
        Words in a k-gram, at least 1. A text with fewer has none.

    Returns
    -------
    shingles, shingle_offsets
        See `character_shingles`.
    """
    shingles, shingle_offsets = np.empty(len(ids), np.int32), np.zeros(len(offsets), np.int64)
    longest = int(np.diff(offsets).max(initial=0))
    before, up_to, raised = (np.empty(longest, np.uint32) for _ in range(3))
    inverses = _inverses(powers)
    _word_shingles_many(
        ids, offsets, length, (hashes, powers, inverses), (before, up_to, raised), shingles, shingle_offsets
    )
    return shingles[: shingle_offsets[-1]], shingle_offsets


def _inverses(numbers: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Of odd numbers modulo 2**32: Newton's rule doubles the bits that are right, from three on."""
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
    """The hash of each prefix of the units that are kept, the empty one first; and how many units there are.

    ASCII takes no branch: what is not kept is written over.
    """
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
        code_point, at = _decoded(text, at)
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
    """The hash of each k-gram: of the prefix it ends, less that of the prefix before it, moved up."""
    for i in range(n - length + 1):
        shingles[i] = np.int32(np.uint32(prefixes[i + length] - np.uint32(prefixes[i] * power)))


@njit(inline="always", cache=True)
def _decoded(text, at):
    """The code point that begins here, which is not ASCII, and where the next one does."""
    byte = text[at]
    length = 2 if byte < 0xE0 else (3 if byte < 0xF0 else 4)
    code_point = np.int64(byte) & (0x1F if length == 2 else (0x0F if length == 3 else 0x07))
    for j in range(at + 1, at + length):
        code_point = (code_point << 6) | (np.int64(text[j]) & 0x3F)
    return code_point, at + length


@njit(nogil=True, cache=True)
def _hash_words_many(data, bounds, hashes, powers):
    for i in range(len(bounds)):
        hashed, power, at = np.uint32(0), np.uint32(1), bounds[i, 0]
        while at < bounds[i, 1]:
            unit = np.int64(data[at])
            if unit < 128:
                at += 1
            else:
                unit, at = _decoded(data, at)
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
    """Of each word: the hash of all before it, over 31 to the units before it; of all up to its end; 31 to these units.

    Words a to b then hash to ``up_to[b] - before[a] * raised[b]``.
    """
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
