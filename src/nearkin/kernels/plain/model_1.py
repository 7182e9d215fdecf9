"""The plain loops of `nearkin.kernels.model_1`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def place_many(words, offsets, starts, places):
    found = [[] for _ in range(len(starts) - 1)]
    for sentence, (start, end) in enumerate(pairwise(offsets.tolist())):
        for word in words[start:end].tolist():
            found[word].append(sentence)
    starts[1:] = np.cumsum([len(own) for own in found])
    places[:] = [sentence for own in found for sentence in own]


def count_rows(place_starts, sentences, words, offsets, last_given, starts):
    starts[1:] = np.cumsum([len(row) for row in _rows((place_starts, sentences), (words, offsets))])


def fill_rows(place_starts, sentences, words, offsets, last_given, starts, row_words):
    row_words[:] = [word for row in _rows((place_starts, sentences), (words, offsets)) for word in row]


def sum_likelihoods(place_starts, sentences, words, offsets, starts, row_words, probabilities, spread, sums):
    words_of, added = words.tolist(), sums.tolist()
    positions_of = _positions((place_starts, sentences), (words, offsets))
    for row, positions in zip(_by_word((starts, row_words), probabilities), positions_of, strict=True):
        for i in positions:
            added[i] += row[words_of[i]]
    sums[:] = added


def maximise_rows(
    place_starts, sentences, words, offsets, starts, row_words, probabilities, inverse, spread, updated, expected
):
    words_of, inverse_of = words.tolist(), inverse.tolist()
    positions_of = _positions((place_starts, sentences), (words, offsets))
    rows = _by_word((starts, row_words), probabilities)
    for given, (row, positions) in enumerate(zip(rows, positions_of, strict=True)):
        weights = dict.fromkeys(row, 0.0)
        for i in positions:
            weights[words_of[i]] += inverse_of[i]
        normalised, expected[given] = _normalised(list(row.values()), list(weights.values()))
        updated[starts[given] : starts[given + 1]] = normalised


def maximise_null(words, of_null, inverse, updated):
    of_words = [0.0] * len(updated)
    for word, one in zip(words.tolist(), inverse.tolist(), strict=True):
        of_words[word] += one
    updated[:] = _normalised(of_null.tolist(), of_words)[0]


def find_entries(starts, row_words, given, emitted, found):
    at = {
        (given_word, int(row_words[i])): i
        for given_word, (start, end) in enumerate(pairwise(starts.tolist()))
        for i in range(start, end)
    }
    found[:] = [at.get(pair, -1) for pair in zip(given.tolist(), emitted.tolist(), strict=True)]


def _rows(given, emitted):
    words = emitted[0].tolist()
    return [sorted({words[i] for i in positions}) for positions in _positions(given, emitted)]


def _positions(given, emitted):
    (starts, sentences), (_, offsets) = given, emitted
    bounds = list(pairwise(offsets.tolist()))
    return [
        [i for sentence in sentences[start:end].tolist() for i in range(*bounds[sentence])]
        for start, end in pairwise(starts.tolist())
    ]


def _by_word(rows, probabilities):
    starts, words = rows
    return [
        dict(zip(words[start:end].tolist(), probabilities[start:end].tolist(), strict=True))
        for start, end in pairwise(starts.tolist())
    ]


def _normalised(probabilities, weights):
    counts = [p * weight for p, weight in zip(probabilities, weights, strict=True)]
    total = 0.0
    for count in counts:  # not sum(), which rounds differently
        total += count
    return ([count / total for count in counts] if total > 0.0 else probabilities), total
