"""The plain twins of the loops of `nearkin.kernels.passages`."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

from nearkin.kernels.plain.hashing import MASK, mix

_POLYNOMIAL = 0xD6E8FEB86659FD93


def winnow_many(words, starts, k, w, keys, places):
    found = []
    for start, end in pairwise(starts.tolist()):
        hashes = [_hash(words[at : at + k].tolist()) for at in range(start, end - k + 1)]
        windows = [range(at, at + w) for at in range(len(hashes) - w + 1)]
        chosen = dict.fromkeys(min(window, key=lambda at: (hashes[at], -at)) for window in windows)
        found += [(hashes[at], start + at) for at in chosen]
    return _fill(found, keys, places)


def hash_many(words, starts, marks, length, keys, places):
    wanted = [at for a, b in pairwise(starts.tolist()) for at in range(a, b - length + 1) if marks[at]]
    return _fill([(_hash(words[at : at + length].tolist()), at) for at in wanted], keys, places)


def _hash(words):
    value = 0
    for word in words:
        value = (value * _POLYNOMIAL + word) & MASK
    return mix(value)


def _fill(found, keys, places):
    keys[: len(found)] = [key for key, _ in found]
    places[: len(found)] = [place for _, place in found]
    return len(found)


def mark_many(places, before, marks):
    for place in places.tolist():
        marks[max(place - before, 0) : place + 1] = 1


def compare_many(places, first, data, offsets, length, is_equal):
    def words(place):
        return [data[a:b].tobytes() for a, b in pairwise(offsets[place : place + length + 1].tolist())]

    for i, place in enumerate(places.tolist()):
        is_equal[i] = words(place) == words(int(places[first[i]]))


def follow_many(places, first, counts, after, before, n_after, n_before, following):
    next_to = [i for i in range(1, len(places)) if places[i] == places[i - 1] + 1]
    pairs = Counter((int(first[i - 1]), int(first[i])) for i in next_to)
    for (a, b), n in pairs.items():
        if min(counts[a], counts[b]) > 1 and 5 * n >= 4 * int(counts[a]) and 5 * n >= 4 * int(counts[b]):
            following[a] = b


def flag_many(places, first, counts, starts, length, of_document, flags):
    seen = defaultdict(dict)
    for i, (place, a) in enumerate(zip(places.tolist(), first.tolist(), strict=True)):
        if counts[a] < 2:
            continue
        start = max(start for start in starts[:-1].tolist() if start <= place)
        earliest = seen[start].setdefault(a, place)
        flags[i] = 1 + 2 * bool(places[a] < start) + 4 * bool(earliest + length <= place)
