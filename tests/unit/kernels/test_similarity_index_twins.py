"""The compiled kernels of the similarity index give the numbers of their plain twins."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.kernels import similarity_index, words
from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.plain.similarity_index import hash_code
from unit.kernels.agreeing import agreed

ODD = "aeiou thxyz019'-.\"é½²İД日中か\u0301\u200d🙂\U0010ffff\0"
WORDS = st.lists(st.text(st.sampled_from(ODD.replace(" ", "")), min_size=1, max_size=7), max_size=40)
SPACED = st.lists(st.one_of(WORDS.map(" ".join), st.sampled_from(["", "a", "to be or not to be", "—"])), max_size=5)
NUMBERS = st.one_of(st.integers(-(2**31), 2**31 - 1), st.integers(-3, 3), st.just(-(2**31)))
SHINGLES = st.lists(st.lists(NUMBERS, max_size=60), max_size=4)


def arrays(values):
    offsets = np.cumsum([0, *map(len, values)], dtype=np.int64)
    return np.array([one for value in values for one in value], np.int32), offsets


@pytest.mark.parametrize("without_vowels", [False, True])
@pytest.mark.parametrize("length", [1, 4, 40])
@given(values=SPACED)
def test_character_shingles(length, without_vowels, values):
    buffers = text_buffers(pa.array(values, pa.large_string()))
    options = {"length": length, "without_vowels": without_vowels}
    agreed(similarity_index.character_shingles, *buffers, **options)


@pytest.mark.parametrize("length", [1, 2, 9])
@given(values=SPACED)
def test_word_shingles(length, values):
    data, offsets = text_buffers(pa.array(values, pa.large_string()))
    ids, id_offsets, bounds = words.word_ids(data, offsets)
    hashed = agreed(similarity_index.hash_words, data, bounds)
    shingles, shingle_offsets = agreed(similarity_index.word_shingles, ids, id_offsets, *hashed, length=length)
    bare = [words.bare_word(word) for word in values[0].split(" ")] if values else []
    bare = [word for word in bare if word]
    grams = [" ".join(bare[first : first + length]) for first in range(len(bare) - length + 1)]
    assert shingles[: shingle_offsets[1] if values else 0].tolist() == [hash_code(gram) for gram in grams]


@given(values=SPACED, stops=st.sets(st.sampled_from(["to", "a", "é", "th'x", "日"])))
def test_word_ids(values, stops):
    data, offsets = text_buffers(pa.array(values, pa.large_string()))
    agreed(words.word_ids, data, offsets)
    stop_words = tuple(word.encode() for word in sorted(stops))
    agreed(words.without_words, data, offsets, stop_words)
    bounds = words.word_ids(data, offsets)[2]
    agreed(words.are_among, data, bounds, stop_words)


def test_more_distinct_words_than_there_is_room_for_at_first():
    many = [f"w{i * i}" for i in range(10_000)]
    data, offsets = text_buffers(pa.array([" ".join(many), " ".join(many[::-1])], pa.large_string()))
    agreed(words.word_ids, data, offsets)


@given(values=st.lists(st.lists(st.integers(0, 9), max_size=40), max_size=4), most=st.integers(1, 9))
def test_words_that_are_chosen(values, most):
    agreed(words.first_ids, *arrays(values), n_distinct=10)
    agreed(words.frequent_ids, *arrays(values), n_distinct=10, most=most)


@given(values=SHINGLES, number=st.integers(1, 30), seed=st.integers(0, 2**64 - 1))
def test_sketches(values, number, seed):
    ways = [("divisible", "by"), ("winnowed", "window"), ("lowest", "most"), ("highest", "most")]
    for name, parameter in ways:
        options = {parameter: 2 * number + 1}
        agreed(getattr(similarity_index, name), *arrays(values), **options)
    agreed(similarity_index.random_third, *arrays(values), seed=seed)


@given(values=SHINGLES, length=st.integers(2, 9))
def test_one_number(values, length):
    for name, options in (("sums", {}), ("rabin", {}), ("super_shingles", {"length": length})):
        assert agreed(getattr(similarity_index, name), *arrays(values), **options).dtype == np.int64


def test_a_long_run_is_hashed_as_in_one_piece():
    values = [np.random.default_rng(5).integers(-(2**31), 2**31, 5_000).tolist()]
    agreed(similarity_index.super_shingles, *arrays(values), length=1_500)


def test_the_polynomial_is_irreducible():
    """Rabin's test: x^(2^64) = x modulo P, and x^(2^32) - x has no factor in common with P; 2 is 64's only prime."""
    polynomial = similarity_index.POLYNOMIAL

    def times(a, b):
        product = 0
        while b:
            product ^= a * (b & 1)
            a, b = a << 1, b >> 1
            a ^= polynomial * (a >> 64)
        return product

    def divisor(a, b):
        while b:
            while a and a.bit_length() >= b.bit_length():
                a ^= b << (a.bit_length() - b.bit_length())
            a, b = b, a
        return a

    power, after_half = 2, 0
    for i in range(1, 65):
        power = times(power, power)
        after_half = power if i == 32 else after_half
    assert power == 2
    assert divisor(polynomial, after_half ^ 2) == 1
