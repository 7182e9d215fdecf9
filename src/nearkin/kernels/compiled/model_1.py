"""Loops of `nearkin.kernels.model_1`."""

from __future__ import annotations

from nearkin.kernels.compiled.basics import njit


@njit(nogil=True, cache=True)
def place_many(words, offsets, starts, found):
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
def count_rows(place_starts, sentences, words, offsets, last_given, starts):
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
def fill_rows(place_starts, sentences, words, offsets, last_given, starts, row):
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
def sum_likelihoods(place_starts, sentences, words, offsets, starts, row, probabilities, spread, sums):
    """Spread the row of a given word over all words, so that a position finds its entry with one lookup."""
    for given in range(len(starts) - 1):
        for entry in range(starts[given], starts[given + 1]):
            spread[row[entry]] = probabilities[entry]
        for place in range(place_starts[given], place_starts[given + 1]):
            sentence = sentences[place]
            for i in range(offsets[sentence], offsets[sentence + 1]):
                sums[i] += spread[words[i]]


@njit(nogil=True, cache=True)
def maximise_rows(
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
def maximise_null(words, of_null, inverse, updated):
    for i in range(len(words)):
        updated[words[i]] += inverse[i]
    total = 0.0
    for word in range(len(updated)):
        updated[word] = of_null[word] * updated[word]
        total += updated[word]
    for word in range(len(updated)):
        updated[word] = updated[word] / total if total > 0.0 else of_null[word]


@njit(nogil=True, cache=True)
def find_entries(starts, row, given, emitted, found):
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
