"""Range search: rules of parameters, waves, what stays as it was, arrays that are mapped from files."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from nearkin.errors import ParameterError
from nearkin.records import LetterVectors
from nearkin.stages.search.ranges.index import RangeIndex
from nearkin.stages.search.ranges.segment import SCALE, Directions


def vectors(n: int = 500, d: int = 62, seed: int = 0) -> LetterVectors:
    chance = np.random.default_rng(seed)
    counts = chance.poisson(np.exp(chance.normal(5, 1, (n, 1))) * chance.dirichlet(np.ones(d))).astype(np.uint32)
    sums = counts.sum(axis=1, dtype=np.int64)
    return LetterVectors(counts, sums >= 20, sums, np.zeros(n, np.int64), "letters=test")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": -0.1}, "gamma: must be finite and at least 0. Got: -0.1"),
        ({"gamma": float("nan")}, "gamma: must be finite"),
        ({"gamma": float("inf")}, "gamma: must be finite"),
        ({"gamma": [0.1, 0.2]}, "gamma: .* one for each of 500 queries"),
        ({"gamma": 0.1, "threads": 0}, "threads: .* an int >= 1"),
        ({"gamma": 0.1, "max_matches": 0}, "max_matches: .* an int >= 1"),
        ({"gamma": 5.0, "max_matches": 1000}, "gamma: .* small enough for at most 1,000 matches"),
    ],
)
def test_rules(options, message):
    with pytest.raises(ParameterError, match=message):
        RangeIndex.of(vectors()).search(vectors(), **options)


@pytest.mark.parametrize("counts", [np.full((3, 62), 2**27, np.uint32), np.ones((3, 257), np.uint32), np.ones((3, 0))])
def test_vectors_too_large_for_exact_arithmetic_are_refused(counts):
    with pytest.raises(ParameterError, match="counts: "):
        RangeIndex.of(replace(vectors(3), counts=counts))


def test_documents_that_are_not_counted_neither_ask_nor_are_found():
    some = replace(vectors(4), is_counted=np.array([True, False, True, False]))
    found = RangeIndex.of(some).search(some, 100.0)
    assert set(found.row.tolist()) == set(found.query.tolist()) == {0, 2}
    assert found.is_answered.tolist() == [True, False, True, False]


@pytest.mark.parametrize("d", [1, 2, 5, 62, 126])
def test_directions_are_whole_numbers_and_their_stretch_is_a_bound(d):
    directions = Directions.learn(vectors(300, d).counts)
    matrix = directions.matrix
    np.testing.assert_array_equal(matrix, np.rint(matrix))
    assert directions.stretch / SCALE < 1.0002
    largest = Fraction(float(np.linalg.norm(matrix, 2)))
    assert directions.stretch >= largest * (1 - Fraction(1, 10**12))
    assert (np.take_along_axis(matrix, np.abs(matrix).argmax(axis=1)[:, None], axis=1) > 0).all()
    np.testing.assert_array_equal(matrix, Directions.learn(vectors(300, d).counts).matrix)


def test_points_have_no_rounding_but_the_last():
    """Sums of the greatest counts allowed are exact in whatever order they are made."""
    counts = np.random.default_rng(0).integers(2**27 - 1000, 2**27, (50, 62)).astype(np.uint32)
    directions = Directions.learn(counts)
    whole = directions.matrix.astype(np.int64).tolist()
    for row, point in zip(counts[:5].tolist(), directions.points(counts[:5]), strict=True):
        along = [sum(a * b for a, b in zip(row, direction, strict=True)) for direction in whole]
        assert point[:-1].tolist() == [float(np.float32(value)) for value in along[:11]]
        rest = float(sum(value * value for value in along[11:])) ** 0.5
        assert abs(float(point[-1]) - rest) <= 2.0**-23 * rest
