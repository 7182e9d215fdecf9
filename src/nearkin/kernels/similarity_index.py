"""Java's ``String.hashCode`` of every k-gram of characters or words, sketches of them, and numbers made from these."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

Sketches = tuple[NDArray[np.int32], NDArray[np.int64]]
"""Shingles, and the start of each text's: shape (n_texts + 1,)."""
_SKETCHED = 32
"""Bytes of shingles that a twin sketches in the time in which one hashes a byte of text."""
POLYNOMIAL = (1 << 64) | 0b11011
"""x^64 + x^4 + x^3 + x + 1."""


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
    kernel = loops("similarity_index", len(shingles))
    kernel.character_shingles_many(*frozen(data, offsets), length, bool(without_vowels), shingles, shingle_offsets)
    return shingles[: shingle_offsets[-1]], shingle_offsets


def hash_words(data: NDArray[np.uint8], bounds: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the hash of each word, and 31 to the power of its UTF-16 units."""
    hashes, powers = np.empty(len(bounds), np.uint32), np.empty(len(bounds), np.uint32)
    loops("similarity_index", bounds.nbytes // 4).hash_words_many(*frozen(data, bounds), hashes, powers)
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
    loops("similarity_index", ids.nbytes).word_shingles_many(
        *frozen(ids, offsets), length, *frozen(hashes, powers), shingles, shingle_offsets
    )
    return shingles[: shingle_offsets[-1]], shingle_offsets


def divisible(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, by: int) -> Sketches:
    """Return the shingles of each text that are divisible by an odd number above 1, in order."""
    # an odd number divides x if x times its inverse modulo 2^32 is a possible quotient
    inverse, most = np.uint32(pow(by, -1, 1 << 32)), np.uint32(((1 << 31) - 1) // by)
    return _kept("keep_divisible", shingles, offsets, by, inverse, most)


def winnowed(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, window: int) -> Sketches:
    """Return the minimum of every window, the rightmost of equals, each once; a text shorter than a window is one.

    Source: Saul Schleimer, Daniel S. Wilkerson, Alex Aiken, "Winnowing: local algorithms for document fingerprinting",
    SIGMOD 2003.

    Examples
    --------
    >>> hashes = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98]  # the article's figure 2
    >>> winnowed(np.array(hashes, np.int32), np.array([0, 17]), window=4)[0].tolist()
    [17, 17, 8, 39, 17]
    """
    return _kept("winnow", shingles, offsets, window)


def lowest(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, most: int) -> Sketches:
    """Return the lowest shingles of each text, at most ``most``, including equals, ascending."""
    return _kept("keep_extremes", shingles, offsets, most, False)


def highest(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, most: int) -> Sketches:
    """Return the highest shingles of each text, at most ``most``, including equals, ascending."""
    return _kept("keep_extremes", shingles, offsets, most, True)


def random_third(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, seed: int) -> Sketches:
    """Select each shingle with probability 1/3, determined by its position, the text's sum of shingles and the seed."""
    return _kept("keep_random_third", shingles, offsets, np.uint64(seed))


def sums(shingles: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of each sketch, in 64 bits."""
    values = np.zeros(len(offsets) - 1, np.int64)
    loops("similarity_index", shingles.nbytes // _SKETCHED).sum_many(*frozen(shingles, offsets), values)
    return values


def rabin(shingles: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the Rabin fingerprint of each sketch, modulo `POLYNOMIAL`.

    The dividend polynomial is a 1 followed by the bits of every shingle, the highest first.

    Source: Andrei Z. Broder, "Some applications of Rabin's fingerprinting method", 1993; the polynomial, irreducible,
    from Gadiel Seroussi, "Table of low-weight binary irreducible polynomials", 1998.

    Examples
    --------
    >>> rabin(np.array([5, 0, 0], np.int32), np.array([0, 1, 3])).tolist()  # x^32 + 5; x^64 is x^4 + x^3 + x + 1
    [4294967301, 27]
    """
    values = np.zeros(len(offsets) - 1, np.int64)
    loops("similarity_index", shingles.nbytes // _SKETCHED).divide_many(*frozen(shingles, offsets), values)
    return values


def super_shingles(shingles: NDArray[np.int32], offsets: NDArray[np.int64], *, length: int) -> NDArray[np.int64]:
    """Hash k-grams of the shingles, then k-grams of these hashes, until one number per text is left.

    The hash is Java's of a list of numbers, a polynomial in 31 with 32-bit overflow.

    Examples
    --------
    >>> super_shingles(np.array([1, 2, 3], np.int32), np.array([0, 3]), length=2).tolist()  # 33, 65; 33 * 31 + 65
    [1088]
    """
    sizes = np.diff(offsets)
    values, work = np.zeros(len(sizes), np.int64), np.empty(int(sizes.max(initial=0)), np.uint32)
    kernel = loops("similarity_index", 4 * int(np.square(sizes).sum()) // _SKETCHED)
    kernel.hash_repeatedly(*frozen(shingles, offsets), length, work, values)
    return values


def _kept(loop: str, shingles: NDArray[np.int32], offsets: NDArray[np.int64], *options: object) -> Sketches:
    kept, kept_offsets = np.empty_like(shingles), np.zeros_like(offsets)
    kernel = loops("similarity_index", shingles.nbytes // _SKETCHED)
    getattr(kernel, loop)(*frozen(shingles, offsets), *options, kept, kept_offsets)
    return kept[: kept_offsets[-1]], kept_offsets
