"""Every character that differs is within a change, white space apart; what lies between changes is the same."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.stages.differences import aligning
from nearkin.stages.differences.changes import Change, find_changes
from nearkin.stages.differences.words import Wording

BITS = ["Rent", "rent", "due", "30", "(1)", "⑴", "é", "e\u0301", ",", "[ ]", "[  ]", "____", "______", "-----",
        "=====", "\u200b", "soft\u00adly", "softly", "¨", "東京", "京", "ΑΣ'Β", "\n", "\r\n", "\u0308"]  # fmt: skip
texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(BITS), max_size=40).map(" ".join),
    st.lists(st.sampled_from(BITS), max_size=40).map("".join),
    st.lists(st.sampled_from(["Rent is due in May.", "the tenant, Ada Kern, pays", "12", "-----"]), max_size=20).map(
        "\n".join
    ),
)


def packed(text: str) -> str:
    return unicodedata.normalize("NFC", "".join(text.split()))


def changes_of(a: str, b: str) -> tuple[Change, ...]:
    return find_changes(Wording(a), Wording(b)).changes


def assert_sound(a: str, b: str) -> None:
    at_a = at_b = 0
    changes = changes_of(a, b)
    for one in changes:
        assert at_a <= one.start_a <= one.end_a
        assert at_b <= one.start_b <= one.end_b
        assert packed(a[at_a : one.start_a]) == packed(b[at_b : one.start_b])
        assert (one.end_a, one.end_b) > (one.start_a, one.start_b)
        for text, start, end in ((a, one.start_a, one.end_a), (b, one.start_b, one.end_b)):
            if end > start:
                assert not text[start].isspace()
                assert not text[end - 1].isspace()
            else:
                assert not text[:start][-1:].isspace()
        at_a, at_b = one.end_a, one.end_b
    assert packed(a[at_a:]) == packed(b[at_b:])
    if packed(a) == packed(b):
        assert all(one.n_words_a or one.n_words_b for one in changes)  # "a b" beside "ab": white space within a word


@given(texts, texts)
def test_between_changes_both_texts_are_the_same(a: str, b: str) -> None:
    assert_sound(a, b)


@given(texts)
def test_capitals_are_seen_and_are_no_words(text: str) -> None:
    other = text.swapcase()
    assert_sound(text, other)


@given(texts, st.integers(0, 400))
def test_bounds_hide_nothing(text: str, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aligning, "MAX_WORDS", most % 7)
        patch.setattr(aligning, "MAX_CELLS", most)
        assert_sound(text, text[::-1])
        assert_sound(text, re.sub("e", "x", text))


def spans(a: str, b: str) -> list[tuple[str, str]]:
    return [(a[one.start_a : one.end_a], b[one.start_b : one.end_b]) for one in changes_of(a, b)]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("The Rent is due", "the rent is DUE", [("The Rent", "the rent"), ("due", "DUE")]),
        ("By: ____ Ada", "By: ________ Ada", [("____", "________")]),
        ("one\n-----\ntwo", "one\n==========\ntwo", [("-----", "==========")]),
        ("one\n-----\ntwo", "one\nand\n-----\ntwo", [("", "and")]),
        ("a.b.c. and", "A.B.C. and", [("a.b.c", "A.B.C")]),
        ("café", "cafe\u0301", []),
        ("[ ] yes  [  ] no", "[  ] yes [ ] no", []),
        ("x (1) y", "x ⑴ y", [("(1)", "⑴")]),
    ],
)
def test_examples(a: str, b: str, expected: list[tuple[str, str]]) -> None:
    assert spans(a, b) == expected


def test_of_a_huge_word_only_what_differs_is_told() -> None:
    assert spans("x" * 900 + "ab" + "x" * 900, "x" * 900 + "Q" + "x" * 900) == [("ab", "Q")]


def test_texts_that_are_wrapped_differently_are_not_held_together_by_their_lines() -> None:
    words = [f"w{i * 7919 % 503}" for i in range(3000)]
    a = "\n".join(" ".join(words[i : i + 11]) for i in range(0, 3000, 11))
    head = " ".join(words[2200:2211])  # a line of A, which B has as a line elsewhere too
    words[1500] = "new"
    b = f"{head}\n" + "\n".join(" ".join(words[i : i + 8]) for i in range(0, 3000, 8))
    assert [len(other.split()) for _, other in spans(a, b)] == [11, 1]


def test_what_follows_a_bound_is_one_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligning, "MAX_WORDS", 1000)
    a, b = (" ".join(f"{side}{i}" for i in range(9000)) for side in "ab")
    found = find_changes(Wording(a), Wording(b))
    assert not found.is_whole
    assert [(one.start_a, one.end_a) for one in found.changes] == [(0, len(a))]
