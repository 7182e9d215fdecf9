"""Loops of `nearkin.kernels.features`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.characters import CHARACTERS, character_classes
from nearkin.kernels.compiled.basics import GOLDEN, decoded, mix, njit
from nearkin.kernels.compiled.shingles import _POLYNOMIAL as POLYNOMIAL
from nearkin.kernels.compiled.shingles import _scratch, _shingles_one, _units_one

_FIRST_BITS = 16
_FIRST_TABLE = 1 << _FIRST_BITS
_FILL = 2
"""A table is replaced by one of twice its size when more than one place in this many is used."""
_MAX_CODES = 128
"""Maximum number of distinct characters beyond ASCII for one-byte codes: enough for any alphabet, not for Chinese."""


def count_many(data, offsets, unit, length, hashes, counts, firsts, feature_offsets):
    longest = int(np.diff(offsets).max(initial=0))
    places, codes = np.empty(longest, np.uint32), np.empty(longest, np.uint8)
    work = _scratch(longest), _tables(longest), places, codes
    _count_many(data, offsets, character_classes(), unit, length, *work, hashes, counts, firsts, feature_offsets)


def _tables(longest):
    """Tables of 2**16, 2**17, … places, each used at its own size: small texts stay in the cache."""
    size = _FIRST_TABLE
    while size < _FILL * longest:
        size *= 2
    return np.zeros(2 * size, np.uint64)


@njit(nogil=True, cache=True)
def _count_many(
    data, offsets, classes, unit, length, scratch, tables, places, codes, hashes, counts, firsts, feature_offsets
):
    units, occurrences = scratch[5], scratch[6]
    code_of = np.zeros(0x110000 if unit == CHARACTERS and length <= 4 else 1, np.uint8)
    characters = np.arange(256).astype(np.uint64)
    out = np.int64(0)
    for i in range(len(offsets) - 1):
        text = data[offsets[i] : offsets[i + 1]]
        n = 0
        is_coded = False
        if unit == CHARACTERS and length <= 4:
            n, is_coded, source = _encode(text, code_of, characters, codes)
        if is_coded and n > length:
            end = _count_coded(source, n, length, tables, places, counts, firsts, out)
            _hash_coded(source, length, characters, firsts[out:end], hashes[out:end])
        else:
            n = _units_one(text, classes, unit, scratch, units)
            n_occurrences = _shingles_one(units, n, length, occurrences)
            end = _count_hashed(occurrences, n_occurrences, tables, places, hashes, counts, firsts, out)
        out = end
        feature_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _encode(text, code_of, characters, codes):
    """Encode a text in bytes, those beyond ASCII from 128 in order of appearance; return length, success and codes."""
    high = np.uint8(0)
    for byte in text:
        high |= byte
    if high < 128:
        return len(text), True, text
    n = 0
    n_codes = 0
    at = 0
    is_coded = True
    while at < len(text):
        byte = text[at]
        if byte < 128:
            codes[n] = byte
            n += 1
            at += 1
            continue
        code_point, after = decoded(text, at)
        if code_of[code_point] == 0:
            if n_codes == _MAX_CODES:
                is_coded = False
                break
            code_of[code_point] = 128 + n_codes
            characters[128 + n_codes] = code_point
            n_codes += 1
        codes[n] = code_of[code_point]
        n += 1
        at = after
    for k in range(n_codes):
        code_of[np.int64(characters[128 + k])] = 0
    return n, is_coded, codes


@njit(nogil=True, cache=True)
def _count_coded(codes, n, length, tables, places, counts, firsts, out):
    """Count the n-grams of up to four one-byte codes: the n-gram itself is the key."""
    size, i, n_distinct = _FIRST_TABLE, length - 1, np.int64(0)
    while True:
        table = tables[size : 2 * size]
        i, n_distinct = _count_coded_until_full(codes, i, n, length, table, places, firsts[out:], n_distinct)
        if i == n:
            break
        _move_coded(table, tables[2 * size : 4 * size], places[:n_distinct])
        size *= 2
    for k in range(n_distinct):
        counts[out + k] = np.uint32(table[places[k]] & np.uint64(0xFFFFFFFF))
        table[places[k]] = 0
    return out + n_distinct


@njit(nogil=True, cache=True)
def _count_coded_until_full(codes, start, n, length, table, places, firsts, n_distinct):
    key_mask = np.uint64(0xFFFFFFFF) >> np.uint64(32 - 8 * length)
    mask = np.uint64(len(table) - 1)
    shift = np.uint64(64 - _log2(len(table)))
    most = len(table) // _FILL
    key = np.uint64(0)
    for i in range(start - length + 1, start):
        key = (key << np.uint64(8)) | np.uint64(codes[i])
    for i in range(start, n):
        key = ((key << np.uint64(8)) | np.uint64(codes[i])) & key_mask
        place = _spread(key) >> shift
        slot = table[place]
        while slot != np.uint64(0) and (slot >> np.uint64(32)) != key:
            place = (place + np.uint64(1)) & mask
            slot = table[place]
        if slot != np.uint64(0):
            table[place] = slot + np.uint64(1)
            continue
        if n_distinct == most:
            return i, n_distinct
        table[place] = (key << np.uint64(32)) | np.uint64(1)
        places[n_distinct] = place
        firsts[n_distinct] = i - length + 1
        n_distinct += 1
    return n, n_distinct


@njit(nogil=True, cache=True)
def _move_coded(table, larger, places):
    mask = np.uint64(len(larger) - 1)
    shift = np.uint64(64 - _log2(len(larger)))
    for k in range(len(places)):
        slot = table[places[k]]
        table[places[k]] = 0
        place = _spread(slot >> np.uint64(32)) >> shift
        while larger[place] != np.uint64(0):
            place = (place + np.uint64(1)) & mask
        larger[place] = slot
        places[k] = place


@njit(inline="always", cache=True)
def _spread(key):
    """Hash a key: text makes lattices of keys, which a single multiplication would leave in clusters."""
    key *= GOLDEN
    key ^= key >> np.uint64(32)
    return key * GOLDEN


@njit(inline="always", cache=True)
def _log2(size):
    log = 0
    while size > 1:
        size >>= 1
        log += 1
    return log


@njit(nogil=True, cache=True)
def _hash_coded(codes, length, characters, firsts, hashes):
    for k in range(len(firsts)):
        value = np.uint64(0)
        for j in range(length):
            value = value * POLYNOMIAL + characters[codes[np.int64(firsts[k]) + j]]
        hashes[k] = mix(value + np.uint64(length))


@njit(nogil=True, cache=True)
def _count_hashed(occurrences, n, tables, places, hashes, counts, firsts, out):
    """[5, 7, 5] -> hashes 5, 7; counts 2, 1; firsts 0, 1, all written at ``out``."""
    size, i, n_distinct = _FIRST_TABLE, np.int64(0), np.int64(0)
    while True:
        table = tables[size : 2 * size]
        i, n_distinct = _count_hashed_until_full(
            occurrences, i, n, table, places, hashes[out:], counts[out:], firsts[out:], n_distinct
        )
        for k in range(n_distinct):
            table[places[k]] = 0
        if i == n:
            return out + n_distinct
        size *= 2
        _refill(tables[size : 2 * size], places, hashes[out : out + n_distinct])


@njit(nogil=True, cache=True)
def _count_hashed_until_full(occurrences, start, n, table, places, hashes, counts, firsts, n_distinct):
    mask = np.uint64(len(table) - 1)
    shift = np.uint64(64 - _log2(len(table)))
    most = len(table) // _FILL
    for i in range(start, n):
        key = occurrences[i]
        place = key >> shift
        entry = table[place]
        while entry != np.uint64(0) and hashes[np.int64(entry) - 1] != key:
            place = (place + np.uint64(1)) & mask
            entry = table[place]
        if entry != np.uint64(0):
            counts[np.int64(entry) - 1] += np.uint32(1)
            continue
        if n_distinct == most:
            return i, n_distinct
        hashes[n_distinct] = key
        counts[n_distinct] = 1
        firsts[n_distinct] = i
        places[n_distinct] = place
        n_distinct += 1
        table[place] = n_distinct
    return n, n_distinct


@njit(nogil=True, cache=True)
def _refill(table, places, hashes):
    mask = np.uint64(len(table) - 1)
    shift = np.uint64(64 - _log2(len(table)))
    for k in range(len(hashes)):
        place = hashes[k] >> shift
        while table[place] != np.uint64(0):
            place = (place + np.uint64(1)) & mask
        table[place] = k + 1
        places[k] = place


@njit(nogil=True, cache=True)
def locate_many(data, offsets, documents, firsts, length, starts, ends):
    at, character, document = 0, 0, -1
    for k in range(len(documents)):
        if documents[k] != document or firsts[k] < character:
            document = documents[k]
            at, character = offsets[document], 0
        at = _skip(data, at, offsets[document + 1], np.int64(firsts[k]) - character)
        character = np.int64(firsts[k])
        starts[k] = at
        ends[k] = _skip(data, at, offsets[document + 1], length)


@njit(nogil=True, cache=True)
def _skip(data, at, end, n):
    while n > 0 and at < end:
        byte = data[at]
        at += 1 if byte < 128 else (2 if byte < 0xE0 else (3 if byte < 0xF0 else 4))
        n -= 1
    return at
