"""Pairs of sentences as word numbers, the input of aligners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from nearkin.kernels.buffers import strings
from nearkin.records import I32, I64, Bool, TextWords

MAX_WORDS = 200
"""Maximum number of words in a sentence: longer ones would take most of the work and give little evidence."""
Sentences = tuple[I32, I64]
"""Words of all sentences, and the start of each, shape (n_sentences + 1,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentencePairs:
    """Sentences in two languages; those with the same number are translations of each other.

    Parameters
    ----------
    source, target : tuple of an int32 array and an int64 array of shape (n_pairs + 1,)
        Words of all sentences, and the start of each sentence; none is empty.
    source_words, target_words : LargeStringArray
        The word of each number.
    n_read, n_empty, n_too_long : int
        Pairs that were read; omitted because a side had no word; omitted for more than `MAX_WORDS`.
    """

    source: Sentences
    target: Sentences
    source_words: pa.LargeStringArray
    target_words: pa.LargeStringArray
    n_read: int
    n_empty: int
    n_too_long: int

    def __len__(self) -> int:
        return len(self.source[1]) - 1

    @property
    def n_word_pairs(self) -> int:
        """Number of pairs of a word of a source sentence and one of its translation, over all sentences."""
        return int((np.diff(self.source[1]) * np.diff(self.target[1])).sum())


class GrowingPairs:
    """A growing collection of sentence pairs.

    Examples
    --------
    >>> pairs = GrowingPairs()
    >>> das_haus = TextWords(strings(["das", "haus"]), np.array([0, 1], np.int32), np.array([0, 2, 2]), "words")
    >>> the_house = TextWords(strings(["the", "house"]), np.array([0, 1, 0], np.int32), np.array([0, 2, 3]), "words")
    >>> pairs.add(das_haus, the_house)
    >>> frozen = pairs.frozen()
    >>> len(frozen), frozen.n_empty, frozen.n_word_pairs
    (1, 1, 4)
    """

    def __init__(self) -> None:
        self._sides = _Side(), _Side()
        self._n_read = self._n_empty = self._n_too_long = 0

    @property
    def n_read(self) -> int:
        """Number of pairs that were read."""
        return self._n_read

    def add(self, source: TextWords, target: TextWords) -> None:
        """Add sentences and the same number of translations."""
        lengths = np.diff(source.offsets), np.diff(target.offsets)
        is_empty = np.minimum(*lengths) == 0
        is_too_long = ~is_empty & (np.maximum(*lengths) > MAX_WORDS)
        is_kept = ~is_empty & ~is_too_long
        self._n_read += len(source)
        self._n_empty += int(is_empty.sum())
        self._n_too_long += int(is_too_long.sum())
        for side, one in zip(self._sides, (source, target), strict=True):
            side.add(one, is_kept)

    def frozen(self) -> SentencePairs:
        """Return the current pairs."""
        source, target = (side.sentences() for side in self._sides)
        source_words, target_words = (strings(list(side.numbers)) for side in self._sides)
        return SentencePairs(
            source=source,
            target=target,
            source_words=source_words,
            target_words=target_words,
            n_read=self._n_read,
            n_empty=self._n_empty,
            n_too_long=self._n_too_long,
        )


class _Side:
    """Sentences of one language; words are numbered in order of first occurrence."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._ids: list[I32] = []
        self._lengths: list[I64] = []

    def add(self, texts: TextWords, is_kept: Bool) -> None:
        lengths = np.diff(texts.offsets)
        ids = texts.ids[np.repeat(is_kept, lengths)]
        used = np.unique(ids)  # words of omitted sentences get no number
        numbers = np.full(len(texts.words), -1, np.int32)
        words = texts.words.take(pa.array(used)).to_pylist()
        numbers[used] = [self.numbers.setdefault(word, len(self.numbers)) for word in words]
        self._ids.append(numbers[ids])
        self._lengths.append(lengths[is_kept])

    def sentences(self) -> Sentences:
        ids = np.concatenate([np.zeros(0, np.int32), *self._ids])
        lengths = np.concatenate([np.zeros(1, np.int64), *self._lengths])
        return ids, np.cumsum(lengths, dtype=np.int64)
