"""The kernels of passages give the bits of their plain twins, and winnowing keeps its guarantee."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from nearkin.kernels import passages
from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.words import locate_words
from nearkin.stages.passages.windows import Windows
from unit.kernels.agreeing import agreed
from unit.kernels.test_translation_twins import ODD

DOCUMENTS = st.lists(st.lists(st.integers(0, 2), max_size=20), max_size=5)


def arrays(documents):
    return np.array([word for one in documents for word in one], np.uint64), np.cumsum([0, *map(len, documents)])


@given(st.lists(st.one_of(st.text(st.sampled_from(ODD), max_size=60), st.text(max_size=30)), max_size=6))
def test_bounds_of_words(values):
    data, offsets = text_buffers(pa.array(values, pa.large_string()))
    (words, word_offsets, text_offsets), bounds = agreed(locate_words, data, offsets)
    for i, value in enumerate(values):
        for word in range(text_offsets[i], text_offsets[i + 1]):
            original = value.encode()[bounds[word, 0] : bounds[word, 1]].decode()  # no cut inside a character
            spelled = words[word_offsets[word] : word_offsets[word + 1]].tobytes().decode()
            assert [one for one in original if one in spelled] == list(spelled)
    assert all((bounds[1:, 0] >= bounds[:-1, 1])[i] for a, b in pairwise(text_offsets) for i in range(a, b - 1))


@given(DOCUMENTS, st.integers(1, 4), st.integers(1, 4))
def test_winnowing(documents, k, w):
    agreed(passages.winnow, *arrays(documents), k, w)


def test_two_equal_runs_share_a_fingerprint_at_different_places():
    for k, w in ((1, 2), (2, 1), (2, 2), (2, 3), (3, 2)):
        length = w + k - 1
        for words in product(range(2), repeat=9):
            _, places = passages.winnow(*arrays([words]), k, w)
            keys = {int(place): words[place : place + k] for place in places}
            for a in range(9 - length + 1):
                for b in range(a + 1, 9 - length + 1):
                    if words[a : a + length] == words[b : b + length]:
                        inside = [{p for p in keys if at <= p <= at + length - k} for at in (a, b)]
                        assert any(keys[p] == keys[q] and p != q for p in inside[0] for q in inside[1])


@given(DOCUMENTS, st.integers(1, 4), st.data())
def test_classes_of_windows(documents, length, data):
    words, starts = arrays(documents)
    marks = np.array(data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words))), np.uint8)
    keys, places = agreed(passages.hash_windows, words, starts, marks, length)
    assert [words[p : p + length].tolist() for p in places] == [
        words[p : p + length].tolist()
        for a, b in pairwise(starts.tolist())
        for p in range(a, b - length + 1)
        if marks[p]
    ]
    numbers = {key: number for number, key in reversed([*enumerate(keys.tolist())])}
    first = np.array([numbers[key] for key in keys.tolist()], np.uint32)
    counts = np.bincount(first, minlength=len(first)).astype(np.uint32)
    agreed(passages.following, places, first, counts)
    agreed(passages.window_flags, places, first, counts, starts, length)
    letters = words.astype(np.uint8), np.arange(len(words) + 1)
    assert agreed(passages.equal_windows, places, first, *letters, length).all()
    agreed(passages.equal_windows, places, np.zeros_like(first), *letters, length)


@given(st.lists(st.integers(0, 9)), st.integers(0, 4))
def test_marks(places, before):
    agreed(passages.mark_windows, np.array(places, np.int64), before, np.zeros(10, np.uint8))


def test_a_window_with_other_words_than_its_class_stands_alone():
    """As if the hashes of two windows were equal, and their words were not."""
    data, offsets = np.frombuffer(b"ab--ab--cd--ab", np.uint8), np.arange(15)
    windows = Windows(
        length=2,
        starts=np.array([0, 14]),
        places=np.array([0, 4, 8, 12]),
        first=np.zeros(4, np.uint32),
        counts=np.array([4, 0, 0, 0], np.uint32),
    )
    verified = windows.verified(data, offsets)
    assert verified.first.tolist() == [0, 0, 2, 0]
    assert verified.counts.tolist() == [3, 0, 1, 0]
