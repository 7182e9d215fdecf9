"""The plain loops of `nearkin.kernels.java_hash`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def character_shingles_many(data, offsets, length, without_vowels, shingles, shingle_offsets):
    skipped = " aeiou" if without_vowels else " "
    texts = [data[a:b].tobytes().decode() for a, b in pairwise(offsets)]
    kept = ["".join(character for character in text if character not in skipped) for text in texts]
    _fill([_hashes(_units(text), length) for text in kept], shingles, shingle_offsets)


def hash_words_many(data, bounds, hashes, powers):
    for i, (start, end) in enumerate(bounds.tolist()):
        word = data[start:end].tobytes().decode()
        hashes[i] = hash_code(word) & 0xFFFFFFFF
        powers[i] = pow(31, len(_units(word)), 1 << 32)


def word_shingles_many(ids, offsets, length, hashes, powers, shingles, shingle_offsets):
    found = []
    for a, b in pairwise(offsets.tolist()):
        own = [(int(hashes[i]), int(powers[i])) for i in ids[a:b]]
        found.append([_joined(own[first : first + length]) for first in range(len(own) - length + 1)])
    _fill(found, shingles, shingle_offsets)


def _joined(words: list[tuple[int, int]]) -> int:
    hashed, _ = words[0]
    for own, power in words[1:]:
        hashed = ((31 * hashed + ord(" ")) * power + own) & 0xFFFFFFFF
    return hashed - (1 << 32) if hashed >> 31 else hashed


def hash_code(text: str) -> int:
    """Return Java's ``String.hashCode``: a signed 32-bit number.

    Examples
    --------
    >>> hash_code("hello"), hash_code("polygenelubricants"), hash_code("")
    (99162322, -2147483648, 0)
    """
    hashed = 0
    for unit in _units(text):
        hashed = (31 * hashed + unit) & 0xFFFFFFFF
    return hashed - (1 << 32) if hashed >> 31 else hashed


def _units(text: str) -> list[int]:
    return [int(unit) for unit in np.frombuffer(text.encode("utf-16-le"), "<u2")]


def _hashes(units: list[int], length: int) -> list[int]:
    hashed, power, hashes = 0, pow(31, length, 1 << 32), []
    for i, unit in enumerate(units):
        left = units[i - length] if i >= length else 0
        hashed = (31 * hashed + unit - left * power) & 0xFFFFFFFF
        if i >= length - 1:
            hashes.append(hashed - (1 << 32) if hashed >> 31 else hashed)
    return hashes


def _fill(found, shingles, shingle_offsets):
    shingle_offsets[1:] = np.cumsum([len(one) for one in found])
    shingles[: shingle_offsets[-1]] = [hashed for one in found for hashed in one]
