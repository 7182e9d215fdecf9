"""Units of a text, each a 64-bit number: the hash of a word or of a token of code, or a code point."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import ALONE, CODE, FORMAT, MARK, SEPARATOR, WORD, WORDS
from nearkin.kernels.compiled.characters import decoded
from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import GOLDEN, mix

_BLOCK = 64


def _scratch(longest: int) -> tuple[NDArray[Any], ...]:
    """Buffers for one text; the system allocates only memory that is written."""
    padded = -(-longest // _BLOCK) * _BLOCK + _BLOCK
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
    for i in range(len(text), min(len(text) + _BLOCK, len(inside))):
        inside[i] = 0
        copy[i] = 0
    return high >= 128


@njit(nogil=True, cache=True)
def _find_bounds(inside_words, n_bytes, bounds):
    n = 0
    last_bit = np.uint64(0)
    for block in range(n_bytes // _BLOCK + 1):
        bits = _pack_bits(inside_words, block)
        changes = bits ^ ((bits << np.uint64(1)) | last_bit)
        last_bit = bits >> np.uint64(63)
        while changes != 0:
            bounds[n] = np.uint64(block * _BLOCK) + _lowest_bit(changes)
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
