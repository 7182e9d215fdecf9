"""The plain twins of the loops of `nearkin.kernels.shingles`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import ALONE, CODE, FORMAT, MARK, SEPARATOR, WORD, WORDS, character_classes
from nearkin.kernels.plain.hashing import GOLDEN, MASK, mix

_POLYNOMIAL = 0xD6E8FEB86659FD93


def shingle_many(data, offsets, unit, length, hashes, set_offsets, n_units):
    for i, (start, end) in enumerate(pairwise(offsets)):
        text = data[start:end].tobytes().decode()
        units = units_of(text, unit)
        own = list(dict.fromkeys(_shingles_one(units, length)))
        n_units[i], set_offsets[i + 1] = len(units), set_offsets[i] + len(own)
        hashes[set_offsets[i] : set_offsets[i + 1]] = own


def units_of(text: str, unit: int) -> list[int]:
    if unit in (WORDS, CODE):
        return [word_hash(word) for word in (split_words(text) if unit == WORDS else split_code(text))]
    return [ord(character) for character in text]


def split_code(text: str) -> list[str]:
    """Split source code into tokens."""
    classes = character_classes()
    tokens: list[str] = []
    is_open = is_word = False
    for character in text:
        kind = WORD if character == "_" else classes[ord(character)]
        if kind == FORMAT:
            continue
        if (is_word and kind == WORD) or (is_open and kind == MARK):
            tokens[-1] += character
            continue
        is_sign = kind == SEPARATOR and ("!" <= character <= "~" or character >= "\xa0")
        is_word, is_open = kind == WORD, kind in (WORD, ALONE)
        if is_open or is_sign:
            tokens.append(character)
    return tokens


def split_words(text: str) -> list[str]:
    """Split a text into words, as word shingles use them.

    Examples
    --------
    >>> split_words("it's 3pm, 日本")
    ['it', 's', '3pm', '日', '本']
    """
    return [word for word, _, _ in bounded_words(text)]


def bounded_words(text: str, classes: NDArray[np.uint8] | None = None) -> list[tuple[str, int, int]]:
    """Return the same words, or those by other classes, with their bounds in the UTF-8 bytes of the text."""
    classes = character_classes() if classes is None else classes
    words: list[tuple[str, int, int]] = []
    inside, end = None, 0
    for character in text:
        at, end = end, end + len(character.encode())
        kind = classes[ord(character)]
        if kind == FORMAT:
            continue
        if (kind == WORD and inside == WORD) or (kind == MARK and inside is not None):
            words[-1] = words[-1][0] + character, words[-1][1], end
        elif kind != MARK:
            inside = kind if kind in (WORD, ALONE) else None
            if inside is not None:
                words.append((character, at, end))
    return words


def word_hash(word: str) -> int:
    """Return the 64-bit unit of a word."""
    value = GOLDEN
    encoded = word.encode()
    encoded += bytes(-len(encoded) % 16)
    for start in range(0, len(encoded), 8):
        value = ((value ^ int.from_bytes(encoded[start : start + 8], "little")) * GOLDEN) & MASK
        value ^= value >> 32
    return mix(value)


def _shingles_one(units: list[int], length: int) -> list[int]:
    length = min(length, len(units))
    shingles = []
    for i in range(len(units) - length + 1 if units else 0):
        value = 0
        for unit in units[i : i + length]:
            value = (value * _POLYNOMIAL + unit) & MASK
        shingles.append(mix((value + length) & MASK))
    return shingles
