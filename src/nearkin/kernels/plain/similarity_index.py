"""The plain twins of the loops of `nearkin.kernels.similarity_index`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from nearkin.kernels.plain.hashing import GOLDEN, MASK, mix
from nearkin.kernels.similarity_index import POLYNOMIAL


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
