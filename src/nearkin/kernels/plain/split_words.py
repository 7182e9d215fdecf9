"""The plain twins of the loops of `nearkin.kernels.split_words`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from nearkin.kernels.plain.shingles import bounded_words


def split_many(data, offsets, classes, words, word_offsets, text_offsets, bounds):
    texts = [bounded_words(data[start:end].tobytes().decode()) for start, end in pairwise(offsets)]
    found = [word.encode() for text in texts for word, _, _ in text]
    word_offsets[: len(found) + 1] = np.cumsum([0, *map(len, found)])
    words[: word_offsets[len(found)]] = np.frombuffer(b"".join(found), np.uint8)
    text_offsets[1:] = np.cumsum([*map(len, texts)])
    if len(bounds) and found:
        bounds[: len(found)] = [(start, end) for text in texts for _, start, end in text]
    return len(found)
