"""The plain twins of the loops of `nearkin.kernels.shingles`."""

from __future__ import annotations

from itertools import pairwise

from nearkin.kernels.characters import ALONE, FORMAT, MARK, WORD, character_classes
from nearkin.kernels.plain.mixing import GOLDEN, MASK, mix

_POLYNOMIAL = 0xD6E8FEB86659FD93


def shingle_many(data, offsets, words, length, hashes, set_offsets, n_units):
    for i, (start, end) in enumerate(pairwise(offsets)):
        text = data[start:end].tobytes().decode()
        units = [word_hash(word) for word in split_words(text)] if words else [ord(c) for c in text]
        own = list(dict.fromkeys(_shingles_one(units, length)))
        n_units[i], set_offsets[i + 1] = len(units), set_offsets[i] + len(own)
        hashes[set_offsets[i] : set_offsets[i + 1]] = own


def split_words(text: str) -> list[str]:
    """Split a text into words, as word shingles use them.

    Examples
    --------
    >>> split_words("it's 3pm, 日本")
    ['it', 's', '3pm', '日', '本']
    """
    classes = character_classes()
    words: list[str] = []
    inside = None
    for character in text:
        kind = classes[ord(character)]
        if kind == FORMAT:
            continue
        if (kind == WORD and inside == WORD) or (kind == MARK and inside is not None):
            words[-1] += character
        elif kind != MARK:
            inside = kind if kind in (WORD, ALONE) else None
            if inside is not None:
                words.append(character)
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
