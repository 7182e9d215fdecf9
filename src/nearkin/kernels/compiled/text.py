"""UTF-8 checking, and lower case and white space for text that is checked."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearkin.kernels.characters import SPACE, character_classes

_BLOCK = 64


def first_invalid_byte(
    data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Check that each text is UTF-8 as RFC 3629 has it: shortest forms, no surrogates, at most U+10FFFF.

    Returns
    -------
    invalid_at : int64 array, shape (n_documents,)
        Where in its text the first invalid sequence starts; -1 if the text is valid.
    is_ascii : bool array, shape (n_documents,)
    """
    invalid_at = np.empty(len(offsets) - 1, np.int64)
    is_ascii = np.empty(len(offsets) - 1, np.bool_)
    _check_many(data, offsets, invalid_at, is_ascii)
    return invalid_at, is_ascii


def fold(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, lower: bool, collapse: bool
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Lower the ASCII letters and collapse white space (Unicode's) to single spaces, none at either end; valid UTF-8 in and out."""
    folded = np.empty(int(offsets[-1] - offsets[0]), np.uint8)
    folded_offsets = np.zeros(len(offsets), np.int64)
    bytes_lower = np.arange(256, dtype=np.uint8)
    if lower:
        bytes_lower[ord("A") : ord("Z") + 1] += np.uint8(32)
    _fold_many(data, offsets, bytes_lower, character_classes(), collapse, folded, folded_offsets)
    return folded[: folded_offsets[-1]], folded_offsets


@njit(nogil=True, cache=True)
def _check_many(data, offsets, invalid_at, is_ascii):
    for i in range(len(offsets) - 1):
        ascii_end = _ascii_end(data, offsets[i], offsets[i + 1])
        is_ascii[i] = ascii_end == offsets[i + 1]
        invalid_at[i] = -1
        if not is_ascii[i]:
            bad = _check_one(data, ascii_end, offsets[i + 1])
            if bad >= 0:
                invalid_at[i] = bad - offsets[i]


@njit(nogil=True, cache=True)
def _ascii_end(data, start, end):
    """Where the ASCII at the start ends; whole blocks are tested at once."""
    at = start
    while at + _BLOCK <= end:
        seen = np.uint8(0)
        for j in range(at, at + _BLOCK):
            seen |= data[j]
        if seen >= 128:
            break
        at += _BLOCK
    while at < end and data[at] < 128:
        at += 1
    return at


@njit(nogil=True, cache=True)
def _check_one(data, start, end):
    """The position of the first invalid sequence, or -1."""
    at = start
    while at < end:
        first = data[at]
        if first < 0x80:
            at += 1
            continue
        if 0xC2 <= first <= 0xDF:
            length, low, high = 2, 0x80, 0xBF
        elif 0xE0 <= first <= 0xEF:
            length = 3
            low = 0xA0 if first == 0xE0 else 0x80  # shortest form only
            high = 0x9F if first == 0xED else 0xBF  # no surrogates
        elif 0xF0 <= first <= 0xF4:
            length = 4
            low = 0x90 if first == 0xF0 else 0x80
            high = 0x8F if first == 0xF4 else 0xBF  # at most U+10FFFF
        else:
            return at
        if at + length > end or not (low <= data[at + 1] <= high):
            return at
        for j in range(at + 2, at + length):
            if not (0x80 <= data[j] <= 0xBF):
                return at
        at += length
    return -1


@njit(nogil=True, cache=True)
def _fold_many(data, offsets, bytes_lower, classes, collapse, folded, folded_offsets):
    out = 0
    for i in range(len(offsets) - 1):
        if collapse:
            out = _fold_one(data, offsets[i], offsets[i + 1], bytes_lower, classes, folded, out)
        else:
            for at in range(offsets[i], offsets[i + 1]):
                folded[out] = bytes_lower[data[at]]
                out += 1
        folded_offsets[i + 1] = out


@njit(nogil=True, cache=True)
def _fold_one(data, start, end, bytes_lower, classes, folded, out):
    """Every byte is written; the end moves on unless it was a space after a space: no branch to mispredict on ASCII."""
    first = out
    after_space = 1  # so that leading white space is dropped
    at = start
    while at < end:
        byte = data[at]
        if byte < 128:
            is_space = np.int64(classes[byte] == SPACE)
            folded[out] = np.uint8(32) if is_space else bytes_lower[byte]
            out += 1 - (is_space & after_space)
            after_space = is_space
            at += 1
            continue
        length = 2 if byte < 0xE0 else (3 if byte < 0xF0 else 4)
        code_point = np.int64(byte) & (0x1F if length == 2 else (0x0F if length == 3 else 0x07))
        for j in range(at + 1, at + length):
            code_point = (code_point << 6) | (np.int64(data[j]) & 0x3F)
        if classes[code_point] == SPACE:
            folded[out] = np.uint8(32)
            out += 1 - after_space
            after_space = 1
        else:
            for j in range(at, at + length):
                folded[out] = data[j]
                out += 1
            after_space = 0
        at += length
    if after_space and out > first:
        out -= 1
    return out
