"""Loops of `nearkin.kernels.shingles`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import ALONE, CHARACTERS, CODE, FORMAT, MARK, SEPARATOR, WORD, WORDS, character_classes
from nearkin.kernels.compiled.basics import GOLDEN, decoded, mix, njit

_BYTES_AT_ONCE = 64
_POLYNOMIAL = np.uint64(0xD6E8FEB86659FD93)
_BLOCK = 4096
_MAX_AT_FIRST = 1 << 15
"""Initial capacity of the table for distinct shingles."""
_GROWTH = 8
"""Growth factor of the table: refilling it takes time, and most texts repeat the same shingles."""


def _scratch(longest: int) -> tuple[NDArray[Any], ...]:
    """Buffers for one text; the system allocates only memory that is written."""
    padded = -(-longest // _BYTES_AT_ONCE) * _BYTES_AT_ONCE + _BYTES_AT_ONCE
    text, inside = np.zeros(padded, np.uint8), np.zeros(padded, np.uint8)
    bounds = np.empty(longest + 2, np.uint64)
    return (
        text,
        text.view(np.uint64),
        inside,
        inside.view(np.uint64),
        bounds,
        np.empty(longest, np.uint64),
        np.empty(longest, np.uint64),
    )


@njit(nogil=True, cache=True)
def _units_one(text, classes, unit, scratch, units):
    if unit == WORDS:
        return _words_one(text, classes, scratch, units)
    return _tokens_one(text, classes, units) if unit == CODE else _characters_one(text, units)


@njit(nogil=True, cache=True)
def _words_one(text, classes, scratch, words):
    """Hash each word: ASCII outside words cuts the text into runs; only runs with others are examined further."""
    copy, copy_words, inside, inside_words, bounds, _, _ = scratch
    has_mixed_runs = _mark_runs(text, copy, inside)
    n_bounds = _find_bounds(inside_words, len(text), bounds)
    n = 0
    for i in range(0, n_bounds, 2):
        start, end = bounds[i], bounds[i + 1]
        words[n], high = _hash_run(copy_words, start, end)
        n += 1
        if has_mixed_runs and high:
            n = _add_mixed_run(text, np.int64(start), np.int64(end), classes, words, n - 1)
    return n


@njit(nogil=True, cache=True)
def _mark_runs(text, copy, inside):
    """Set 1 for ASCII letters and digits and all beyond ASCII, else 0, without branches; clear a block after it."""
    high = np.uint8(0)
    for i in range(len(text)):
        byte = text[i]
        copy[i] = byte
        high = np.uint8(high | byte)
    for i in range(len(text)):
        byte = text[i]
        is_letter = np.uint8(np.uint8(byte | np.uint8(32)) - np.uint8(97)) < 26
        is_digit = np.uint8(byte - np.uint8(48)) < 10
        inside[i] = np.uint8(1) if is_letter | is_digit | (byte >= 128) else np.uint8(0)
    for i in range(len(text), min(len(text) + _BYTES_AT_ONCE, len(inside))):
        inside[i] = 0
        copy[i] = 0
    return high >= 128


@njit(nogil=True, cache=True)
def _find_bounds(inside_words, n_bytes, bounds):
    n = 0
    last_bit = np.uint64(0)
    for block in range(n_bytes // _BYTES_AT_ONCE + 1):
        bits = _pack_bits(inside_words, block)
        changes = bits ^ ((bits << np.uint64(1)) | last_bit)
        last_bit = bits >> np.uint64(63)
        while changes != 0:
            bounds[n] = np.uint64(block * _BYTES_AT_ONCE) + _lowest_bit(changes)
            changes &= changes - np.uint64(1)
            n += 1
    return n


@njit(inline="always", cache=True)
def _pack_bits(inside_words, block):
    bits = np.uint64(0)
    for k in range(8):
        eight = (inside_words[block * 8 + k] * np.uint64(0x0102040810204080)) >> np.uint64(56)
        bits |= eight << np.uint64(8 * k)
    return bits


@njit(inline="always", cache=True)
def _lowest_bit(bits):
    """Return the position of the lowest set bit. LLVM makes one instruction of this."""
    x = (bits & (~bits + np.uint64(1))) - np.uint64(1)
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(inline="always", cache=True)
def _absorb(word, piece):
    word = (word ^ piece) * GOLDEN
    return word ^ (word >> np.uint64(32))


@njit(inline="always", cache=True)
def _piece(copy_words, at, n_bytes):
    """Load up to eight bytes from any position, padded with zeros; uses two aligned loads."""
    index, shift = at >> np.uint64(3), (at & np.uint64(7)) << np.uint64(3)
    piece = (copy_words[index] >> shift) | (
        (copy_words[index + np.uint64(1)] << np.uint64(1)) << (np.uint64(63) - shift)
    )
    if n_bytes < np.uint64(8):
        piece &= (np.uint64(1) << (n_bytes << np.uint64(3))) - np.uint64(1)
    return piece


@njit(inline="always", cache=True)
def _hash_run(copy_words, start, end):
    """Hash a run, sixteen bytes at a time; return whether it is not all ASCII."""
    word, high = GOLDEN, np.uint64(0)
    length = end - start
    while True:
        first = _piece(copy_words, start, length)
        rest = length - min(length, np.uint64(8))
        second = _piece(copy_words, start + np.uint64(8), rest)
        word = _absorb(_absorb(word, first), second)
        high |= first | second
        if length <= np.uint64(16):
            return mix(word), (high & np.uint64(0x8080808080808080)) != 0
        start += np.uint64(16)
        length -= np.uint64(16)


@njit(nogil=True, cache=True)
def _add_mixed_run(text, start, end, classes, words, n):
    """Split words of any script; marks belong to the preceding word, format characters are ignored."""
    word, piece, n_bytes = GOLDEN, np.uint64(0), np.int64(0)
    inside = SEPARATOR  # or WORD or ALONE: kind of the open word
    at = start
    while at < end:
        code_point, after = decoded(text, at)
        kind = classes[code_point]
        is_part = (kind == WORD and inside == WORD) or (kind == MARK and inside != SEPARATOR)
        if inside != SEPARATOR and not is_part and kind not in (FORMAT, MARK):
            words[n] = _close(word, piece, n_bytes)
            n += 1
            word, piece, n_bytes = GOLDEN, np.uint64(0), 0
            inside = SEPARATOR
        if is_part or kind in (WORD, ALONE):
            inside = inside if is_part else np.int64(kind)
            for j in range(at, after):
                piece |= np.uint64(text[j]) << np.uint64(8 * (n_bytes % 8))
                n_bytes += 1
                if n_bytes % 8 == 0:
                    word, piece = _absorb(word, piece), np.uint64(0)
        at = after
    if inside != SEPARATOR:
        words[n] = _close(word, piece, n_bytes)
        n += 1
    return n


@njit(nogil=True, cache=True)
def _tokens_one(text, classes, tokens):
    n = 0
    word, piece, n_bytes = GOLDEN, np.uint64(0), np.int64(0)
    inside = SEPARATOR  # or WORD or ALONE: kind of the open token
    at = 0
    while at < len(text):
        code_point, after = decoded(text, at)
        kind = WORD if code_point == 95 else np.int64(classes[code_point])  # 95: the underscore
        is_part = (kind == WORD and inside == WORD) or (kind == MARK and inside != SEPARATOR)
        is_sign = kind == SEPARATOR and (33 <= code_point <= 126 or code_point >= 0xA0)
        if inside != SEPARATOR and not is_part and kind != FORMAT:
            tokens[n] = _close(word, piece, n_bytes)
            n += 1
            word, piece, n_bytes = GOLDEN, np.uint64(0), 0
            inside = SEPARATOR
        if is_part or is_sign or kind in (WORD, ALONE):
            inside = inside if is_part or is_sign else kind
            for j in range(at, after):
                piece |= np.uint64(text[j]) << np.uint64(8 * (n_bytes % 8))
                n_bytes += 1
                if n_bytes % 8 == 0:
                    word, piece = _absorb(word, piece), np.uint64(0)
            if is_sign:
                tokens[n] = _close(word, piece, n_bytes)
                n += 1
                word, piece, n_bytes = GOLDEN, np.uint64(0), 0
        at = after
    if inside != SEPARATOR:
        tokens[n] = _close(word, piece, n_bytes)
        n += 1
    return n


@njit(nogil=True, cache=True)
def _close(word, piece, n_bytes):
    if n_bytes % 8:
        word = _absorb(word, piece)
    if 0 < n_bytes % 16 <= 8:
        word = _absorb(word, np.uint64(0))
    return mix(word)


@njit(nogil=True, cache=True)
def _characters_one(text, characters):
    n = 0
    at = 0
    while at < len(text):
        byte = text[at]
        if byte < 128:
            characters[n] = byte
            n += 1
            at += 1
            continue
        code_point, at = decoded(text, at)
        characters[n] = np.uint64(code_point)
        n += 1
    return n


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
