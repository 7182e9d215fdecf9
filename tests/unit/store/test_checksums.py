"""Checksums of rows: what one changed byte makes of them, and what is worked out again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.store.checksums import checksum, corrected, judged, key_bits, wrapped
from nearkin.store.seals import Seals

WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
ROWS = st.tuples(
    st.integers(-(2**63), 2**63 - 1), WORDS, st.none() | WORDS, st.binary(max_size=8), st.integers(0, 2**31 - 1)
)


def flipped(value: object, place: int, change: int) -> object:
    """A value with one byte of it changed; itself where that makes none of its kind."""
    if isinstance(value, int):
        return wrapped((value % 2**64) ^ change << 8 * (place % 8))
    data = bytearray(value.encode() if isinstance(value, str) else value or b"")
    if not data:
        return value
    data[place % len(data)] ^= change
    return bytes(data) if isinstance(value, bytes) else data.decode("utf-8", "surrogateescape")


@given(ROWS, st.integers(0, 4), st.integers(0, 99), st.integers(1, 255))
def test_a_row_with_one_changed_byte_is_worked_out_again(row, column, place, change):
    own, damaged = checksum(row, row[1]), list(row)
    damaged[column] = flipped(row[column], place, change)
    found = judged(damaged, 1, own)
    assert (found.values, found.is_known, found.is_as_stored) == (row, True, damaged[column] == row[column])
    assert found.checksum == own


@given(ROWS, st.integers(0, 7), st.integers(1, 255))
def test_a_checksum_with_one_changed_byte_is_told_from_a_changed_row(row, place, change):
    own = checksum(row, row[1])
    found = judged(row, 1, flipped(own, place, change))
    assert (found.values, found.checksum, found.is_known, found.is_as_stored) == (row, own, True, False)


@given(ROWS, ROWS)
def test_another_row_is_not_taken_for_this_one(row, other):
    found = judged(other, 1, checksum(row, row[1]))
    assert found.is_known == (found.values == row)


@pytest.mark.parametrize("stored", [None, "x", b"x", 1.5, 2**80])
def test_what_is_no_checksum_says_nothing(stored):
    assert corrected((1, "a"), 1, stored) is None
    assert not judged((1, "a"), 1, stored).is_known


@given(st.tuples(WORDS, WORDS), st.tuples(WORDS, WORDS))
def test_rows_that_differ_are_written_otherwise(row, other):
    assert (checksum(row, row[0]) == checksum(other, other[0])) == (row == other)


@given(WORDS, WORDS)
def test_the_first_bits_are_those_of_the_key(key, value):
    assert checksum((value, key), key) >> 48 == key_bits(key)


@given(st.lists(st.integers(-(2**63), 2**63 - 1)), st.randoms())
def test_a_seal_does_not_depend_on_the_order_and_forgets_what_is_taken(checksums, rng):
    shuffled, changes, others = list(checksums), Seals(), Seals()
    rng.shuffle(shuffled)
    changes.add("part", checksums)
    for one in shuffled:
        others.add("part", [one])
    assert changes.of("part") == others.of("part") == (len(checksums), sum(checksums))
    changes.take("part", shuffled)
    assert changes.of("part") == (0, 0)
