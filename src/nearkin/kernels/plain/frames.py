"""The plain twins of the loops of `nearkin.kernels.frames`."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from nearkin.kernels.characters import classes_with_currencies
from nearkin.kernels.plain.hashing import GOLDEN, MASK, mix
from nearkin.kernels.plain.shingles import _shingles_one, bounded_words, word_hash

_DIGIT = re.compile("[0-9]")


def frame_many(data, offsets, also_numbers, ticks, frame, numbers, hashes, number_offsets):
    for i, (start, end) in enumerate(pairwise(offsets)):
        words, figures, digest = 0, [], 0
        text = [word for word, _, _ in bounded_words(data[start:end].tobytes().decode(), classes_with_currencies())]
        for place, word in enumerate(text):
            encoded, unit = word.encode(), word_hash(word)
            if encoded in ticks:
                digest = _absorb(digest, words)
                for before in text[max(place - 4, 0) : place]:
                    unit = _absorb(unit, word_hash(before))
            if _DIGIT.search(word) or encoded in also_numbers + ticks:
                figures.append(unit)
                digest = _absorb(digest, unit)
                continue
            words = (words + len(encoded)) & MASK
            for at in range(0, len(encoded), 8):
                words = _absorb(words, int.from_bytes(encoded[at : at + 8], "little"))
        frame[i], numbers[i] = mix(words), mix(digest)
        n_before = Counter[int]()
        for j, figure in enumerate(sorted(figures)):
            figures[j] = (figure + n_before[figure] * GOLDEN) & MASK  # second and later ones are other numbers
            n_before[figure] += 1
        distinct = list(dict.fromkeys(_shingles_one(figures, 1)))
        number_offsets[i + 1] = number_offsets[i] + len(distinct)
        hashes[number_offsets[i] : number_offsets[i + 1]] = distinct


def _absorb(word: int, piece: int) -> int:
    word = ((word ^ piece) * GOLDEN) & MASK
    return word ^ (word >> 32)
