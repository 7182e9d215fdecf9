"""The twin of ``compiled.word_ids``."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import ALONE, MARK, WORD, character_classes

Ids = tuple[NDArray[np.int32], NDArray[np.int64]]
Texts = tuple[NDArray[np.uint8], NDArray[np.int64]]


def word_ids(
    data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """See ``compiled.word_ids.word_ids``.

    Examples
    --------
    >>> text = np.frombuffer(b'"to be, or not" - to be!', np.uint8)
    >>> ids, _, bounds = word_ids(text, np.array([0, 24]))
    >>> ids.tolist(), [text[a:b].tobytes() for a, b in bounds]
    ([0, 1, 2, 3, 0, 1], [b'to', b'be', b'or', b'not'])
    """
    numbers, bounds, ids = dict[bytes, int](), list[tuple[int, int]](), list[list[int]]()
    for start, end in pairwise(offsets.tolist()):
        own = list[int]()
        for word, at in _words(data[start:end].tobytes()):
            inner = bare_word(word.decode()).encode()
            if inner and inner not in numbers:
                first = start + at + word.index(inner)
                bounds.append((first, first + len(inner)))
                numbers[inner] = len(numbers)
            if inner:
                own.append(numbers[inner])
        ids.append(own)
    return *_concatenated(ids), np.array(bounds, np.int64).reshape(-1, 2)


def are_among(data: NDArray[np.uint8], bounds: NDArray[np.int64], words: tuple[bytes, ...]) -> NDArray[np.bool_]:
    """See ``compiled.word_ids.are_among``.

    Examples
    --------
    >>> are_among(np.frombuffer(b"to be", np.uint8), np.array([[0, 2], [3, 5]]), (b"be",)).tolist()
    [False, True]
    """
    among = set(words)
    return np.array([data[a:b].tobytes() in among for a, b in bounds], np.bool_)


def without_words(data: NDArray[np.uint8], offsets: NDArray[np.int64], words: tuple[bytes, ...]) -> Texts:
    """See ``compiled.word_ids.without_words``.

    Examples
    --------
    >>> text = np.frombuffer(b'"to be, or not" - to be!', np.uint8)
    >>> without_words(text, np.array([0, 24]), (b"to", b"or"))[0].tobytes()
    b'be, not" - be!'
    """
    among = {word.decode() for word in words}
    kept = []
    for start, end in pairwise(offsets.tolist()):
        own = [word.decode() for word, _ in _words(data[start:end].tobytes())]
        kept.append(" ".join(word for word in own if bare_word(word) not in among).encode())
    return np.frombuffer(b"".join(kept), np.uint8).copy(), np.cumsum([0, *map(len, kept)], dtype=np.int64)


def first_ids(ids: NDArray[np.int32], offsets: NDArray[np.int64], *, n_distinct: int) -> Ids:
    """See ``compiled.word_ids.first_ids``."""
    return _concatenated([list(dict.fromkeys(ids[a:b].tolist())) for a, b in pairwise(offsets)])


def frequent_ids(ids: NDArray[np.int32], offsets: NDArray[np.int64], *, n_distinct: int, most: int) -> Ids:
    """See ``compiled.word_ids.frequent_ids``.

    Examples
    --------
    >>> frequent_ids(np.array([7, 0, 1, 2, 0, 1], np.int32), np.array([0, 6]), n_distinct=8, most=3)[0].tolist()
    [0, 1, 7]
    """
    counted = [Counter(ids[a:b].tolist()).most_common(most) for a, b in pairwise(offsets)]
    return _concatenated([[number for number, _ in own] for own in counted])


def bare_word(word: str) -> str:
    r"""A word without what is no letter, digit or mark at either end.

    Examples
    --------
    >>> bare_word("\"don't!\""), bare_word("--")
    ("don't", '')
    """
    classes = character_classes()
    parts = [i for i, character in enumerate(word) if classes[ord(character)] in (WORD, ALONE, MARK)]
    return word[parts[0] : parts[-1] + 1] if parts else ""


def _words(text: bytes) -> list[tuple[bytes, int]]:
    """What stands between spaces, and where it begins."""
    words, at = list[tuple[bytes, int]](), 0
    for word in text.split(b" "):
        if word:
            words.append((word, at))
        at += len(word) + 1
    return words


def _concatenated(found: list[list[int]]) -> Ids:
    offsets = np.cumsum([0, *map(len, found)], dtype=np.int64)
    return np.array([one for own in found for one in own], np.int32), offsets
