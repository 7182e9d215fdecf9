"""The twins of the loops of `nearkin.kernels.fingerprint_sketches`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from nearkin.kernels.fingerprint_sketches import POLYNOMIAL
from nearkin.kernels.plain.mixing import GOLDEN, MASK, mix


def keep_divisible(shingles, offsets, by, _inverse, _most, kept, kept_offsets):
    _keep([[one for one in own if one % by == 0] for own in _lists(shingles, offsets)], kept, kept_offsets)


def winnow(shingles, offsets, window, kept, kept_offsets):
    _keep([_min_of_windows(own, window) for own in _lists(shingles, offsets)], kept, kept_offsets)


def _min_of_windows(own, window):
    chosen = {}
    for first in range(max(1, len(own) - window + 1) if own else 0):
        places = range(first, min(first + window, len(own)))
        place = min(places, key=lambda at: (own[at], -at))
        chosen[place] = own[place]
    return list(chosen.values())


def keep_extremes(shingles, offsets, most, from_above, kept, kept_offsets):
    part = slice(-most, None) if from_above else slice(most)
    _keep([sorted(own)[part] for own in _lists(shingles, offsets)], kept, kept_offsets)


def keep_random_third(shingles, offsets, seed, kept, kept_offsets):
    _keep([_third(own, int(seed)) for own in _lists(shingles, offsets)], kept, kept_offsets)


def _third(own, seed):
    state = mix(mix((seed + GOLDEN) & MASK) ^ (sum(own) & MASK))
    return [one for at, one in enumerate(own) if mix((state + at * GOLDEN) & MASK) < (1 << 64) // 3]


def sum_many(shingles, offsets, values):
    values[:] = [sum(own) for own in _lists(shingles, offsets)]


def divide_many(shingles, offsets, values):
    for i, own in enumerate(_lists(shingles, offsets)):
        remainder = 1
        for one in own:
            for place in range(31, -1, -1):
                remainder = (remainder << 1) | ((one >> place) & 1)
                if remainder >> 64:
                    remainder ^= POLYNOMIAL
        values[i] = remainder - (1 << 64) if remainder >> 63 else remainder


def hash_repeatedly(shingles, offsets, length, _work, values):
    for i, own in enumerate(_lists(shingles, offsets)):
        left = own
        while len(left) > 1:
            run = min(length, len(left))
            left = [_hash_list(left[first : first + run]) for first in range(len(left) - run + 1)]
        values[i] = left[0] if left else 0


def _hash_list(numbers):
    hashed = 0
    for number in numbers:
        hashed = (31 * hashed + number) & 0xFFFFFFFF
    return hashed - (1 << 32) if hashed >> 31 else hashed


def _lists(shingles, offsets):
    return [shingles[a:b].tolist() for a, b in pairwise(offsets)]


def _keep(chosen, kept, kept_offsets):
    kept_offsets[1:] = np.cumsum([len(own) for own in chosen])
    kept[: kept_offsets[-1]] = [one for own in chosen for one in own]
