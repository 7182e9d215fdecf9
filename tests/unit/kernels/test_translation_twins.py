"""The kernels of translation tables give the bits of their plain twins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from nearkin.kernels import model_1
from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.plain.shingles import split_words as words_of
from nearkin.kernels.words import split_words
from unit.kernels.agreeing import agreed

ODD = "aB1 \t\n\u00a0\u00ad\u0301\u200d\u3000éßİ中日かカไท가-_'🙂\U0010ffff"
SENTENCE = st.lists(st.integers(0, 5), max_size=6)
CORPORA = st.lists(st.tuples(SENTENCE, SENTENCE), max_size=6)


def sentences(values):
    offsets = np.cumsum([0, *map(len, values)], dtype=np.int64)
    return np.array([word for one in values for word in one], np.int32), offsets


@given(st.lists(st.one_of(st.text(st.sampled_from(ODD), max_size=60), st.text(max_size=30)), max_size=6))
def test_split_words(values):
    data, offsets = text_buffers(pa.array(values, pa.large_string()))
    words, word_offsets, text_offsets = agreed(split_words, data, offsets)
    spelled = [bytes(words[a:b]).decode() for a, b in pairwise(word_offsets)]
    assert spelled == [word for value in values for word in words_of(value)]
    assert np.diff(text_offsets).tolist() == [len(words_of(value)) for value in values]


def learned(source, target):
    """All that three steps make."""
    places = model_1.places(source, n_words=6)
    starts = model_1.row_offsets(places, target, n_emitted=6)
    rows = starts, model_1.row_words(places, target, starts, n_emitted=6)
    probabilities, null = np.full(len(rows[1]), 1 / 6), np.full(6, 1 / 6)
    made = [*places, *rows]
    for _ in range(3):
        sums = model_1.likelihoods(places, target, rows, probabilities, null, n_emitted=6)
        args = places, target, rows, probabilities, null
        probabilities, null, expected = model_1.maximise(*args, sums, n_emitted=6)
        made += [sums, probabilities, null, expected]
    return [*made, model_1.entries(rows, *np.indices((6, 6), np.int32).reshape(2, -1))]


@given(CORPORA)
def test_model_1(corpus):
    agreed(learned, *(sentences([pair[i] for pair in corpus]) for i in (0, 1)))


def test_a_row_that_underflows_stays_as_it_was():
    source, target = sentences([[0]]), sentences([[0]])
    places, rows = model_1.places(source, n_words=1), (np.array([0, 1]), np.zeros(1, np.int32))
    none = np.zeros(1)
    probabilities, null, expected = agreed(model_1.maximise, places, target, rows, none, none, np.ones(1), n_emitted=1)
    assert (probabilities.tolist(), null.tolist(), expected.tolist()) == ([0.0], [0.0], [0.0])
