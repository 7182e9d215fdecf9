"""Relations of stored texts: containments against sets of words, and what is stored against what was computed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.collection.relations import FINGERPRINT, _packed, _unpacked, relate
from nearkin.stages.differences.comparison import marked_text
from nearkin.stages.differences.relations import COPY
from oracles.brute_force import normalised, shingles

FORM = "The rent of 900 crowns is due on the first day of each month.\nSigned: ____________ \ud7ff\n"
WORDS = st.lists(st.sampled_from(["rent", "Ada Kern", "900", "not", "____", "May 5", "is due.\n", "É"]), max_size=30)


@given(WORDS, st.lists(WORDS, max_size=3))
def test_texts_are_compared_by_word_3_grams_and_stored_as_they_are(principal: list[str], members: list[list[str]]):
    own, texts = " ".join(principal), [" ".join(one) for one in members]
    for text, found in zip(texts, relate(own, texts, n_shown=2, with_one_sided=True), strict=True):
        a, b = (shingles(normalised(one), "words", 3) for one in (own, text))
        if normalised(text) == normalised(own):
            assert (found.comparison, found.containment_in_principal, found.containment_of_principal) == (COPY, 1, 1)
        else:
            assert found.containment_in_principal == len(a & b) / max(1, len(b))
            assert found.containment_of_principal == len(a & b) / max(1, len(a))
        assert _unpacked(_packed(found)) == found


def test_each_of_equal_texts_has_the_relation_and_a_copy_is_recognised():
    found = relate(FORM, [FORM.replace("900", "950"), FORM.upper(), FORM.replace("900", "950"), ""], n_shown=1)
    assert [one.comparison.judgement.relation for one in found] == [
        "other numbers or dates",
        "exact copy",
        "other numbers or dates",
        "revised",
    ]
    assert len(found[0].comparison.shown) == 1
    assert found[1].comparison is COPY
    assert _unpacked(_packed(found[1])).comparison is COPY


def test_relations_that_are_stored_stay_right_if_the_words_of_the_rules_change():
    assert FINGERPRINT.startswith("5;rules=3c62e182;shingle=words:3;")


def test_nothing_is_related_to_nothing():
    assert relate(FORM, []) == []
    assert [one.comparison.judgement.relation for one in relate("", ["", "a text"])] == ["exact copy", "revised"]


@pytest.mark.parametrize("n_shown", [0, 2])
def test_so_many_differences_are_kept(n_shown: int):
    (found,) = relate(
        FORM, [FORM.replace("900", "950").replace("first", "tenth").replace("month", "year")], n_shown=n_shown
    )
    line = "The rent of [-900-] {+950+} crowns is due on the [-first-] {+tenth+} day of each"
    assert [marked_text(one.pieces) for hunk in found.comparison.shown for one in hunk.lines] == [line] * (n_shown > 0)
    assert found.comparison.judgement.measured.n_differences == 3


def test_of_long_differences_both_ends_are_kept():
    (found,) = relate(FORM, [FORM + " ".join(f"w{i}" for i in range(500))], n_shown=6)
    pieces = [one for hunk in found.comparison.shown for line in hunk.lines for one in line.pieces]
    assert "440 more words only in B" in [one.text for one in pieces if one.kind == "gap"]
