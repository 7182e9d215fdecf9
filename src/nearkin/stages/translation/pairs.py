"""Pairs of sentences as numbers of words: what aligners read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from nearkin.kernels.buffers import strings
from nearkin.records import I32, I64, Bool, TextWords

MAX_WORDS = 200
"""A longer sentence is left out: it would be most of the work, and its words could be translations of anything."""
Sentences = tuple[I32, I64]
"""The words of all sentences, and where each begins, shape (n_sentences + 1,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentencePairs:
    """Sentences of two languages: each is the translation of the one with the same number.

    Parameters
    ----------
    source, target : tuple of an int32 array and an int64 array of shape (n_pairs + 1,)
        The words of all sentences, and where each sentence begins; none is empty.
    source_words, target_words : LargeStringArray
        The word of each number.
    n_read, n_empty, n_too_long : int
        Pairs that came; those left out because a side had no word, or more than `MAX_WORDS`.
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
        """A word of a source sentence and one of its translation, over all sentences."""
        return int((np.diff(self.source[1]) * np.diff(self.target[1])).sum())


class GrowingPairs:
    """Pairs of sentences to which more are added.

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
        """Pairs that came."""
        return self._n_read

    def add(self, source: TextWords, target: TextWords) -> None:
        """Sentences and their translations, as many of the ones as of the others."""
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
        """The pairs as they are now."""
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
    """The sentences of one language; the words have numbers in the order in which they came."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._ids: list[I32] = []
        self._lengths: list[I64] = []

    def add(self, texts: TextWords, is_kept: Bool) -> None:
        lengths = np.diff(texts.offsets)
        ids = texts.ids[np.repeat(is_kept, lengths)]
        used = np.unique(ids)  # words of sentences that are left out get no number
        numbers = np.full(len(texts.words), -1, np.int32)
        words = texts.words.take(pa.array(used)).to_pylist()
        numbers[used] = [self.numbers.setdefault(word, len(self.numbers)) for word in words]
        self._ids.append(numbers[ids])
        self._lengths.append(lengths[is_kept])

    def sentences(self) -> Sentences:
        ids = np.concatenate([np.zeros(0, np.int32), *self._ids])
        lengths = np.concatenate([np.zeros(1, np.int64), *self._lengths])
        return ids, np.cumsum(lengths, dtype=np.int64)
