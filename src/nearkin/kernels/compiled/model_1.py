"""One direction of IBM Model 1: which words of one language give which words of the other.

Sentences come in pairs. Each word of a *given* sentence, and a NULL word that stands in all of them, may have given
each word of the *emitted* one. The words that a given word may have given are its row; the rows lie one after another.

Every sum is made in one order, by given word, then sentence, then position: both twins give the same bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Sentences = tuple[I32, I64]
"""The words of all sentences, int32, and where each sentence begins, int64 of shape (n_sentences + 1,)."""
Places = tuple[I64, I32]
"""Where the places of each word begin, int64 of shape (n_words + 1,), and the sentence of each place, int32."""
Rows = tuple[I64, I32]
"""Where the row of each given word begins, int64 of shape (n_given + 1,), and the emitted words in it, rising."""


def places(sentences: Sentences, *, n_words: int) -> Places:
    """The sentences in which each word stands, rising; twice where it stands twice."""
    words, offsets = sentences
    starts = np.zeros(n_words + 1, np.int64)
    found = np.empty(len(words), np.int32)
    _place_many(words, offsets, starts, found)
    return starts, found


def row_offsets(given: Places, emitted: Sentences, *, n_emitted: int) -> I64:
    """Where the row of each given word will begin: how many distinct words stand opposite to it.

    Parameters
    ----------
    given : Places
        Of the given words.
    emitted : Sentences
        Sentence ``i`` is the translation of sentence ``i``.
    n_emitted : int
        Distinct emitted words.

    Returns
    -------
    int64 array, shape (n_given + 1,)
    """
    starts = np.zeros(len(given[0]), np.int64)
    _count_rows(*given, *emitted, np.full(n_emitted, -1, np.int64), starts)
    return starts


def row_words(given: Places, emitted: Sentences, starts: I64, *, n_emitted: int) -> I32:
    """The words of all rows; ``starts`` is from `row_offsets`."""
    words = np.empty(int(starts[-1]), np.int32)
    _fill_rows(*given, *emitted, np.full(n_emitted, -1, np.int64), starts, words)
    return words


def likelihoods(
    given: Places, emitted: Sentences, rows: Rows, probabilities: F64, of_null: F64, *, n_emitted: int
) -> F64:
    """Of each emitted position the sum of p(emitted word | given word) over the given sentence and NULL.

    Parameters
    ----------
    given, emitted
        See `row_offsets`.
    rows : Rows
    probabilities : float64 array, shape (n_entries,)
        p(emitted | given) of each entry of the rows.
    of_null : float64 array, shape (n_emitted,)
        p(emitted | NULL).

    Returns
    -------
    float64 array, shape (n_positions,)
    """
    sums = of_null[emitted[0]]
    _sum_likelihoods(*given, *emitted, *rows, probabilities, np.zeros(n_emitted, np.float64), sums)
    return sums


def maximise(
    given: Places, emitted: Sentences, rows: Rows, probabilities: F64, of_null: F64, sums: F64, *, n_emitted: int
) -> tuple[F64, F64, F64]:
    """One step of expectation and maximisation.

    Parameters
    ----------
    given, emitted, rows, probabilities, of_null
        See `likelihoods`.
    sums : float64 array, shape (n_positions,)
        What `likelihoods` gave for these probabilities.

    Returns
    -------
    probabilities, of_null : float64 arrays
        The new ones; each row sums to 1.
    expected : float64 array, shape (n_given,)
        How many emitted words each given word is expected to have given.
    """
    inverse = 1.0 / sums
    updated, expected = np.empty_like(probabilities), np.empty(len(given[0]) - 1, np.float64)
    _maximise_rows(*given, *emitted, *rows, probabilities, inverse, np.zeros(n_emitted, np.float64), updated, expected)
    null = np.zeros(n_emitted, np.float64)
    _maximise_null(emitted[0], of_null, inverse, null)
    return updated, null, expected


def entries(rows: Rows, given: I32, emitted: I32) -> I64:
    """The place of each pair of words in the rows, -1 where it is not there."""
    found = np.empty(len(given), np.int64)
    _find_entries(*rows, given, emitted, found)
    return found


@njit(nogil=True, cache=True)
def _place_many(words, offsets, starts, found):
    for word in words:
        starts[word + 1] += 1
    for word in range(len(starts) - 1):
        starts[word + 1] += starts[word]
    following = starts[:-1].copy()
    for sentence in range(len(offsets) - 1):
        for i in range(offsets[sentence], offsets[sentence + 1]):
            found[following[words[i]]] = sentence
            following[words[i]] += 1


@njit(nogil=True, cache=True)
def _count_rows(place_starts, sentences, words, offsets, last_given, starts):
    for given in range(len(starts) - 1):
        n = 0
        for place in range(place_starts[given], place_starts[given + 1]):
            sentence = sentences[place]
            for i in range(offsets[sentence], offsets[sentence + 1]):
                if last_given[words[i]] != given:
                    last_given[words[i]] = given
                    n += 1
        starts[given + 1] = starts[given] + n


@njit(nogil=True, cache=True)
def _fill_rows(place_starts, sentences, words, offsets, last_given, starts, row):
    for given in range(len(starts) - 1):
        n = starts[given]
        for place in range(place_starts[given], place_starts[given + 1]):
            sentence = sentences[place]
            for i in range(offsets[sentence], offsets[sentence + 1]):
                if last_given[words[i]] != given:
                    last_given[words[i]] = given
                    row[n] = words[i]
                    n += 1
        row[starts[given] : n].sort()


@njit(nogil=True, cache=True)
def _sum_likelihoods(place_starts, sentences, words, offsets, starts, row, probabilities, spread, sums):
    """The row of a given word is spread out over all words, so that a position finds its entry by one look."""
    for given in range(len(starts) - 1):
        for entry in range(starts[given], starts[given + 1]):
            spread[row[entry]] = probabilities[entry]
        for place in range(place_starts[given], place_starts[given + 1]):
            sentence = sentences[place]
            for i in range(offsets[sentence], offsets[sentence + 1]):
                sums[i] += spread[words[i]]


@njit(nogil=True, cache=True)
def _maximise_rows(
    place_starts, sentences, words, offsets, starts, row, probabilities, inverse, spread, updated, expected
):
    for given in range(len(starts) - 1):
        for entry in range(starts[given], starts[given + 1]):
            spread[row[entry]] = 0.0
        for place in range(place_starts[given], place_starts[given + 1]):
            sentence = sentences[place]
            for i in range(offsets[sentence], offsets[sentence + 1]):
                spread[words[i]] += inverse[i]
        total = 0.0
        for entry in range(starts[given], starts[given + 1]):
            updated[entry] = probabilities[entry] * spread[row[entry]]
            total += updated[entry]
        expected[given] = total
        for entry in range(starts[given], starts[given + 1]):
            updated[entry] = updated[entry] / total if total > 0.0 else probabilities[entry]


@njit(nogil=True, cache=True)
def _maximise_null(words, of_null, inverse, updated):
    for i in range(len(words)):
        updated[words[i]] += inverse[i]
    total = 0.0
    for word in range(len(updated)):
        updated[word] = of_null[word] * updated[word]
        total += updated[word]
    for word in range(len(updated)):
        updated[word] = updated[word] / total if total > 0.0 else of_null[word]


@njit(nogil=True, cache=True)
def _find_entries(starts, row, given, emitted, found):
    for i in range(len(given)):
        low, high = starts[given[i]], starts[given[i] + 1]
        end = high
        while low < high:
            middle = (low + high) // 2
            if row[middle] < emitted[i]:
                low = middle + 1
            else:
                high = middle
        found[i] = low if low < end and row[low] == emitted[i] else -1
