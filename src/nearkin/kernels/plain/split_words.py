"""The twin of ``compiled.split_words``."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.plain.shingles import split_words as words_of

Words = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]


def split_words(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Words:
    """See ``compiled.split_words.split_words``.

    Examples
    --------
    >>> text = np.frombuffer("it's, 日本".encode(), np.uint8)
    >>> words, word_offsets, text_offsets = split_words(text, np.array([0, 5, len(text)]))
    >>> words.tobytes().decode(), word_offsets.tolist(), text_offsets.tolist()
    ('its日本', [0, 2, 3, 6, 9], [0, 2, 4])
    """
    texts = [words_of(data[start:end].tobytes().decode()) for start, end in pairwise(offsets)]
    words = [word.encode() for text in texts for word in text]
    word_offsets = np.cumsum([0, *map(len, words)], dtype=np.int64)
    text_offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return np.frombuffer(b"".join(words), np.uint8).copy(), word_offsets, text_offsets
