"""Loops of `nearkin.kernels.split_words`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.characters import ALONE, FORMAT, MARK, SEPARATOR, WORD
from nearkin.kernels.compiled.characters import decoded
from nearkin.kernels.compiled.jit import njit


@njit(nogil=True, cache=True)
def split_many(data, offsets, classes, words, word_offsets, text_offsets, bounds):
    n_words, n_bytes = np.int64(0), np.int64(0)
    word_offsets[0] = 0
    for i in range(len(offsets) - 1):
        text = data[offsets[i] : offsets[i + 1]]
        n_words, n_bytes = _split_one(text, classes, words, word_offsets, bounds, n_words, n_bytes)
        text_offsets[i + 1] = n_words
    return n_words


@njit(nogil=True, cache=True)
def _split_one(text, classes, words, word_offsets, bounds, n_words, n_bytes):
    inside = np.int64(SEPARATOR)  # or WORD or ALONE: kind of the open word
    at = 0
    while at < len(text):
        code_point, after = decoded(text, at)
        kind = np.int64(classes[code_point])
        is_part = (kind == WORD and inside == WORD) or (kind == MARK and inside != SEPARATOR)
        if not is_part and kind not in (FORMAT, MARK):
            if inside != SEPARATOR:
                n_words += 1
                word_offsets[n_words] = n_bytes
            inside = kind if kind in (WORD, ALONE) else np.int64(SEPARATOR)
        if is_part or kind in (WORD, ALONE):
            if len(bounds):
                if not is_part:
                    bounds[n_words, 0] = at
                bounds[n_words, 1] = after
            for j in range(at, after):
                words[n_bytes] = text[j]
                n_bytes += 1
        at = after
    if inside != SEPARATOR:
        n_words += 1
        word_offsets[n_words] = n_bytes
    return n_words, n_bytes
