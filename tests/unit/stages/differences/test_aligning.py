from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.stages.differences import aligning
from nearkin.stages.differences.aligning import align
from nearkin.stages.differences.words import Wording

LINES = ["Rent is due in May.", "the tenant, Ada Kern, pays", "12", "", "By: ________", "----------", "ﬁne  print"]
texts = st.one_of(
    st.lists(st.sampled_from(LINES), max_size=30).map("\n".join),
    st.lists(st.sampled_from(["a", "b", "c", "d", ",", ".", "____", "\n"]), max_size=80).map(" ".join),
    st.text(max_size=60),
)


def cores(wording: Wording) -> list[str]:
    return [word.core for word in wording.words(0, len(wording.text))]


def differing(a: str, b: str) -> list[tuple[str, str]]:
    found = align(Wording(a), Wording(b)).differences
    return [(" ".join(w.core for w in one.a), " ".join(w.core for w in one.b)) for one in found]


@given(texts, texts)
def test_without_the_differences_both_texts_are_the_same(a: str, b: str) -> None:
    first, second = Wording(a), Wording(b)
    found = align(first, second)
    assert found.is_whole
    starts_a = {word.start for one in found.differences for word in one.a}
    starts_b = {word.start for one in found.differences for word in one.b}
    rest_a = [word.core for word in first.words(0, len(a)) if word.start not in starts_a]
    rest_b = [word.core for word in second.words(0, len(b)) if word.start not in starts_b]
    # shared signs inside a joined difference are told on both sides, so what is left is shared
    assert rest_a == rest_b


@given(texts)
def test_a_text_has_no_difference_from_itself(text: str) -> None:
    assert align(Wording(text), Wording(text)).differences == ()


def test_shared_words_between_additions_are_not_omitted_and_added_again() -> None:
    before, between, after = ("one two three four five six", "of the", "seven eight nine ten eleven")
    assert differing(f"x {between} y", f"x {before} {between} {after} y") == [("", before), ("", after)]
    replaced = differing(f"x a b c d e {between} f g h i j y", f"x {before} {between} {after} y")
    assert replaced == [(f"a b c d e {between} f g h i j", f"{before} {between} {after}")]


def test_line_breaks_are_no_difference() -> None:
    text = "The tenant pays the rent of 100 crowns on the first day of every month, at the house of the landlord."
    other = text.replace("100", "250").replace(" ", "\n")
    assert differing(text, other) == [("100", "250")]


def test_long_texts_are_held_together_by_their_runs_of_words() -> None:
    words = [f"w{i * 7919 % 5003}" for i in range(6000)]
    other = [*words[:1000], "new", *words[1000:3000], *words[3004:5000], "x", "y", *words[5002:]]
    assert differing(" ".join(words), " ".join(other)) == [
        ("", "new"),
        (" ".join(words[3000:3004]), ""),
        (" ".join(words[5000:5002]), "x y"),
    ]


def test_strangers_of_many_repeated_words_are_not_compared_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligning, "MAX_CELLS", 10_000)
    found = align(Wording("a b " * 500), Wording("b c " * 500 + "a"))
    assert not found.is_whole


def test_lines_are_those_of_the_text_as_it_came() -> None:
    principal = Wording("One\r\n\r\nTwo words\rThree\nFour")
    lines = [principal.text[slice(*principal.span_of_lines(i, i + 1))].strip() for i in range(5)]
    assert lines == ["One", "", "Two words", "Three", "Four"]
    found = align(principal, Wording("One\n\nTwo words\nThree\nextra\nFour")).differences
    assert [(principal.line_of(one.at_a), [w.core for w in one.b]) for one in found] == [(4, ["extra"])]
