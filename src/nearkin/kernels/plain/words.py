"""The plain twins of the loops of `nearkin.kernels.words`."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from nearkin.kernels.plain.shingles import bounded_words
from nearkin.kernels.words import bare_word


def split_many(data, offsets, classes, words, word_offsets, text_offsets, bounds):
    texts = [bounded_words(data[start:end].tobytes().decode()) for start, end in pairwise(offsets)]
    found = [word.encode() for text in texts for word, _, _ in text]
    word_offsets[: len(found) + 1] = np.cumsum([0, *map(len, found)])
    words[: word_offsets[len(found)]] = np.frombuffer(b"".join(found), np.uint8)
    text_offsets[1:] = np.cumsum([*map(len, texts)])
    if len(bounds) and found:
        bounds[: len(found)] = [(start, end) for text in texts for _, start, end in text]
    return len(found)


def number_words(data, offsets, ids, id_offsets):
    numbers, bounds = {}, []
    for i, (start, end) in enumerate(pairwise(offsets.tolist())):
        own = []
        for word, at in _words(data[start:end].tobytes()):
            inner = bare_word(word.decode()).encode()
            if inner and inner not in numbers:
                first = start + at + word.index(inner)
                bounds.append((first, first + len(inner)))
                numbers[inner] = len(numbers)
            if inner:
                own.append(numbers[inner])
        _append(own, i, ids, id_offsets)
    return np.array(bounds, np.int64).reshape(-1, 2)


def look_up(data, bounds, words, found):
    among = set(words)
    found[:] = [data[a:b].tobytes() in among for a, b in bounds]


def leave_out(data, offsets, words, kept, kept_offsets):
    among = {word.decode() for word in words}
    for i, (start, end) in enumerate(pairwise(offsets.tolist())):
        own = [word.decode() for word, _ in _words(data[start:end].tobytes())]
        text = " ".join(word for word in own if bare_word(word) not in among)
        _append(list(text.encode()), i, kept, kept_offsets)


def keep_first(ids, offsets, n_distinct, kept, kept_offsets):
    for i, (start, end) in enumerate(pairwise(offsets)):
        _append(list(dict.fromkeys(ids[start:end].tolist())), i, kept, kept_offsets)


def keep_frequent(ids, offsets, n_distinct, most, kept, kept_offsets):
    for i, (start, end) in enumerate(pairwise(offsets)):
        counted = Counter(ids[start:end].tolist()).most_common(most)
        _append([number for number, _ in counted], i, kept, kept_offsets)


def _words(text):
    words, at = [], 0
    for word in text.split(b" "):
        if word:
            words.append((word, at))
        at += len(word) + 1
    return words


def _append(own, i, values, offsets):
    offsets[i + 1] = offsets[i] + len(own)
    values[offsets[i] : offsets[i + 1]] = own
