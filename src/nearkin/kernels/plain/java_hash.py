"""The twin of ``compiled.java_hash``."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


def character_shingles(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, length: int, without_vowels: bool
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """See ``compiled.java_hash.character_shingles``.

    Examples
    --------
    >>> text = np.frombuffer(b"four sc", np.uint8)
    >>> shingles, _ = character_shingles(text, np.array([0, 7]), length=4, without_vowels=False)
    >>> shingles.tolist() == [hash_code("four"), hash_code("ours"), hash_code("ursc")]
    True
    """
    skipped = " aeiou" if without_vowels else " "
    texts = [data[a:b].tobytes().decode() for a, b in pairwise(offsets)]
    kept = ["".join(character for character in text if character not in skipped) for text in texts]
    return _concatenated([_hashes(_units(text), length) for text in kept])


def hash_words(data: NDArray[np.uint8], bounds: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """See ``compiled.java_hash.hash_words``."""
    words = [data[a:b].tobytes().decode() for a, b in bounds.tolist()]
    hashes = [hash_code(word) & 0xFFFFFFFF for word in words]
    powers = [pow(31, len(_units(word)), 1 << 32) for word in words]
    return np.array(hashes, np.uint32), np.array(powers, np.uint32)


def word_shingles(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint32],
    powers: NDArray[np.uint32],
    *,
    length: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """See ``compiled.java_hash.word_shingles``.

    Examples
    --------
    >>> words = np.frombuffer(b"fourscore", np.uint8), np.array([[0, 4], [4, 9]])
    >>> ids, offsets = np.array([0, 1, 0], np.int32), np.array([0, 3])
    >>> shingles, _ = word_shingles(ids, offsets, *hash_words(*words), length=2)
    >>> shingles.tolist() == [hash_code("four score"), hash_code("score four")]
    True
    """
    found = []
    for a, b in pairwise(offsets.tolist()):
        own = [(int(hashes[i]), int(powers[i])) for i in ids[a:b]]
        found.append([_joined(own[first : first + length]) for first in range(len(own) - length + 1)])
    return _concatenated(found)


def _joined(words: list[tuple[int, int]]) -> int:
    """The hash of words joined by a space, from the hash and the power of each."""
    hashed, _ = words[0]
    for own, power in words[1:]:
        hashed = ((31 * hashed + ord(" ")) * power + own) & 0xFFFFFFFF
    return hashed - (1 << 32) if hashed >> 31 else hashed


def hash_code(text: str) -> int:
    """Java's ``String.hashCode``: a signed number of 32 bits.

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
    """A text as Java has it: in UTF-16."""
    return [int(unit) for unit in np.frombuffer(text.encode("utf-16-le"), "<u2")]


def _hashes(units: list[int], length: int) -> list[int]:
    """Each k-gram's, from that of the one before it."""
    hashed, power, hashes = 0, pow(31, length, 1 << 32), []
    for i, unit in enumerate(units):
        left = units[i - length] if i >= length else 0
        hashed = (31 * hashed + unit - left * power) & 0xFFFFFFFF
        if i >= length - 1:
            hashes.append(hashed - (1 << 32) if hashed >> 31 else hashed)
    return hashes


def _concatenated(found: list[list[int]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    offsets = np.cumsum([0, *map(len, found)], dtype=np.int64)
    return np.array([hashed for one in found for hashed in one], np.int32), offsets
