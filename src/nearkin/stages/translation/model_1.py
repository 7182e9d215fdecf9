"""IBM Model 1: which words are translations of one another, by expectation and maximisation.

Source: Peter F. Brown, Stephen A. Della Pietra, Vincent J. Della Pietra, Robert L. Mercer, "The mathematics of
statistical machine translation: parameter estimation", 1993. Every word of a sentence is given by one word of the
other, or by NULL, all of them as likely; what is learned is which words a word gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nearkin.errors import ParameterError
from nearkin.kernels import model_1 as kernel
from nearkin.records import F64, I32, I64
from nearkin.stages.translation.pairs import SentencePairs, Sentences

_ENTRY_BYTES = 4 + 8 + 8 + 12  # a word, its probability, the next one, and what pruning takes
_POSITION_BYTES = 4 + 8 + 8  # the sentence of a given word; the likelihood of an emitted one, and its inverse


@dataclass(frozen=True, slots=True)
class Learned:
    """What one direction learned.

    Parameters
    ----------
    starts : int64 array, shape (n_given + 1,)
        The row of given word ``g`` is from ``starts[g]`` to ``starts[g + 1]``.
    words : int32 array, shape (n_entries,)
        Emitted words, rising in each row.
    probabilities : float64 array, shape (n_entries,)
        p(emitted | given); each row sums to 1.
    expected : float64 array, shape (n_given,)
        How many words each given word is expected to have emitted in the corpus.
    perplexities : tuple of float
        Per emitted word: before the first iteration and after each; they never rise.
    """

    starts: I64
    words: I32
    probabilities: F64
    expected: F64
    perplexities: tuple[float, ...]

    @property
    def given(self) -> I32:
        """The given word of each entry, shape (n_entries,)."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))

    def counts(self, entries: I64) -> tuple[F64, F64]:
        """The probability and the expected count of some entries; 0 where an entry is -1."""
        is_there = entries >= 0
        found = np.where(is_there, entries, 0)
        p = np.where(is_there, self.probabilities[found], 0.0) if len(self.words) else np.zeros(len(entries))
        given = np.searchsorted(self.starts, found, "right") - 1
        return p, p * self.expected[given]


@dataclass(frozen=True, slots=True)
class Model1:
    """The aligner that needs nothing installed.

    Parameters
    ----------
    iterations : int
        1 to 100. More of them fit rare words to the few sentences that they stand in.

    Examples
    --------
    >>> from nearkin.kernels.buffers import strings
    >>> words = strings(["das", "haus", "buch"]), strings(["the", "house", "book"])
    >>> offsets = np.array([0, 2, 4])
    >>> sentences = np.array([0, 1, 0, 2], np.int32), offsets  # das haus, das buch
    >>> pairs = SentencePairs(
    ...     source=sentences, target=sentences, source_words=words[0], target_words=words[1], n_read=2, n_empty=0,
    ...     n_too_long=0,
    ... )
    >>> learned = Model1(20).learn(pairs)
    >>> learned.words[:3].tolist(), learned.probabilities[:3].round(2).tolist()  # das: the, house, book
    ([0, 1, 2], [0.97, 0.02, 0.02])
    """

    iterations: int = 5

    def __post_init__(self) -> None:
        if not isinstance(self.iterations, int) or isinstance(self.iterations, bool) or not 1 <= self.iterations <= 100:
            raise ParameterError.of("iterations", "Model1", "an int from 1 to 100", self.iterations)

    @property
    def fingerprint(self) -> str:
        """What decides the result of `learn`."""
        return f"model-1;iterations={self.iterations}"

    def learn(
        self, pairs: SentencePairs, *, is_reverse: bool = False, advance: Callable[[int], None] = lambda n: None
    ) -> Learned:
        """p(target | source) of the words that stand opposite to one another; the other way round if that is asked.

        Parameters
        ----------
        pairs : SentencePairs
        is_reverse : bool
            p(source | target) instead.
        advance : callable
            Told after each pass how many pairs of words were looked at, in all ``iterations + 1`` times as many as
            there are.
        """
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
    """About what learning each direction takes in memory, beside the sentences; found by a pass over them."""
    needed = []
    for is_reverse in (False, True):
        prepared = _Prepared.of(pairs, is_reverse=is_reverse)
        n_positions = len(pairs.source[0]) + len(pairs.target[0])
        needed.append(int(prepared.starts[-1]) * _ENTRY_BYTES + n_positions * _POSITION_BYTES)
    return needed[0], needed[1]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """One direction, its rows measured but not made."""

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
        """2 to the bits that an emitted word costs on average; NULL and all given words are as likely to give it."""
        if not len(sums):
            return 1.0
        n_givers = np.repeat(self.n_given_words + 1, np.diff(self.emitted[1]))
        return float(2.0 ** -np.mean(np.log2(sums / n_givers)))
