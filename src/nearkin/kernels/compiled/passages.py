"""Loops of `nearkin.kernels.passages`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.basics import mix, njit

_POLYNOMIAL = np.uint64(0xD6E8FEB86659FD93)
_NONE = np.uint32(0xFFFFFFFF)


@njit(cache=True)
def _power(length):
    """Return the factor of a word that leaves a run of this length."""
    power = np.uint64(1)
    for _ in range(length):
        power *= _POLYNOMIAL
    return power


@njit(nogil=True, cache=True)
def winnow_many(words, starts, k, w, keys, places):
    power = _power(k)
    hashes = np.empty(len(words), np.uint64)
    n = np.int64(0)
    for i in range(len(starts) - 1):
        n_runs = starts[i + 1] - starts[i] - k + 1
        if n_runs >= w:
            _run_hashes(words[starts[i] : starts[i + 1]], k, power, hashes)
            n = _winnow_one(hashes, n_runs, w, starts[i], keys, places, n)
    return n


@njit(nogil=True, cache=True)
def _run_hashes(words, k, power, hashes):
    value = np.uint64(0)
    for at in range(len(words)):
        value = value * _POLYNOMIAL + words[at]
        if at >= k:
            value -= power * words[at - k]
        if at >= k - 1:
            hashes[at - k + 1] = mix(value)


@njit(nogil=True, cache=True)
def _winnow_one(hashes, n_runs, w, start, keys, places, n):
    least, chosen = np.int64(0), np.int64(-1)
    for at in range(n_runs):
        if hashes[at] <= hashes[least]:
            least = at
        elif least <= at - w:
            least = at - w + 1
            for j in range(at - w + 2, at + 1):
                if hashes[j] <= hashes[least]:
                    least = j
        if at >= w - 1 and least != chosen:
            chosen = least
            keys[n], places[n] = hashes[least], start + least
            n += 1
    return n


@njit(nogil=True, cache=True)
def hash_many(words, starts, marks, length, keys, places):
    power = _power(length)
    n = np.int64(0)
    for i in range(len(starts) - 1):
        value, until = np.uint64(0), starts[i]  # the value is that of up to ``length`` words before ``until``
        begun = starts[i]
        for at in range(starts[i], starts[i + 1] - length + 1):
            if marks[at] == 0:
                continue
            if at >= until:
                value, until, begun = np.uint64(0), at, at
            while until < at + length:
                value = value * _POLYNOMIAL + words[until]
                if until - length >= begun:
                    value -= power * words[until - length]
                until += 1
            keys[n], places[n] = mix(value), at
            n += 1
    return n


@njit(nogil=True, cache=True)
def mark_many(places, before, marks):
    for place in places:
        for at in range(max(place - before, 0), place + 1):
            marks[at] = 1


@njit(nogil=True, cache=True)
def compare_many(places, first, data, offsets, length, is_equal):
    for i in range(len(places)):
        start, target = places[i], places[first[i]]
        n_known = np.int64(0)
        if i > 0 and is_equal[i - 1] and places[i - 1] == start - 1 and places[first[i - 1]] == target - 1:
            n_known = length - 1
        is_equal[i] = start == target or _are_same(data, offsets, start + n_known, target + n_known, length - n_known)


@njit(nogil=True, cache=True)
def _are_same(data, offsets, a, b, n_words):
    for _ in range(n_words):
        size = offsets[a + 1] - offsets[a]
        if offsets[b + 1] - offsets[b] != size:
            return False
        for j in range(size):
            if data[offsets[a] + j] != data[offsets[b] + j]:
                return False
        a += 1
        b += 1
    return True


@njit(nogil=True, cache=True)
def follow_many(places, first, counts, after, before, n_after, n_before, following):
    for i in range(1, len(places)):  # the only class that can follow most windows of a class (Boyer and Moore)
        if _is_next(places, first, counts, i):
            _vote(after, n_after, first[i - 1], first[i])
            _vote(before, n_before, first[i], first[i - 1])
    n_after[:] = 0
    n_before[:] = 0
    for i in range(1, len(places)):
        if _is_next(places, first, counts, i):
            n_after[first[i - 1]] += after[first[i - 1]] == first[i]
            n_before[first[i]] += before[first[i]] == first[i - 1]
    for a in range(len(places)):
        b = after[a]
        if b != _NONE and before[b] == a and _are_most(n_after[a], counts[a]) and _are_most(n_before[b], counts[b]):
            following[a] = b


@njit(inline="always", cache=True)
def _are_most(n, of):
    return 5 * np.int64(n) >= 4 * np.int64(of)


@njit(inline="always", cache=True)
def _is_next(places, first, counts, i):
    return places[i] == places[i - 1] + 1 and counts[first[i]] > 1 and counts[first[i - 1]] > 1


@njit(inline="always", cache=True)
def _vote(candidate, votes, a, b):
    if votes[a] == 0:
        candidate[a] = b
        votes[a] = 1
    elif candidate[a] == b:
        votes[a] += 1
    else:
        votes[a] -= 1


@njit(nogil=True, cache=True)
def flag_many(places, first, counts, starts, length, of_document, flags):
    document = np.int64(0)
    for i in range(len(places)):
        a = first[i]
        if counts[a] < 2:
            continue
        while starts[document + 1] <= places[i]:
            document += 1
        if of_document[a] < starts[document]:  # the first window of the class in this document
            of_document[a] = places[i]
        flags[i] = np.uint8(1)
        if places[a] < starts[document]:
            flags[i] |= np.uint8(2)
        if of_document[a] + length <= places[i]:
            flags[i] |= np.uint8(4)
