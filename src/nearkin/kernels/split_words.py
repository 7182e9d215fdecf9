"""Words of texts, as bytes one after another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import character_classes
from nearkin.kernels.choosing import frozen, loops

Words = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]


def split_words(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Words:
    """Return the words of each text as word shingles use them, without the characters that these ignore.

    Returns
    -------
    words, word_offsets : uint8 array, int64 array of shape (n_words + 1,)
        Word ``i`` is ``words[word_offsets[i]:word_offsets[i + 1]]``.
    text_offsets : int64 array, shape (n_texts + 1,)
        The words of text ``i`` are those from ``text_offsets[i]`` to ``text_offsets[i + 1]``.
    """
    words, _ = _split(data, offsets, np.empty((0, 2), np.uint32))
    return words


def locate_words(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> tuple[Words, NDArray[np.uint32]]:
    """Return the same, and the first and last byte of each word in its text, shape (n_words, 2)."""
    words, bounds = _split(data, offsets, np.empty((int(offsets[-1] - offsets[0]), 2), np.uint32))
    return words, bounds[: len(words[1]) - 1]


def _split(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], bounds: NDArray[np.uint32]
) -> tuple[Words, NDArray[np.uint32]]:
    room = int(offsets[-1] - offsets[0])  # the system allocates only the memory that is written
    words, word_offsets = np.empty(room, np.uint8), np.empty(room + 1, np.int64)
    text_offsets = np.zeros(len(offsets), np.int64)
    n_words = loops("split_words", room).split_many(
        *frozen(data, offsets, character_classes()), words, word_offsets, text_offsets, bounds
    )
    word_offsets = word_offsets[: n_words + 1]
    return (words[: word_offsets[-1]], word_offsets, text_offsets), bounds
