"""Loops of `nearkin.kernels.letters`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.characters import ALONE, WORD
from nearkin.kernels.compiled.characters import decoded
from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import mix
from nearkin.kernels.letters import MAX_COUNT, N_BUCKETS, N_LATIN

_BUCKET_SHIFT = np.uint64(58)
_N_HISTOGRAMS = 4
_BLOCK = 1 << 24  # bytes after which the histograms are cleared, so that their 32 bits never overflow


@njit(nogil=True, cache=True)
def count_many(data, offsets, classes, counts, n_counted, n_others):
    histograms = np.zeros((_N_HISTOGRAMS, 256), np.uint32)
    totals = np.zeros(256, np.int64)
    buckets = np.zeros(N_BUCKETS, np.int64)
    for i in range(len(counts)):
        text = data[offsets[i] : offsets[i + 1]]
        _count_bytes(text, histograms, totals)
        for place in range(N_LATIN):
            n = totals[_byte_of(place)]
            counts[i, place] = min(n, MAX_COUNT)
            n_counted[i] += n
        if totals[128:].any():
            buckets[:] = 0
            n = _count_other_letters(text, classes, buckets)
            if counts.shape[1] == N_LATIN:
                n_others[i] = n
            else:
                n_counted[i] += n
                for bucket in range(N_BUCKETS):
                    counts[i, N_LATIN + bucket] = min(buckets[bucket], MAX_COUNT)


@njit(inline="always", cache=True)
def _byte_of(place):
    if place < 26:
        return 65 + place
    return 97 + place - 26 if place < 52 else 48 + place - 52


@njit(nogil=True, cache=True)
def _count_bytes(text, histograms, totals):
    """Count each byte; neighbours go to different histograms, so that a repeated letter need not wait for itself."""
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
    n = 0
    at = 0
    while at < len(text):
        byte = text[at]
        if byte < 128:
            at += 1
            continue
        code_point, at = decoded(text, at)
        kind = classes[code_point]
        if kind in (WORD, ALONE):
            buckets[np.int64(mix(np.uint64(code_point)) >> _BUCKET_SHIFT)] += 1
            n += 1
    return n
