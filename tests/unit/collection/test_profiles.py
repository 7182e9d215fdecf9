"""Profiles: whole roots, and columns in which near vectors cannot be far apart."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nearkin.collection.stored.profiles import COLUMNS, profiles_of, whole_roots
from nearkin.store.schema import PROJECTIONS

MOST = 2**27 - 1
COUNTS = arrays(np.uint32, (2, 126), elements=st.one_of(st.integers(0, 40), st.integers(0, MOST)))
YES = np.ones(2, np.bool_)


@given(st.lists(st.one_of(st.integers(0, 2**62 - 1), st.integers(0, 2**31 - 1).map(lambda root: root * root))))
def test_roots_are_those_of_whole_numbers(squares):
    near = [n for square in squares for n in (max(0, square - 1), square, min(square + 1, 2**62 - 1))]
    assert whole_roots(np.array(near, np.int64)).tolist() == [math.isqrt(n) for n in near]


@given(COUNTS)
def test_no_column_differs_by_more_than_the_distance(counts):
    a, b = (dict(zip(COLUMNS, row, strict=True)) for row in profiles_of(counts, YES, np.zeros(2, np.int64), YES))
    whole = counts.astype(object)
    distance = math.sqrt(sum((x - y) ** 2 for x, y in zip(*whole.tolist(), strict=True)))
    assert a["squared_length"] == sum(x * x for x in whole[0])
    for name in PROJECTIONS:
        allowed = distance * (1 + 1e-12) + (name == "length")  # lengths are rounded down
        assert abs(a[name] - b[name]) <= allowed


def test_what_is_not_known_is_null():
    rows = profiles_of(np.ones((2, 62), np.uint32), np.array([True, False]), np.array([5, 0]), np.array([False, True]))
    assert rows[0][0] is None
    assert None not in rows[0][1:]
    assert rows[1] == (0, *[None] * (len(COLUMNS) - 1))
    assert {type(value) for row in rows for value in row} == {int, type(None)}  # as drivers of databases know them
