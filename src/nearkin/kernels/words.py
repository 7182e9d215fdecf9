"""Words of texts, as bytes one after another or as numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import ALONE, MARK, WORD, character_classes
from nearkin.kernels.choosing import frozen, loops

Words = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]
Ids = tuple[NDArray[np.int32], NDArray[np.int64]]
Texts = tuple[NDArray[np.uint8], NDArray[np.int64]]


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
    n_words = loops("words", room).split_many(
        *frozen(data, offsets, character_classes()), words, word_offsets, text_offsets, bounds
    )
    word_offsets = word_offsets[: n_words + 1]
    return (words[: word_offsets[-1]], word_offsets, text_offsets), bounds


def word_ids(
    data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Return the words of each text: parts between spaces, stripped of all but letters, digits and marks at both ends.

    Returns
    -------
    id_offsets : int64 array, shape (n_texts + 1,)
    bounds : int64 array, shape (n_distinct, 2)
        Bounds of each distinct word's first occurrence in the data.

    Examples
    --------
    >>> text = np.frombuffer(b'"to be, or not" - to be!', np.uint8)
    >>> ids, _, bounds = word_ids(text, np.array([0, 24]))
    >>> ids.tolist(), [text[a:b].tobytes() for a, b in bounds]
    ([0, 1, 2, 3, 0, 1], [b'to', b'be', b'or', b'not'])
    """
    ids = np.empty(int(offsets[-1] - offsets[0]) // 2 + len(offsets), np.int32)  # only memory that is written is used
    id_offsets = np.zeros(len(offsets), np.int64)
    kernel = loops("words", int(offsets[-1] - offsets[0]))
    bounds = kernel.number_words(*frozen(data, offsets), ids, id_offsets)
    return ids[: id_offsets[-1]], id_offsets, bounds


def are_among(data: NDArray[np.uint8], bounds: NDArray[np.int64], words: tuple[bytes, ...]) -> NDArray[np.bool_]:
    """Return which words of a text, given by their bounds, are among some distinct others."""
    found = np.zeros(len(bounds), np.bool_)
    loops("words", bounds.nbytes).look_up(*frozen(data, bounds), words, found)
    return found


def without_words(data: NDArray[np.uint8], offsets: NDArray[np.int64], words: tuple[bytes, ...]) -> Texts:
    """Remove some distinct words, with the characters attached to them, from each text; the rest is unchanged."""
    kept = np.empty(int(offsets[-1] - offsets[0]), np.uint8)
    kept_offsets = np.zeros(len(offsets), np.int64)
    loops("words", len(kept)).leave_out(*frozen(data, offsets), words, kept, kept_offsets)
    return kept[: kept_offsets[-1]], kept_offsets


def first_ids(ids: NDArray[np.int32], offsets: NDArray[np.int64], *, n_distinct: int) -> Ids:
    """Return the first occurrence of each number in each text."""
    kept, kept_offsets = np.empty_like(ids), np.zeros_like(offsets)
    loops("words", ids.nbytes).keep_first(*frozen(ids, offsets), n_distinct, kept, kept_offsets)
    return kept[: kept_offsets[-1]], kept_offsets


def frequent_ids(ids: NDArray[np.int32], offsets: NDArray[np.int64], *, n_distinct: int, most: int) -> Ids:
    """Return the most frequent numbers of each text, the most frequent first, in a tie the one that occurs first."""
    kept, kept_offsets = np.empty_like(ids), np.zeros_like(offsets)
    kernel = loops("words", ids.nbytes)
    kernel.keep_frequent(*frozen(ids, offsets), n_distinct, most, kept, kept_offsets)
    return kept[: kept_offsets[-1]], kept_offsets


def bare_word(word: str) -> str:
    r"""Strip all but letters, digits and marks from both ends of a word.

    Examples
    --------
    >>> bare_word("\"don't!\""), bare_word("--")
    ("don't", '')
    """
    if word[:1].isalnum() and word[-1:].isalnum() and word.isascii():
        return word
    classes = character_classes()
    parts = [i for i, character in enumerate(word) if classes[ord(character)] in (WORD, ALONE, MARK)]
    return word[parts[0] : parts[-1] + 1] if parts else ""
