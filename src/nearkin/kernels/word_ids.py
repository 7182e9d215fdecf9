"""Word numbers of texts: in one call, a word has the same number in all texts, counted from 0 by first occurrence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import ALONE, MARK, WORD, character_classes
from nearkin.kernels.choosing import frozen, loops

Ids = tuple[NDArray[np.int32], NDArray[np.int64]]
Texts = tuple[NDArray[np.uint8], NDArray[np.int64]]


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
    kernel = loops("word_ids", int(offsets[-1] - offsets[0]))
    bounds = kernel.number_words(*frozen(data, offsets), ids, id_offsets)
    return ids[: id_offsets[-1]], id_offsets, bounds


def are_among(data: NDArray[np.uint8], bounds: NDArray[np.int64], words: tuple[bytes, ...]) -> NDArray[np.bool_]:
    """Return which words of a text, given by their bounds, are among some distinct others."""
    found = np.zeros(len(bounds), np.bool_)
    loops("word_ids", bounds.nbytes).look_up(*frozen(data, bounds), words, found)
    return found


def without_words(data: NDArray[np.uint8], offsets: NDArray[np.int64], words: tuple[bytes, ...]) -> Texts:
    """Remove some distinct words, with the characters attached to them, from each text; the rest is unchanged."""
    kept = np.empty(int(offsets[-1] - offsets[0]), np.uint8)
    kept_offsets = np.zeros(len(offsets), np.int64)
    loops("word_ids", len(kept)).leave_out(*frozen(data, offsets), words, kept, kept_offsets)
    return kept[: kept_offsets[-1]], kept_offsets


def first_ids(ids: NDArray[np.int32], offsets: NDArray[np.int64], *, n_distinct: int) -> Ids:
    """Return the first occurrence of each number in each text."""
    kept, kept_offsets = np.empty_like(ids), np.zeros_like(offsets)
    loops("word_ids", ids.nbytes).keep_first(*frozen(ids, offsets), n_distinct, kept, kept_offsets)
    return kept[: kept_offsets[-1]], kept_offsets


def frequent_ids(ids: NDArray[np.int32], offsets: NDArray[np.int64], *, n_distinct: int, most: int) -> Ids:
    """Return the most frequent numbers of each text, the most frequent first, in a tie the one that occurs first."""
    kept, kept_offsets = np.empty_like(ids), np.zeros_like(offsets)
    kernel = loops("word_ids", ids.nbytes)
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
