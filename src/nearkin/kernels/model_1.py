"""One direction of IBM Model 1: translation probabilities of words of one language into words of another.

Each word of the *emitted* sentence of a pair translates one word of the *given* sentence, or the NULL word, which is
part of every given sentence. The row of a given word lists all of its possible translations; the rows are stored one
after another.

Every sum is computed in one order, by given word, then sentence, then position, so both kinds of loops give the same
bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Sentences = tuple[I32, I64]
"""The words of all sentences, int32, and the start of each sentence, int64 of shape (n_sentences + 1,)."""
Places = tuple[I64, I32]
"""The start of each word's places, int64 of shape (n_words + 1,), and the sentence of each place, int32."""
Rows = tuple[I64, I32]
"""The start of each given word's row, int64 of shape (n_given + 1,), and the emitted words in it, ascending."""


def places(sentences: Sentences, *, n_words: int) -> Places:
    """Return the sentences that contain each word, ascending; a sentence is repeated if the word is."""
    words, offsets = sentences
    starts = np.zeros(n_words + 1, np.int64)
    found = np.empty(len(words), np.int32)
    loops("model_1", words.nbytes).place_many(*frozen(words, offsets), starts, found)
    return starts, found


def row_offsets(given: Places, emitted: Sentences, *, n_emitted: int) -> I64:
    """Return the start of each given word's row, which is as long as the number of distinct words opposite to it."""
    starts = np.zeros(len(given[0]), np.int64)
    last_given = np.full(n_emitted, -1, np.int64)
    loops("model_1", _work(given, emitted)).count_rows(*frozen(*given, *emitted), last_given, starts)
    return starts


def row_words(given: Places, emitted: Sentences, starts: I64, *, n_emitted: int) -> I32:
    """Return the words of all rows, given their starts."""
    words = np.empty(int(starts[-1]), np.int32)
    last_given = np.full(n_emitted, -1, np.int64)
    kernel = loops("model_1", _work(given, emitted))
    kernel.fill_rows(*frozen(*given, *emitted), last_given, *frozen(starts), words)
    return words


def likelihoods(
    given: Places, emitted: Sentences, rows: Rows, probabilities: F64, of_null: F64, *, n_emitted: int
) -> F64:
    """Return, for each emitted position, the sum of p(emitted word | given word) over the given sentence and NULL.

    Parameters
    ----------
    probabilities : float64 array, shape (n_entries,)
        p(emitted | given) of each entry of the rows.
    of_null : float64 array, shape (n_emitted,)
        p(emitted | NULL).
    """
    sums = of_null[emitted[0]]
    spread = np.zeros(n_emitted, np.float64)
    own = frozen(*given, *emitted, *rows, probabilities)
    loops("model_1", _work(given, emitted)).sum_likelihoods(*own, spread, sums)
    return sums


def maximise(
    given: Places, emitted: Sentences, rows: Rows, probabilities: F64, of_null: F64, sums: F64, *, n_emitted: int
) -> tuple[F64, F64, F64]:
    """Perform one step of expectation and maximisation; ``sums`` are the `likelihoods` of these probabilities.

    Returns
    -------
    probabilities, of_null : float64 arrays
        New probabilities; each row sums to 1.
    expected : float64 array, shape (n_given,)
        Expected number of emitted words that each given word produced.
    """
    inverse = 1.0 / sums
    updated, expected = np.empty_like(probabilities), np.empty(len(given[0]) - 1, np.float64)
    spread = np.zeros(n_emitted, np.float64)
    kernel = loops("model_1", _work(given, emitted))
    kernel.maximise_rows(*frozen(*given, *emitted, *rows, probabilities, inverse), spread, updated, expected)
    null = np.zeros(n_emitted, np.float64)
    kernel.maximise_null(*frozen(emitted[0], of_null, inverse), null)
    return updated, null, expected


def entries(rows: Rows, given: I32, emitted: I32) -> I64:
    """Return the index of each pair of words in the rows, -1 if it is missing."""
    found = np.empty(len(given), np.int64)
    loops("model_1", 2 * given.nbytes).find_entries(*frozen(*rows, given, emitted), found)
    return found


def _work(given: Places, emitted: Sentences) -> int:
    return len(given[1]) * int(np.diff(emitted[1]).max(initial=0))
