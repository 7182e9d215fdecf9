from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.errors import MissingExtraError
from nearkin.stages.verification.edit import edit_similarity

texts = st.text(max_size=25) | st.text(alphabet="ab", max_size=150) | st.text(alphabet="abc語\U0001f600", max_size=80)


def plain_distance(a: str, b: str) -> int:
    """Wagner and Fischer's table, row by row."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (x != y))
    return row[-1]


@given(texts, texts)
def test_the_distance_is_that_of_the_table(a: str, b: str) -> None:
    found = edit_similarity(a, b)
    assert found.distance == found.min_distance == plain_distance(a, b)
    assert found.similarity == (1 - found.distance / max(len(a), len(b)) if a or b else 1.0)


@given(texts, texts, st.integers(0, 3000))
def test_a_bound_makes_nothing_wrong(a: str, b: str, max_work: int) -> None:
    found, distance = edit_similarity(a, b, max_work=max_work), plain_distance(a, b)
    assert (found.length_a, found.length_b) == (len(a), len(b))
    if found.similarity is None:
        assert found.distance is None
        assert found.min_distance <= distance
    else:
        assert found.distance == distance


def test_long_texts_far_apart_are_told_as_not_known() -> None:
    found = edit_similarity("ab" * 300_000, "ba" * 150_000 + "cd" * 150_000)
    assert found.similarity is None
    assert found.distance is None
    assert found.min_distance > 0
    assert (found.length_a, found.length_b) == (600_000, 600_000)


def test_without_rapidfuzz_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(MissingExtraError, match=r"nearkin\[collection\]"):
        edit_similarity("a", "b")
