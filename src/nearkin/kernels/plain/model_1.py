"""The twin of ``compiled.model_1``."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Sentences = tuple[I32, I64]
Places = tuple[I64, I32]
Rows = tuple[I64, I32]


def places(sentences: Sentences, *, n_words: int) -> Places:
    """See ``compiled.model_1.places``.

    Examples
    --------
    >>> starts, found = places((np.array([0, 1, 1, 0], np.int32), np.array([0, 3, 4])), n_words=2)
    >>> starts.tolist(), found.tolist()  # the word 1 stands twice in the sentence 0
    ([0, 2, 4], [0, 1, 0, 0])
    """
    words, offsets = sentences
    found: list[list[int]] = [[] for _ in range(n_words)]
    for sentence, (start, end) in enumerate(pairwise(offsets.tolist())):
        for word in words[start:end].tolist():
            found[word].append(sentence)
    starts = np.cumsum([0, *map(len, found)], dtype=np.int64)
    return starts, np.array([sentence for own in found for sentence in own], np.int32)


def row_offsets(given: Places, emitted: Sentences, *, n_emitted: int) -> I64:
    """See ``compiled.model_1.row_offsets``."""
    return np.cumsum([0, *map(len, _rows(given, emitted))], dtype=np.int64)


def row_words(given: Places, emitted: Sentences, starts: I64, *, n_emitted: int) -> I32:
    """See ``compiled.model_1.row_words``.

    Examples
    --------
    >>> house_book = places((np.array([0, 1, 0], np.int32), np.array([0, 2, 3])), n_words=2)
    >>> emitted = np.array([2, 1, 0, 2], np.int32), np.array([0, 2, 4])
    >>> starts = row_offsets(house_book, emitted, n_emitted=3)
    >>> starts.tolist(), row_words(house_book, emitted, starts, n_emitted=3).tolist()
    ([0, 3, 5], [0, 1, 2, 1, 2])
    """
    return np.array([word for row in _rows(given, emitted) for word in row], np.int32)


def likelihoods(
    given: Places, emitted: Sentences, rows: Rows, probabilities: F64, of_null: F64, *, n_emitted: int
) -> F64:
    """See ``compiled.model_1.likelihoods``."""
    words = emitted[0].tolist()
    sums = of_null[emitted[0]].tolist()
    for row, positions in zip(_by_word(rows, probabilities), _positions(given, emitted), strict=True):
        for i in positions:
            sums[i] += row[words[i]]
    return np.array(sums, np.float64)


def maximise(
    given: Places, emitted: Sentences, rows: Rows, probabilities: F64, of_null: F64, sums: F64, *, n_emitted: int
) -> tuple[F64, F64, F64]:
    """See ``compiled.model_1.maximise``."""
    words, inverse = emitted[0].tolist(), (1.0 / sums).tolist()
    updated: list[float] = []
    expected: list[float] = []
    for row, positions in zip(_by_word(rows, probabilities), _positions(given, emitted), strict=True):
        weights = dict.fromkeys(row, 0.0)
        for i in positions:
            weights[words[i]] += inverse[i]
        counts, total = _normalised(list(row.values()), list(weights.values()))
        updated += counts
        expected.append(total)
    of_words = [0.0] * n_emitted
    for i, word in enumerate(words):
        of_words[word] += inverse[i]
    null, _ = _normalised(of_null.tolist(), of_words)
    return np.array(updated, np.float64), np.array(null, np.float64), np.array(expected, np.float64)


def entries(rows: Rows, given: I32, emitted: I32) -> I64:
    """See ``compiled.model_1.entries``.

    Examples
    --------
    >>> rows = np.array([0, 3, 5]), np.array([0, 1, 2, 1, 2], np.int32)
    >>> entries(rows, np.array([1, 1], np.int32), np.array([2, 0], np.int32)).tolist()
    [4, -1]
    """
    starts, words = rows
    at = {
        (given_word, int(words[i])): i
        for given_word, (start, end) in enumerate(pairwise(starts.tolist()))
        for i in range(start, end)
    }
    return np.array([at.get(pair, -1) for pair in zip(given.tolist(), emitted.tolist(), strict=True)], np.int64)


def _rows(given: Places, emitted: Sentences) -> list[list[int]]:
    words = emitted[0].tolist()
    return [sorted({words[i] for i in positions}) for positions in _positions(given, emitted)]


def _positions(given: Places, emitted: Sentences) -> list[list[int]]:
    """The emitted positions opposite to each given word, in the order in which they are summed."""
    (starts, sentences), (_, offsets) = given, emitted
    bounds = list(pairwise(offsets.tolist()))
    return [
        [i for sentence in sentences[start:end].tolist() for i in range(*bounds[sentence])]
        for start, end in pairwise(starts.tolist())
    ]


def _by_word(rows: Rows, probabilities: F64) -> list[dict[int, float]]:
    starts, words = rows
    return [
        dict(zip(words[start:end].tolist(), probabilities[start:end].tolist(), strict=True))
        for start, end in pairwise(starts.tolist())
    ]


def _normalised(probabilities: list[float], weights: list[float]) -> tuple[list[float], float]:
    counts = [p * weight for p, weight in zip(probabilities, weights, strict=True)]
    total = 0.0
    for count in counts:  # not sum(), which rounds otherwise
        total += count
    return ([count / total for count in counts] if total > 0.0 else probabilities), total
