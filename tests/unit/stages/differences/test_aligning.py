from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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


def test_what_is_over_the_bounds_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligning, "MAX_WORDS", 50)
    found = align(Wording("a " + "b " * 100), Wording("c " + "d " * 100))
    assert not found.is_whole
    assert all(len(one.a) <= 50 and len(one.b) <= 50 for one in found.differences)


def test_strangers_of_many_repeated_words_are_not_compared_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligning, "MAX_CELLS", 10_000)
    found = align(Wording("a b " * 500), Wording("b c " * 500 + "a"))
    assert not found.is_whole


class CountedList(list[Any]):
    """Words, or their places, which count how often one of them is read."""

    n_read = 0

    def __iter__(self) -> Iterator[Any]:
        for one in super().__iter__():
            CountedList.n_read += 1
            yield one

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        CountedList.n_read += len(found) if isinstance(key, slice) else 1
        return found


def test_words_between_words_that_differ_are_not_looked_at_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest run is always a single word, so that almost all words are looked at again for each of them."""
    plain = aligning._longest_run

    def counting(a: Any, b: Any, places: dict[int, list[int]], *rest: Any) -> tuple[int, int, int]:
        return plain(a, b, {code: CountedList(some) for code, some in places.items()}, *rest)

    monkeypatch.setattr(aligning, "MAX_STEPS", 100_000)
    monkeypatch.setattr(aligning, "_longest_run", counting)
    CountedList.n_read = 0
    a, b = (Wording(" ".join(f"x {letter}{i}" for i in range(150))) for letter in "yq")
    found = align(a, b)
    assert not found.is_whole
    assert CountedList.n_read <= 200_000  # bisection reads some places, too
    assert found.differences[0].a[0].core == "y0"
    assert len(found.differences) > 1
    monkeypatch.undo()
    assert align(a, b).is_whole


def test_merged_differences_are_not_read_again() -> None:
    CountedList.n_read = 0
    words = CountedList(Wording("one two three four five same " * 200).words(0, 10_000))
    blocks = [(i, i + 5, i, i + 5) for i in range(0, len(words), 6)]
    assert aligning._joined(blocks, words, words) == [(0, len(words) - 1, 0, len(words) - 1)]
    assert CountedList.n_read <= 5 * len(words)


def test_lines_are_those_of_the_text_as_it_came() -> None:
    principal = Wording("One\r\n\r\nTwo words\rThree\nFour")
    lines = [principal.text[slice(*principal.span_of_lines(i, i + 1))].strip() for i in range(5)]
    assert lines == ["One", "", "Two words", "Three", "Four"]
    found = align(principal, Wording("One\n\nTwo words\nThree\nextra\nFour")).differences
    assert [(principal.line_of(one.at_a), [w.core for w in one.b]) for one in found] == [(4, ["extra"])]
