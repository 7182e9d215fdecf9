"""The range search against the distance of every vector, in Python's integers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from example_counts import every, examples
from nearkin.records import LetterVectors
from nearkin.stages.search.ranges.index import RangeIndex
from nearkin.stages.search.ranges.segment import RangeSegment

MOST = 2**27 - 1
KINDS = ["families", "tiny", "huge", "equal", "one dimension", "two lengths", "boundary", "extremes", "zeros"]
GAMMAS = [0.0, 1e-300, 1e-9, 0.001, 0.025, 0.05, 0.1, 0.3, 0.5, 1.0, 2.5, 1e300]


def vectors_of(counts: np.ndarray, is_counted: np.ndarray | None = None) -> LetterVectors:
    every = np.ones(len(counts), bool) if is_counted is None else is_counted
    sums = counts.sum(axis=1, dtype=np.int64)
    return LetterVectors(counts.astype(np.uint32), every, sums, np.zeros(len(counts), np.int64), "letters")


def made(kind: str, n: int, d: int, seed: int) -> np.ndarray:
    """Counts of a kind."""
    chance = np.random.default_rng(seed)
    profile = chance.dirichlet(np.full(d, 0.5))
    lengths = np.exp(chance.normal(6, 2, n)).clip(1, 1e8)
    counts = chance.poisson(lengths[:, None] * profile)
    if kind == "families":
        bases = counts[chance.integers(0, max(1, n // 6), n)] if n else counts
        counts = np.maximum(0, bases + np.rint(chance.normal(0, 0.01, bases.shape) * bases).astype(int))
    elif kind == "tiny":
        counts = chance.integers(0, 3, (n, d))
    elif kind == "huge":
        counts = 51_000_000 * (chance.random((n, d)) < 0.5) + chance.integers(0, 50_000, (n, d))
    elif kind == "equal":
        counts = np.repeat(counts[:1], n, axis=0)
    elif kind == "one dimension":
        counts[:, 1:] = 0
    elif kind == "two lengths":
        counts = np.where(chance.random((n, 1)) < 0.5, 1, 1_000_000) * chance.integers(0, 4, (n, d))
    elif kind == "boundary":  # multiples of (3, 4) have whole lengths, and steps of one letter lie on the boundary
        counts = np.zeros((n, d), int)
        counts[:, 0] = 30 * 10 ** chance.integers(0, 6, n)
        counts[:, -1] += 40 * 10 ** chance.integers(0, 6, n) + chance.integers(-5, 6, n)
    elif kind == "extremes":
        counts = np.where(chance.random((n, d)) < 0.5, MOST, MOST - chance.integers(0, 3, (n, d)))
    elif kind == "zeros":
        counts = counts * (chance.random((n, 1)) < 0.5)
    return np.minimum(counts, MOST)


def every_match(queries: LetterVectors, vectors: LetterVectors, gammas: list[float]) -> list[tuple[int, int, int]]:
    """Query, row and squared distance, by the definition."""
    found = []
    documents = [[int(x) for x in counts] for counts in vectors.counts]
    for i, (counts, gamma) in enumerate(zip(queries.counts, gammas, strict=True)):
        asked = [int(x) for x in counts]
        limit = Fraction(str(gamma)) ** 2 * sum(x * x for x in asked)
        squares = [sum((a - b) ** 2 for a, b in zip(asked, one, strict=True)) for one in documents]
        rows = [
            (i, row, square)
            for row, square in enumerate(squares)
            if square <= limit and queries.is_counted[i] and vectors.is_counted[row]
        ]
        found += sorted(rows, key=lambda match: (match[2], match[1]))
    return found


def check(index: RangeIndex, vectors: LetterVectors, queries: LetterVectors, gammas: list[float], **options) -> None:
    found = index.search(queries, gammas, **options)
    expected = every_match(queries, vectors, gammas)
    columns = (found.query.tolist(), found.row.tolist(), found.squared_distance.tolist())
    assert list(zip(*columns, strict=True)) == expected
    np.testing.assert_array_equal(found.is_answered, queries.is_counted)
    np.testing.assert_array_equal(found.survivors[:, -1], np.bincount(found.query, minlength=len(queries)))
    assert (np.diff(found.survivors, axis=1) <= 0).all()
    assert (found.survivors[queries.is_counted, 0] == vectors.is_counted.sum()).all()


def in_waves(vectors: LetterVectors, ends: list[int]) -> RangeIndex:
    """The same documents in several segments."""
    cuts = [0, *sorted(min(end, len(vectors)) for end in ends), len(vectors)]
    waves = [vectors_of(vectors.counts[a:b], vectors.is_counted[a:b]) for a, b in pairwise(cuts)]
    return RangeIndex(tuple(RangeSegment.build(wave) for wave in waves), vectors.fingerprint)


@st.composite
def cases(draw):
    kind, d = draw(st.sampled_from(KINDS)), draw(st.sampled_from([1, 2, 3, 11, 12, 13, 62, 126, 256]))
    n, seed = draw(st.integers(0, 120)), draw(st.integers(0, 2**32))
    chance = np.random.default_rng(seed)
    vectors = vectors_of(made(kind, n, d, seed), chance.random(n) < draw(st.sampled_from([1.0, 0.8])))
    n_queries = draw(st.integers(0, 6))
    asked = vectors.counts[chance.integers(0, n, n_queries)] if n else np.zeros((n_queries, d), np.uint32)
    if draw(st.booleans()):
        asked = np.maximum(1, asked) - (chance.random(asked.shape) < 0.5)
    queries = vectors_of(asked, chance.random(n_queries) < 0.9)
    gammas = draw(st.lists(st.sampled_from(GAMMAS), min_size=n_queries, max_size=n_queries))
    return vectors, queries, gammas, draw(st.lists(st.integers(0, 120), max_size=2))


@given(cases())
@settings(max_examples=examples(200))
def test_small_collections(case):
    vectors, queries, gammas, ends = case
    check(in_waves(vectors, ends), vectors, queries, gammas)


@pytest.mark.parametrize("kind", every(2, KINDS))
@pytest.mark.parametrize("d", every(2, [62, 2]))
def test_larger_collections(kind, d):
    vectors = vectors_of(made(kind, 1500, d, 3))
    queries = vectors_of(vectors.counts[::300])
    for gamma in (0.0, 0.025, 0.05, 0.3):
        check(in_waves(vectors, [600]), vectors, queries, [gamma] * len(queries), threads=2)


@given(st.integers(1, 51_000_000), st.integers(1, 10**6), st.integers(0, 4), st.integers(-2, 2), st.integers(0, 61))
@example(51_034_295, 25_000, 4, 0, 0)
def test_vectors_on_the_boundary_and_a_letter_beside_it(length, millionths, n_more, beside, other):
    """The query has one letter; its match has some more or fewer, at exactly the tolerance when that is whole."""
    gamma = millionths / 1_000_000
    step = int(Fraction(str(gamma)) * length)
    counts = np.zeros((64 + 2 * n_more, 62), np.int64)
    counts[:, 0] = length
    counts[::2, 0] += step + beside
    counts[1::2, other] += step + beside
    vectors = vectors_of(counts.clip(0, MOST))
    asked = np.zeros((1, 62), np.int64)
    asked[0, 0] = length
    check(RangeIndex.of(vectors), vectors, vectors_of(asked), [gamma])


@pytest.mark.parametrize("gamma", [0.1, 0.2, 0.3, 0.6, 0.7])
def test_a_tolerance_means_the_decimal_number_that_it_is_written_as(gamma):
    """0.3 as a binary number is less than three tenths."""
    vectors = vectors_of(np.array([[1000, 0], [1000, round(1000 * gamma)], [1000, round(1000 * gamma) + 1]]))
    assert RangeIndex.of(vectors).search(vectors_of(vectors.counts[:1]), gamma).row.tolist() == [0, 1]


def test_more_matches_than_a_bufferful():
    vectors = vectors_of(np.repeat(made("families", 40, 62, 1), 1000, axis=0))
    found = RangeIndex.of(vectors).search(vectors_of(vectors.counts[:2000:1000]), 1e9, threads=2)
    assert found.survivors[:, -1].tolist() == [40_000, 40_000]
    for i in range(2):
        assert sorted(found.row[found.query == i].tolist()) == list(range(40_000))
        assert (np.diff(found.squared_distance[found.query == i]) >= 0).all()
