"""Letters of texts counted: 62 Latin letters and digits one by one, those of every other script in hashed buckets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import ALONE, WORD, character_classes
from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import mix

N_LATIN = 62
"""A to Z, a to z, 0 to 9, in this order."""
N_BUCKETS = 64
"""For the letters and digits of all other scripts: the upper six bits of the mixed code point."""
MOST_COUNT = 2**27 - 1
"""Where a count stops, so that the squares of 256 of them add up to less than 2**62."""
_BUCKET_SHIFT = np.uint64(58)
_N_HISTOGRAMS = 4
_BLOCK = 1 << 24  # bytes after which the histograms are emptied: their 32 bits never run over


def count_letters(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, n_buckets: int
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """Count the letters and digits of each text.

    Parameters
    ----------
    data, offsets : uint8 and int64 arrays
        UTF-8; text ``i`` is ``data[offsets[i]:offsets[i + 1]]``.
    n_buckets : int
        0 or N_BUCKETS.

    Returns
    -------
    counts : uint32 array, shape (n_texts, 62 + n_buckets)
        None greater than MOST_COUNT.
    n_counted, n_others : int64 arrays, shape (n_texts,)
        Letters and digits that have a place among the counts, and those that have none.
    """
    n_texts = len(offsets) - 1
    counts = np.zeros((n_texts, N_LATIN + n_buckets), np.uint32)
    n_counted, n_others = np.zeros(n_texts, np.int64), np.zeros(n_texts, np.int64)
    _count_many(data, offsets, character_classes(), counts, n_counted, n_others)
    return counts, n_counted, n_others


@njit(nogil=True, cache=True)
def _count_many(data, offsets, classes, counts, n_counted, n_others):
    histograms = np.zeros((_N_HISTOGRAMS, 256), np.uint32)
    totals = np.zeros(256, np.int64)
    buckets = np.zeros(N_BUCKETS, np.int64)
    for i in range(len(counts)):
        text = data[offsets[i] : offsets[i + 1]]
        _count_bytes(text, histograms, totals)
        for place in range(N_LATIN):
            n = totals[_byte_of(place)]
            counts[i, place] = min(n, MOST_COUNT)
            n_counted[i] += n
        if totals[128:].any():
            buckets[:] = 0
            n = _count_other_letters(text, classes, buckets)
            if counts.shape[1] == N_LATIN:
                n_others[i] = n
            else:
                n_counted[i] += n
                for bucket in range(N_BUCKETS):
                    counts[i, N_LATIN + bucket] = min(buckets[bucket], MOST_COUNT)


@njit(inline="always", cache=True)
def _byte_of(place):
    """The ASCII code of a Latin place."""
    if place < 26:
        return 65 + place
    return 97 + place - 26 if place < 52 else 48 + place - 52


@njit(nogil=True, cache=True)
def _count_bytes(text, histograms, totals):
    """How often each byte occurs; neighbours go to different histograms: a repeated letter need not wait for itself."""
    totals[:] = 0
    for first in range(0, len(text), _BLOCK):
        end = min(len(text), first + _BLOCK)
        whole = end - (end - first) % _N_HISTOGRAMS
        histograms[:] = 0
        for at in range(first, whole, _N_HISTOGRAMS):
            histograms[0, text[at]] += np.uint32(1)
            histograms[1, text[at + 1]] += np.uint32(1)
            histograms[2, text[at + 2]] += np.uint32(1)
            histograms[3, text[at + 3]] += np.uint32(1)
        for at in range(whole, end):
            histograms[0, text[at]] += np.uint32(1)
        for byte in range(256):
            for k in range(_N_HISTOGRAMS):
                totals[byte] += histograms[k, byte]


@njit(nogil=True, cache=True)
def _count_other_letters(text, classes, buckets):
    """Letters and digits that are not ASCII, by bucket; and how many there are."""
    n = 0
    at = 0
    while at < len(text):
        byte = text[at]
        if byte < 128:
            at += 1
            continue
        length = 2 if byte < 0xE0 else (3 if byte < 0xF0 else 4)
        code_point = np.int64(byte) & (0x1F if length == 2 else (0x0F if length == 3 else 0x07))
        for j in range(at + 1, at + length):
            code_point = (code_point << 6) | (np.int64(text[j]) & 0x3F)
        at += length
        kind = classes[code_point]
        if kind in (WORD, ALONE):
            buckets[np.int64(mix(np.uint64(code_point)) >> _BUCKET_SHIFT)] += 1
            n += 1
    return n
