from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.reports.comparison import to_terminal
from nearkin.stages.differences.comparing import compare_texts
from nearkin.stages.differences.comparison import Comparison
from nearkin.stages.differences.passages import first_difference
from nearkin.stages.differences.words import as_compared, find_tokens

WHOLE = 10**9

LINES = ["Rent is due in May.", "the tenant, Ada Kern, pays", "12", "", "By: ________", "----------", "RENT is due"]
BITS = ["Rent", "rent", "due", "30", ",", "(1)", "⑴", "é", "____", "-----", "\u200b", "東京", "京", "\n", "\r\n", "\r"]
texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(LINES), max_size=25).map("\n".join),
    st.lists(st.sampled_from(BITS), max_size=40).map(" ".join),
    st.lists(st.sampled_from(BITS), max_size=40).map("".join),
)


def packed(text: str) -> str:
    return unicodedata.normalize("NFC", "".join(text.split()))


def lines_of(text: str) -> list[str]:
    return re.split(r"\r\n?|\n", text)


def tokens(text: str) -> list[str]:
    return [token for found in find_tokens(text) if (token := as_compared(found.group()))]


def side(comparison: Comparison, kind: str) -> str:
    """The lines of one text, a space between them."""
    lines = [line for hunk in comparison.hunks for line in hunk.lines]
    return " ".join("".join(piece.text for piece in line.pieces if piece.kind in ("equal", kind)) for line in lines)


def shown(comparison: Comparison) -> str:
    return "".join(text for _, text in to_terminal(comparison))


@given(texts, texts)
def test_the_pieces_of_each_side_are_its_text(a: str, b: str) -> None:
    found = compare_texts(a, b, context_lines=WHOLE, context_words=WHOLE)
    if found.hunks:
        assert found.n_hunks == 1
        assert packed(side(found, "only_a")) == packed(a)
        assert packed(side(found, "only_b")) == packed(b)
        assert tokens(side(found, "only_a")) == tokens(a)
        assert list(map(packed, tokens(side(found, "only_b")))) == list(map(packed, tokens(b)))
    else:
        assert packed(a) == packed(b)
        assert not found.differences


@given(texts, texts)
def test_lines_are_those_of_the_texts(a: str, b: str) -> None:
    found = compare_texts(a, b, context_lines=1, context_words=WHOLE)
    for hunk in found.hunks:
        assert hunk.lines
        for line in hunk.lines:
            for text, number, kind in ((a, line.line_a, "only_a"), (b, line.line_b, "only_b")):
                mine = [packed(piece.text) for piece in line.pieces if piece.kind in ("equal", kind)]
                assert (number is None) == (not mine)
                if number is not None:
                    there = [packed(one) for one in lines_of(text)[number - 1 :]]
                    assert "".join(mine)[0] in there[0]
                    assert "".join(mine) in "".join(there)


@given(texts, texts, st.integers(0, 3), st.integers(0, 5))
def test_every_difference_is_shown_whatever_the_context(a: str, b: str, lines: int, words: int) -> None:
    found, whole = (compare_texts(a, b, context_lines=n, context_words=m) for n, m in ((lines, words), (WHOLE, WHOLE)))
    marked = [
        [piece for hunk in one.hunks for line in hunk.lines for piece in line.pieces if piece.difference]
        for one in (found, whole)
    ]
    assert [(p.kind, p.text.lstrip(), p.difference) for p in marked[0]] == [
        (p.kind, p.text.lstrip(), p.difference) for p in marked[1]
    ]
    assert {piece.difference for piece in marked[0]} == set(range(1, found.n_differences + 1))
    assert found.differences == whole.differences
    assert json.loads(json.dumps(found.to_json()))["n_differences"] == found.n_differences
    assert all(piece.text or piece.kind == "gap" for piece in first_difference(found))


@given(texts)
def test_a_text_has_no_difference_from_itself(text: str) -> None:
    found = compare_texts(text, text)
    assert found.is_identical
    assert found.hunks == first_difference(found) == ()


@given(st.lists(st.sampled_from(["Rent", "is", "due,", "(1)", "東京"]), max_size=30), st.randoms())
def test_where_lines_break_is_no_difference(words: list[str], random: object) -> None:
    a, b = " ".join(words), "".join(word + random.choice([" ", "\n", "\r\n\t"]) for word in words)  # type: ignore[attr-defined]
    found = compare_texts(a, b)
    assert not found.hunks
    assert found.has_same_words
    assert found.is_identical == (a == b)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("to be paid\nin 30 days", "to be\npaid in 45 days", "to be paid\nin [-30-] {+45+} days\n"),
        ("one\ntwo\nthree", "one\nthree", "one\n[-two-]\nthree\n"),
        ("one\nthree", "one\ntwo and\nthree", "one\n{+two and+}\nthree\n"),
        ("one\nthree", "one\n\ntwo three", "one\n{+two+} three\n"),
        ("one two", "one\n\nnew here\n\ntwo", "one\n{+new here+}\ntwo\n"),
        ("old\nis here", "new\nis here", "[-old-] {+new+}\nis here\n"),
        ("ax bx\ncx dx\nend", "ay by\ncy dy\nend", "[-ax bx-]\n[-cx dx-]\n{+ay by+}\n{+cy dy+}\nend\n"),
        ("Rent, due", "rent due", "[-Rent,-] {+rent+} due\n"),
        ("", "new\n\nwords", "{+new+}\n{+words+}\n"),
    ],
)
def test_examples(a: str, b: str, expected: str) -> None:
    assert shown(compare_texts(a, b)).partition("@@\n")[2] == expected


def test_hunks_say_where_they_begin() -> None:
    a = "\n".join(f"line {i} of the contract" for i in range(1, 101))
    b = "a new heading of it\n" + a.replace("line 40 of", "line 40, of").replace("line 90 of the", "line 90 of a")
    found = compare_texts(a, b, context_lines=1)
    assert [(hunk.line_a, hunk.line_b, len(hunk.lines)) for hunk in found.hunks] == [
        (1, 1, 2),
        (39, 40, 3),
        (89, 90, 3),
    ]
    assert [(line.line_a, line.line_b) for line in found.hunks[2].lines] == [(89, 90), (90, 91), (91, 92)]
    assert [one.has_same_words for one in found.differences] == [False, True, False]
    assert (found.n_words_only_a, found.n_words_only_b, found.n_spelling_differences) == (1, 6, 1)
    assert not found.has_same_words
    assert "\n\n@@ A line 39 · B line 40 @@\n" in shown(found)


def test_the_terminal_is_not_steered_by_a_document() -> None:
    text = shown(compare_texts("\x1b[31mred \u202e", "\x9b2J"))
    assert not set("\x1b\x9b\u202e") & set(text)


def test_the_shape_of_json() -> None:
    told = compare_texts("in 30 days", "in 45 days").to_json()
    (line,) = told["hunks"][0].pop("lines")
    assert told["hunks"] == [{"line_a": 1, "line_b": 1}]
    pieces = [("equal", "in", 0), ("only_a", " 30", 1), ("only_b", " 45", 1), ("equal", " days", 0)]
    named = [dict(zip(("kind", "text", "difference"), piece, strict=True)) for piece in pieces]
    assert line == {"line_a": 1, "line_b": 1, "pieces": named}
    counts = {"number": 1, "line_a": 1, "line_b": 1, "n_words_a": 1, "n_words_b": 1, "counterpart": 0}
    assert told["differences"] == [counts | {"kinds": ["numbers"]}]
