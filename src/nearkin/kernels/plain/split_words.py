"""The plain twins of the loops of `nearkin.kernels.split_words`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from nearkin.kernels.plain.shingles import split_words


def split_many(data, offsets, classes, words, word_offsets, text_offsets):
    texts = [split_words(data[start:end].tobytes().decode()) for start, end in pairwise(offsets)]
    found = [word.encode() for text in texts for word in text]
    word_offsets[: len(found) + 1] = np.cumsum([0, *map(len, found)])
    words[: word_offsets[len(found)]] = np.frombuffer(b"".join(found), np.uint8)
    text_offsets[1:] = np.cumsum([*map(len, texts)])
    return len(found)
