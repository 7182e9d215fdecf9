"""Text to shingle sets: units (words or characters), n-grams of them, distinct ones.

A unit is a 64-bit number: a code point, or the hash of a word. A shingle is the polynomial of its units, mixed. The three steps are three
loops over small arrays, so that the middle one is done eight shingles at a time.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearkin.kernels.characters import ALONE, FORMAT, MARK, SEPARATOR, WORD, character_classes
from nearkin.kernels.compiled.mixing import GOLDEN, mix

_POLYNOMIAL = np.uint64(0xD6E8FEB86659FD93)


def shingle_sets(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, words: bool, length: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct shingles of each text.

    Parameters
    ----------
    data, offsets : uint8 array, int64 array of shape (n_documents + 1,)
        Normalised texts, valid UTF-8.
    words : bool
        Word n-grams, else character n-grams.
    length : int
        Units in a shingle, >= 1. A text with fewer units, but some, is one shingle of them all.

    Returns
    -------
    hashes : uint64 array
        The sets one after another, each in order of first occurrence.
    set_offsets : int64 array, shape (n_documents + 1,)
    n_units : int64 array, shape (n_documents,)
    """
    n_documents = len(offsets) - 1
    longest = int(np.diff(offsets).max(initial=0))
    n_units_at_most = int(offsets[-1] - offsets[0])  # a page that is never written takes no memory
    hashes = np.empty(n_units_at_most, np.uint64)
    set_offsets = np.zeros(n_documents + 1, np.int64)
    n_units = np.zeros(n_documents, np.int64)
    units = np.empty(longest, np.uint64)
    shingles = np.empty(longest, np.uint64)
    table = np.empty(_table_size(longest), np.uint64)
    _shingle_many(
        data, offsets, character_classes(), words, length, units, shingles, table, hashes, set_offsets, n_units
    )
    return hashes[: set_offsets[-1]].copy(), set_offsets, n_units


@njit(cache=True)
def _table_size(n):
    """The power of two that keeps a table of n entries at most half full."""
    size = 16
    while size < 2 * n:
        size *= 2
    return size


@njit(nogil=True, cache=True)
def _shingle_many(data, offsets, classes, words, length, units, shingles, table, hashes, set_offsets, n_units):
    out = 0
    for i in range(len(offsets) - 1):
        if words:
            n = _words_one(data, offsets[i], offsets[i + 1], classes, units)
        else:
            n = _characters_one(data, offsets[i], offsets[i + 1], units)
        n_units[i] = n
        n_shingles = _shingles_one(units, n, length, shingles)
        out = _distinct_one(shingles, n_shingles, table, hashes, out)
        set_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _words_one(data, start, end, classes, words):
    """The hash of each word; marks belong to the word before them, format characters to nothing."""
    n = 0
    word = GOLDEN
    inside = SEPARATOR  # or WORD or ALONE: what the open word is
    at = start
    while at < end:
        byte = data[at]
        if byte < 128:
            code_point = np.int64(byte)
            at += 1
        else:
            length = 2 if byte < 0xE0 else (3 if byte < 0xF0 else 4)
            code_point = np.int64(byte) & (0x1F if length == 2 else (0x0F if length == 3 else 0x07))
            for j in range(at + 1, at + length):
                code_point = (code_point << 6) | (np.int64(data[j]) & 0x3F)
            at += length
        kind = classes[code_point]
        if (kind == WORD and inside == WORD) or (kind == MARK and inside != SEPARATOR):
            word = (word ^ np.uint64(code_point)) * GOLDEN
            continue
        if kind == FORMAT or kind == MARK:
            continue
        if inside != SEPARATOR:
            words[n] = mix(word)
            n += 1
            inside = SEPARATOR
        if kind == WORD or kind == ALONE:
            word = (GOLDEN ^ np.uint64(code_point)) * GOLDEN
            inside = np.int64(kind)
    if inside != SEPARATOR:
        words[n] = mix(word)
        n += 1
    return n


@njit(nogil=True, cache=True)
def _characters_one(data, start, end, characters):
    """Each code point."""
    n = 0
    at = start
    while at < end:
        byte = data[at]
        if byte < 128:
            characters[n] = byte
            n += 1
            at += 1
            continue
        length = 2 if byte < 0xE0 else (3 if byte < 0xF0 else 4)
        code_point = np.int64(byte) & (0x1F if length == 2 else (0x0F if length == 3 else 0x07))
        for j in range(at + 1, at + length):
            code_point = (code_point << 6) | (np.int64(data[j]) & 0x3F)
        characters[n] = np.uint64(code_point)
        n += 1
        at += length
    return n


@njit(nogil=True, cache=True)
def _shingles_one(units, n, length, shingles):
    """units=[a, b, c], length=2 -> [mix(a * P + b), mix(b * P + c)]; fewer units than length -> one shingle of them all."""
    if n == 0:
        return 0
    length = min(length, n)
    n_shingles = n - length + 1
    for i in range(n_shingles):
        shingles[i] = units[i]
    for k in range(1, length):
        for i in range(n_shingles):  # the inner loop runs over shingles so that it becomes vector instructions
            shingles[i] = shingles[i] * _POLYNOMIAL + units[i + k]
    for i in range(n_shingles):
        shingles[i] = mix(shingles[i] + np.uint64(length))
    return n_shingles


@njit(nogil=True, cache=True)
def _distinct_one(shingles, n, table, hashes, out):
    """[5, 7, 5, 9] -> [5, 7, 9], appended to hashes at out; zero marks a free place in the table, so it is kept apart."""
    size = np.int64(16)
    while size < 2 * n:
        size *= 2
    mask = np.uint64(size - 1)
    table[:size] = np.uint64(0)
    has_zero = False
    for i in range(n):
        shingle = shingles[i]
        if shingle == np.uint64(0):
            if not has_zero:
                has_zero = True
                hashes[out] = shingle
                out += 1
            continue
        place = shingle & mask
        while table[place] != np.uint64(0) and table[place] != shingle:
            place = (place + np.uint64(1)) & mask
        if table[place] == np.uint64(0):
            table[place] = shingle
            hashes[out] = shingle
            out += 1
    return out
