"""Passages and numbers that do not count, against a plain definition."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.kernels.buffers import strings
from nearkin.stages.documents.ignoring import Ignored
from nearkin.stages.documents.normalisation import ONLY_IGNORED, ONLY_NUMBERS, Normalisation, prepare
from nearkin.stages.documents.rows import Row, RowList

WORDS = st.lists(st.sampled_from(["alpha", "beta", "confidential", "mail", "Ünïcode", "7", "12", "b2"]), max_size=12)


def without(text: str, passage: str) -> str:
    """Remove whole passages from a normalised text: the slow definition."""
    pattern = rf"(?<!\w){re.escape(passage)}(?!\w)"
    return " ".join(re.sub(pattern, " ", text).split())


@given(WORDS, st.lists(st.sampled_from(["alpha", "beta", "mail", "7"]), min_size=1, max_size=2))
def test_literal_passages_are_removed_as_defined(words: list[str], passage: list[str]) -> None:
    text, literal = " ".join(words), " ".join(passage)
    plain = Normalisation().apply(strings([text]))[0].as_py()
    found = Normalisation(ignored=Ignored((f"text:{literal}",))).apply(strings([text]))[0].as_py()
    assert found == without(plain, literal)


RUNS = st.lists(st.lists(st.sampled_from(["alpha", "beta", "mail"]), min_size=1, max_size=3), min_size=1, max_size=3)


@given(st.lists(WORDS, max_size=4), RUNS, st.sampled_from([" ", ", ", "\n# ", " – "]))
def test_runs_of_words_are_removed_whatever_stands_between_them(texts, runs, sign):
    ignored = Ignored(tuple(f"words:{' '.join(run).upper()}" for run in runs))
    found = ignored.removed(strings([sign.join(words) for words in texts])).texts.to_pylist()
    seen = set()
    for words, left in zip(texts, found, strict=True):
        wanted, at = [], 0
        while at < len(words):
            here = [run for run in runs if words[at : at + len(run)] == run]
            longest = max(here, key=len, default=[])
            seen.update([" ".join(longest)] if longest else [])
            wanted += [] if longest else [words[at]]
            at += max(len(longest), 1)
        assert re.findall(r"\w+", left) == wanted
    assert ignored.found == {f"words:{run.upper()}" for run in seen}


@given(st.lists(st.text(max_size=30), min_size=1, max_size=8))
def test_digits_do_not_count(texts: list[str]) -> None:
    found = Normalisation.parse("case,space").ignoring(Ignored((), numbers=True)).normalised(strings(texts))
    assert found.is_only_numbers is not None
    for text, left, is_number in zip(texts, found.texts.to_pylist(), found.is_only_numbers.tolist(), strict=True):
        kinds = [unicodedata.category(one) for one in text]
        assert not any(unicodedata.category(one) == "Nd" for one in left)
        assert is_number == ("Nd" in kinds and not any(kind.startswith("L") for kind in kinds))
        assert not (is_number and left)


@pytest.mark.parametrize("steps", ["nfkc,case,space", "none"])
def test_texts_with_nothing_but_passages_become_empty_and_are_told_from_empty_ones(steps: str) -> None:
    texts = ["Draft", "\n draft  DRAFT", "Draft 7", "7", " ", "Draft of Ada", None]
    steps_without = Normalisation.parse(steps).ignoring(Ignored(("text:draft",), numbers=True))
    rows = RowList()
    for number, text in enumerate(texts, 1):
        rows.add(Row(number, "d", None if text is None else text.encode()))
    prepared = prepare(rows.batch(), steps_without, source_name="x")
    assert prepared[ONLY_IGNORED].to_pylist() == [True, True, False, False, False, False, False]
    assert prepared[ONLY_NUMBERS].to_pylist() == [False, False, True, True, False, False, False]
    assert [text.strip() for text in prepared["text"].to_pylist()][:5] == [""] * 5
    assert prepared["text"].to_pylist()[:4] == [""] * 4


def test_patterns_see_lines_as_they_came() -> None:
    ignored = Normalisation(ignored=Ignored((r"re:^page \d+$",)))
    assert ignored.apply(strings(["One\nPage 12\ntwo page 3"])).to_pylist() == ["one two page 3"]


def test_a_pattern_cannot_take_more_than_linear_time() -> None:
    ignored = Normalisation(ignored=Ignored(("re:(a+)+$x",)))
    assert ignored.apply(strings(["a" * 200_000])).to_pylist() == ["a" * 200_000]


def test_a_passage_wrapped_differently_and_in_other_letters_does_not_count() -> None:
    ignored = Ignored.parse("<<<\nThis e-mail is confidential\nand privileged.\n>>>\n")
    texts = strings(["Dear Ada. THIS E-MAIL is\n   confidential and privileged. Yours", "Dear Ada. Yours"])
    assert Normalisation(ignored=ignored).apply(texts).to_pylist() == ["dear ada. yours"] * 2
