"""Java's ``String.hashCode`` of every k-gram of a text: k-grams of characters, or of words joined by one space."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops


def character_shingles(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, length: int, without_vowels: bool
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the signed hash of every k-gram of characters; spaces and, on request, vowels (aeiou) are skipped.

    Parameters
    ----------
    data, offsets : uint8 and int64 arrays
        Valid UTF-8; all white space is U+0020.
    length
        UTF-16 units in a k-gram, at least 1. A shorter text has none.
    """
    shingles = np.empty(int(offsets[-1] - offsets[0]), np.int32)  # the system allocates only memory that is written
    shingle_offsets = np.zeros(len(offsets), np.int64)
    kernel = loops("java_hash", len(shingles))
    kernel.character_shingles_many(*frozen(data, offsets), length, bool(without_vowels), shingles, shingle_offsets)
    return shingles[: shingle_offsets[-1]], shingle_offsets


def hash_words(data: NDArray[np.uint8], bounds: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the hash of each word, and 31 to the power of its UTF-16 units."""
    hashes, powers = np.empty(len(bounds), np.uint32), np.empty(len(bounds), np.uint32)
    loops("java_hash", bounds.nbytes // 4).hash_words_many(*frozen(data, bounds), hashes, powers)
    return hashes, powers


def word_shingles(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint32],
    powers: NDArray[np.uint32],
    *,
    length: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the hash of every k-gram of words of each text, joined by one space; a shorter text has none."""
    shingles, shingle_offsets = np.empty(len(ids), np.int32), np.zeros(len(offsets), np.int64)
    loops("java_hash", ids.nbytes).word_shingles_many(
        *frozen(ids, offsets), length, *frozen(hashes, powers), shingles, shingle_offsets
    )
    return shingles[: shingle_offsets[-1]], shingle_offsets
