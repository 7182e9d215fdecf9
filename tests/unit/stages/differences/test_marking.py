from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.stages.differences.comparison import Piece, marked_text
from nearkin.stages.differences.marking import mark_differences
from nearkin.stages.differences.words import as_compared, count_words, find_tokens

WHOLE = 10**9  # words of context: nothing is collapsed

words = st.sampled_from(
    ["the", "contract", "a", "ends", "2021", "don't", "-", ",", "東京", "ก็", "é", "مرحبا", "\u200b", "x\u00ad"]
)
texts = st.one_of(
    st.text(max_size=60), st.lists(words, max_size=40).map(" ".join), st.lists(words, max_size=40).map("".join)
)


def compared(text: str) -> list[str]:
    return [core for found in find_tokens(text) if (core := as_compared(found.group()))]


def side(segments: tuple[Piece, ...], kind: str) -> list[str]:
    return compared("".join(segment.text for segment in segments if segment.kind in ("equal", kind)))


@given(texts, texts)
def test_the_segments_of_each_side_are_its_text(a: str, b: str) -> None:
    segments = mark_differences(a, b, context_words=WHOLE)

    assert side(segments, "only_a") == compared(a)
    assert side(segments, "only_b") == compared(b)
    assert "gap" not in {segment.kind for segment in segments}


@given(texts, texts, st.integers(0, 5), st.integers(1, 10), st.none() | st.integers(2, 9))
def test_every_word_is_shown_or_counted(a: str, b: str, context: int, most: int, run: int | None) -> None:
    segments = mark_differences(a, b, context_words=context, max_words=most, max_run=run)

    n_shown = sum(count_words(s.text) for s in segments if s.kind != "gap")
    numbers = [
        [int(part.replace(",", "")) for part in s.text.split() if part[0].isdigit()]
        for s in segments
        if s.kind == "gap"
    ]
    n_equal_shown = sum(count_words(s.text) for s in segments if s.kind == "equal")
    n_equal_hidden = sum(int(s.text.split()[0].replace(",", "")) for s in segments if s.text.endswith(" equal words"))
    assert n_shown + sum(map(sum, numbers)) + n_equal_shown + n_equal_hidden == count_words(a) + count_words(b)


@pytest.mark.parametrize(
    ("a", "b", "shown"),
    [
        ("in 30 days", "in 45 days", "in [-30-] {+45+} days"),
        ("", "new", "{+new+}"),
        ("the cat sat", '"the cat" sat', '{+"+}the cat{+"+} sat'),
        ("a lone , comma", "one other , thing", "[-a lone , comma-]{+one other , thing+}"),
        ("東京都に行く", "京都に行った", "[-東-]京都に行[-く-]{+った+}"),
        ("สวัสดีครับ", "สวัสดีค่ะ", "สวัสดี[-ครับ-]{+ค่ะ+}"),
        ("two  spaces\nhere", "two spaces here", "two spaces here"),
        ("soft\u00adly", "softly", "soft⟨U+00AD⟩ly"),
        ("THE rent: ____", "the Rent: ________", "THE rent: ____"),
        ("mira, lura, quin", "lura quin mira", "[-mira,-] lura[-,-] quin {+mira+}"),
        ("rent,due", "rent , paid", "rent,[-due-] {+paid+}"),
    ],
)
def test_examples(a: str, b: str, shown: str) -> None:
    assert marked_text(mark_differences(a, b)) == shown
