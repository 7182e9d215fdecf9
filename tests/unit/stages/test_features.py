"""Shingles: their parameters, and that hashes stand for n-grams and nothing else."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.errors import ParameterError
from nearkin.stages.features.shingles import Characters, Shingling, Words, parse_shingling
from oracles.brute_force import shingles, words
from oracles.texts import any_texts, few_word_texts, marked_texts, odd_texts


@given(
    st.lists(st.one_of(few_word_texts, odd_texts, marked_texts, any_texts), max_size=6),
    st.sampled_from([Words(1), Words(2), Words(5), Words(64), Characters(1), Characters(4)]),
)
def test_hashes_are_equal_where_n_grams_are(texts, shingling):
    sets = shingling.sets(pa.array(texts, pa.large_string()))
    grams = [shingles(text, shingling.unit, shingling.length) for text in texts]
    assert sets.sizes.tolist() == [len(one) for one in grams]
    assert sets.n_units.tolist() == [len(words(t) if shingling.unit == "words" else t) for t in texts]
    hashed = [set(sets.hashes[a:b].tolist()) for a, b in zip(sets.offsets, sets.offsets[1:], strict=False)]
    assert len(set().union(*hashed)) == len(set().union(*grams))
    for a in range(len(texts)):
        for b in range(a):
            assert len(hashed[a] & hashed[b]) == len(grams[a] & grams[b])


def test_nulls_and_slices():
    texts = pa.array(["x y", None, "a b c", ""], pa.large_string())
    assert Words(2).sets(texts).sizes.tolist() == [1, 0, 2, 0]
    assert Words(2).sets(texts.slice(2)).sizes.tolist() == [2, 0]
    assert Words(2).sets(texts.slice(0, 0)).sizes.tolist() == []


@pytest.mark.parametrize(
    ("text", "found"), [("words:5", Words(5)), ("chars:24", Characters(24)), ("words:64", Words(64))]
)
def test_parsing(text, found):
    assert parse_shingling(text) == found
    assert str(found) == text


@pytest.mark.parametrize(
    "text", ["", "words", "words:", "words:0", "words:65", "words:-1", "words:1.5", "foo:3", "words:３", "chars: 3"]
)
def test_what_is_no_shingling_is_refused(text):
    with pytest.raises(ParameterError) as caught:
        parse_shingling(text)
    assert "must be" in str(caught.value)
    assert "Got" in str(caught.value)


@pytest.mark.parametrize("length", [0, -1, 65, 2.0, True, "3", None])
def test_what_is_no_length_is_refused(length):
    with pytest.raises(ParameterError, match="an int from 1 to 64"):
        Words(length)


def test_a_fingerprint_tells_methods_apart():
    methods: list[Shingling] = [Words(3), Words(4), Characters(3)]
    assert len({one.fingerprint for one in methods}) == 3
