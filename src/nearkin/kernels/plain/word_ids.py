"""The plain twins of the loops of `nearkin.kernels.word_ids`."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from nearkin.kernels.word_ids import bare_word


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
