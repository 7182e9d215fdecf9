"""Loops of `nearkin.kernels.shingles`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.characters import CHARACTERS, character_classes
from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import mix
from nearkin.kernels.compiled.units import _characters_one, _scratch, _units_one

_POLYNOMIAL = np.uint64(0xD6E8FEB86659FD93)
_BLOCK = 4096
_MAX_AT_FIRST = 1 << 15
"""Initial capacity of the table for distinct shingles."""
_GROWTH = 8
"""Growth factor of the table: refilling it takes time, and most texts repeat the same shingles."""


def shingle_many(data, offsets, unit, length, hashes, set_offsets, n_units):
    classes, scratch = character_classes(), _scratch(int(np.diff(offsets).max(initial=0)))
    _shingle_many(data, offsets, classes, unit, length, scratch, hashes, set_offsets, n_units)


@njit(nogil=True, cache=True)
def _shingle_many(data, offsets, classes, unit, length, scratch, hashes, set_offsets, n_units):
    block, window = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK + length, np.uint64)
    table = np.empty(_table_size(np.int64(_MAX_AT_FIRST)), np.uint64)
    out = np.int64(0)
    for i in range(len(offsets) - 1):
        text = data[offsets[i] : offsets[i + 1]]
        if unit != CHARACTERS:
            n = _units_one(text, classes, unit, scratch, scratch[5])
            table, out = _word_shingles_one(scratch[5], n, length, block, table, hashes, out)
        else:
            n, table, out = _character_shingles_one(text, length, window, block, table, hashes, out)
        n_units[i] = n
        set_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _word_shingles_one(units, n, length, block, table, hashes, first):
    most, size, out = n, _cleared(table, n), first
    length = min(length, n)
    for at in range(0, n - length + 1 if n else 0, _BLOCK):
        stop = min(n, at + _BLOCK + length - 1)
        n_shingles = _shingles_one(units[at:stop], stop - at, length, block)
        table, size, out = _add_distinct(block, n_shingles, table, size, most, hashes, first, out)
    return table, out


@njit(nogil=True, cache=True)
def _character_shingles_one(text, length, window, block, table, hashes, first):
    most, size, out = len(text), _cleared(table, len(text)), first
    n_characters, n_carried, at = 0, 0, 0
    while at < len(text):
        stop = min(at + _BLOCK, len(text))
        while stop < len(text) and text[stop] & 0xC0 == 0x80:  # inside a character
            stop += 1
        n = n_carried + _characters_one(text[at:stop], window[n_carried:])
        n_characters += n - n_carried
        if n >= length or stop == len(text):
            n_shingles = _shingles_one(window, n, length, block)
            table, size, out = _add_distinct(block, n_shingles, table, size, most, hashes, first, out)
        n_carried = min(n, length - 1)
        for k in range(n_carried):
            window[k] = window[n - n_carried + k]
        at = stop
    return n_characters, table, out


@njit(nogil=True, cache=True)
def _shingles_one(units, n, length, shingles):
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
def _add_distinct(shingles, n, table, size, most, hashes, first, out):
    """[5, 7, 5, 9] -> [5, 7, 9], appended at ``out`` to the text's part of ``hashes``, which begins at ``first``."""
    done, out = _add_while_there_is_room(shingles, np.int64(0), n, table, size, hashes, first, out)
    while done < n:
        size = min(_GROWTH * size, _table_size(most))
        table = _enlarged(table, size, hashes[first:out])
        done, out = _add_while_there_is_room(shingles, done, n, table, size, hashes, first, out)
    return table, size, out


@njit(nogil=True, cache=True)
def _add_while_there_is_room(shingles, start, n, table, size, hashes, first, out):
    mask = np.uint64(size - 1)
    full = first + size // 2
    for i in range(start, n):
        shingle = shingles[i]
        if shingle == np.uint64(0):
            out = _add_zero(hashes, first, out)
            continue
        place = shingle & mask
        while table[place] != np.uint64(0) and table[place] != shingle:
            place = (place + np.uint64(1)) & mask
        if table[place] == np.uint64(0):
            if out >= full:
                return i, out
            table[place] = shingle
            hashes[out] = shingle
            out += 1
    return n, out


@njit(nogil=True, cache=True)
def _add_zero(hashes, first, out):
    for i in range(first, out):
        if hashes[i] == np.uint64(0):
            return out
    hashes[out] = np.uint64(0)
    return out + 1


@njit(nogil=True, cache=True)
def _enlarged(table, size, distinct):
    if size > len(table):
        table = np.empty(size, np.uint64)
    table[:size] = np.uint64(0)
    mask = np.uint64(size - 1)
    for shingle in distinct:
        if shingle != np.uint64(0):
            place = shingle & mask
            while table[place] != np.uint64(0):
                place = (place + np.uint64(1)) & mask
            table[place] = shingle
    return table


@njit(nogil=True, cache=True)
def _cleared(table, most):
    size = _table_size(min(most, _MAX_AT_FIRST))
    table[:size] = np.uint64(0)
    return size


@njit(cache=True)
def _table_size(n):
    size = 16
    while size < 2 * n:
        size *= 2
    return size
