"""IBM Model 1: translation probabilities of words, by expectation maximisation.

Source: Peter F. Brown, Stephen A. Della Pietra, Vincent J. Della Pietra, Robert L. Mercer, "The mathematics of
statistical machine translation: parameter estimation", 1993. Every word of a sentence is produced by one word of the
other, or by NULL, all equally likely; the model learns which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from nearkin.errors import check_int
from nearkin.kernels import model_1 as kernel
from nearkin.kernels.buffers import strings
from nearkin.records import F64, I32, I64, Bool, TextWords

_ENTRY_BYTES = 4 + 8 + 8 + 12  # a word, its probability, the next one, and the memory for pruning
_POSITION_BYTES = 4 + 8 + 8  # the sentence of a given word; the likelihood of an emitted one, and its inverse


@dataclass(frozen=True, slots=True)
class Learned:
    """The result of learning one direction.

    Parameters
    ----------
    starts, words : int64 array of shape (n_given + 1,), int32 array of shape (n_entries,)
        The row of given word ``g``, from ``starts[g]`` to ``starts[g + 1]``, has its emitted words, ascending.
    probabilities : float64 array, shape (n_entries,)
        p(emitted | given); each row sums to 1.
    expected : float64 array, shape (n_given,)
        Expected number of words that each given word emitted in the corpus.
    """

    starts: I64
    words: I32
    probabilities: F64
    expected: F64
    perplexities: tuple[float, ...]

    @property
    def given(self) -> I32:
        """Given word of each entry, shape (n_entries,)."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))

    def counts(self, entries: I64) -> tuple[F64, F64]:
        """Return the probability and the expected count of some entries; 0 if an entry is -1."""
        is_there = entries >= 0
        places = np.where(is_there, entries, 0)
        p = np.where(is_there, self.probabilities[places], 0.0) if len(self.words) else np.zeros(len(entries))
        given = np.searchsorted(self.starts, places, "right") - 1
        return p, p * self.expected[given]


@dataclass(frozen=True, slots=True)
class Model1:
    """The built-in aligner.

    Parameters
    ----------
    iterations
        1 to 100. More iterations overfit rare words to their few sentences.
    """

    iterations: int = 5

    def __post_init__(self) -> None:
        check_int("iterations", self.iterations, 1, 100)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the parameters that determine the result of `learn`."""
        return f"model-1;iterations={self.iterations}"

    def learn(
        self, pairs: SentencePairs, *, is_reverse: bool = False, advance: Callable[[int], None] = lambda n: None
    ) -> Learned:
        """Learn p(target | source) of opposite words, or the reverse."""
        prepared = _Prepared.of(pairs, is_reverse=is_reverse)
        rows = prepared.rows()
        n = prepared.n_emitted
        probabilities, null = np.full(len(rows[1]), 1.0 / max(n, 1)), np.full(n, 1.0 / max(n, 1))
        expected = np.zeros(len(rows[0]) - 1)
        perplexities = []
        for step in range(self.iterations + 1):
            args = prepared.places, prepared.emitted, rows, probabilities, null
            sums = kernel.likelihoods(*args, n_emitted=n)
            perplexities.append(prepared.perplexity(sums))
            if step < self.iterations:
                probabilities, null, expected = kernel.maximise(*args, sums, n_emitted=n)
            advance(pairs.n_word_pairs)
        return Learned(*rows, probabilities, expected, tuple(perplexities))


def needed_bytes(pairs: SentencePairs) -> tuple[int, int]:
    """Estimate the memory for learning each direction, besides the sentences, by a pass over them."""
    needed = []
    for is_reverse in (False, True):
        prepared = _Prepared.of(pairs, is_reverse=is_reverse)
        n_positions = len(pairs.source[0]) + len(pairs.target[0])
        needed.append(int(prepared.starts[-1]) * _ENTRY_BYTES + n_positions * _POSITION_BYTES)
    return needed[0], needed[1]


@dataclass(frozen=True, slots=True)
class _Prepared:
    places: tuple[I64, I32]
    emitted: Sentences
    n_emitted: int
    n_given_words: I64
    starts: I64

    @classmethod
    def of(cls, pairs: SentencePairs, *, is_reverse: bool) -> _Prepared:
        given, emitted = (pairs.target, pairs.source) if is_reverse else (pairs.source, pairs.target)
        n_given, n_emitted = len(pairs.source_words), len(pairs.target_words)
        if is_reverse:
            n_given, n_emitted = n_emitted, n_given
        places = kernel.places(given, n_words=n_given)
        starts = kernel.row_offsets(places, emitted, n_emitted=n_emitted)
        return cls(places, emitted, n_emitted, np.diff(given[1]), starts)

    def rows(self) -> tuple[I64, I32]:
        words = kernel.row_words(self.places, self.emitted, self.starts, n_emitted=self.n_emitted)
        return self.starts, words

    def perplexity(self, sums: F64) -> float:
        """Return 2 to the power of the mean bits per emitted word."""
        if not len(sums):
            return 1.0
        n_givers = np.repeat(self.n_given_words + 1, np.diff(self.emitted[1]))
        return float(2.0 ** -np.mean(np.log2(sums / n_givers)))


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
    n_read, n_empty, n_too_long
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
        """Number of pairs of a word of a source sentence and one of its translation."""
        return int((np.diff(self.source[1]) * np.diff(self.target[1])).sum())


class GrowingPairs:
    """A growing collection of sentence pairs."""

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
        for side, words in zip(self._sides, (source, target), strict=True):
            side.add(words, is_kept)

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
