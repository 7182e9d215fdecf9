"""Text that only one of two texts has: complete up to a limit, with its negations, and excerpts that count the rest."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.collection.groups.one_sided_passages import OneSidedPassages
from nearkin.stages.differences import one_sided
from nearkin.stages.differences.changes import find_changes
from nearkin.stages.differences.one_sided import OneSidedText, excerpt, one_sided_texts
from nearkin.stages.differences.wording import Wording
from nearkin.stages.differences.words import count_words


def sides(a: str, b: str) -> tuple[OneSidedText, OneSidedText]:
    one, other = Wording(a), Wording(b)
    return one_sided_texts(one, other, find_changes(one, other))


@pytest.mark.parametrize(
    ("a", "b", "only_a", "only_b"),
    [
        ("he shall not pay", "he shall pay", ("not",), ()),
        ("it is due", "it isn\u2019t due", (), ("isn\u2019t",)),
        ("he does not pay", "he doesn't pay", (), ()),
        ("she will never pay", "she will not pay", ("never",), ("not",)),
        ("he cannot pay", "he can not pay", (), ()),
        ("note the rent", "read the rent", (), ()),
    ],
)
def test_negations_of_which_one_text_has_more(a: str, b: str, only_a: tuple[str, ...], only_b: tuple[str, ...]) -> None:
    assert tuple(one.negations for one in sides(a, b)) == (only_a, only_b)


def test_a_moved_passage_is_neither_added_nor_lacked() -> None:
    first, second = "the rent is due on the first day of each month.", "the tenant shall not let out a room to others."
    lacked, added = sides(f"{first} {second} ever", f"{second} {first} today")
    assert (lacked.passages, lacked.n_words_moved, lacked.negations) == (("ever",), added.n_words_moved, ())
    assert (added.passages, added.negations) == (("today",), ())
    assert added.n_words_moved in (len(first.split()), len(second.split()))
    told = OneSidedPassages(doc_id="b", n_words=1, passages=added.passages, n_words_moved=added.n_words_moved)
    assert told.in_words("adds") == f"b has {added.n_words_moved} words in another place, and adds 1 word: today"


def test_a_negation_that_moves_to_another_subject_is_named() -> None:
    duty, other = "not sublet the house to another person.", "keep the roof, the walls and the garden in good order."
    for one in sides(f"The a shall {duty} The b shall {other}", f"The a shall {other} The b shall {duty}"):
        assert (one.negations, one.n_words_moved) == (("not",), 0)
        assert one.negations_at
    sentence = f"The a shall {duty}"
    for one in sides(f"{sentence} The b shall {other}", f"The b shall {other} {sentence}"):
        assert (one.negations, one.passages, one.n_words_moved) == ((), (), 10)


def test_a_negation_beside_a_moved_passage_is_compared_with_the_whole_difference() -> None:
    moved = "rent is due on the first day of every month here."
    same = "keep the garden and all of its trees in good order there."
    before, after = "He not wash windows doors gates sundays.", "She not paint ceilings walls fences mondays."
    for parts_a, parts_b in (
        (("Alpha beta.", moved, before, same), (after, same, moved)),
        ((same, moved, "Alpha beta.", before), (moved, same, after)),
        ((same, before, moved, "Alpha beta."), (moved, same, after)),
    ):
        a, b = " ".join(parts_a), " ".join(parts_b)
        assert [one.negations for one in (*sides(a, b), *sides(b, a))] == [()] * 4
        assert any(one.n_words_moved for one in sides(a, b))


class CountedSlices(list[tuple[int, int]]):
    """Bounds of passages, which count how many are copied."""

    n_copied = 0

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(key, slice):
            CountedSlices.n_copied += len(found)
        return found


def test_moved_passages_of_other_differences_are_not_copied() -> None:
    words = list(Wording("word " * 300).words(0, 1_500))
    moved = CountedSlices((word.start, word.end) for word in words[1::3])
    parts = [part for i in range(0, 300, 3) for part in one_sided._not_moved(tuple(words[i : i + 3]), moved)]
    assert parts == [(word,) for i, word in enumerate(words) if i % 3 != 1]
    assert CountedSlices.n_copied <= len(moved)


def test_a_sign_that_changes_in_a_moved_passage_is_shown() -> None:
    pays, gets = (
        "The tenant pays a deposit to the landlord of",
        "500 crowns before he gets the key on the first of May.",
    )
    other = " ".join(f"{word}{i}" for i in range(10) for word in ("heating", "water", "light"))
    lacked, added = sides(f"{pays} ≥ {gets} {other}", f"{other} {pays} ≤ {gets}")
    assert ("≥" in " ".join(lacked.passages), lacked.n_words_moved) == (True, 0)
    assert ("≤" in " ".join(added.passages), added.n_words_moved) == (True, 0)
    whole = "A passage of ten words that only moves to the end."
    lacked, added = sides(f"{pays} ≥ {gets} {whole} {other}", f"{other} {whole} {pays} ≤ {gets}")
    assert (lacked.n_words_moved, added.n_words_moved) == (11, 11)


def test_signs_come_after_words_and_what_only_closes_a_sentence_is_left_out() -> None:
    lacked, added = sides("Rent is due: in May. Heat - and 1500", "Rent is due. In the month of May; heat and 1,500")
    assert lacked.passages == ("1500", "-")
    assert added.passages == ("the month of", "1,500")
    lacked, added = sides("Rent is due", "Rent is due. The deposit is not")
    assert (lacked.passages, added.passages, added.negations_at) == ((), ("The deposit is not",), ((0, 15),))


def test_beyond_the_limit_words_are_counted_and_negations_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_sided, "MAX_CHARACTERS", 20)
    _, added = sides("the rent is due", "the rent of the cellar and of the yard is due but not today")
    assert added == OneSidedText(("of the cellar and of",), ("not",), 5)  # the "not" is beyond the limit
    told = OneSidedPassages(
        doc_id="b", n_words=10, passages=added.passages, negations=added.negations, n_words_left_out=5, is_whole=False
    )
    assert told.in_words("adds") == (
        'b adds 10 words, among them "not": of the cellar and of … and 5 more words that this file leaves out '
        "(the texts are too long to be compared to the end)"
    )
    assert (told.excerpt().text, told.excerpt().n_words_left) == ("of the cellar and of …", 5)


@pytest.mark.parametrize(
    ("a", "b", "begins"),
    [
        ("the rent {} and it is due", "the rent is paid {} and it is “not” due", "“not” … is paid"),
        ("the rent {} and it is due", "the rent is paid {} and it is —not due", "—not … is paid"),
        ("the rent {} and it is due", "the rent is paid {} and it is *not* due", "*not* … is paid"),
        ("the rent {} and he can pay", "the rent is paid {} and he can't pay", "'t … is paid"),
    ],
)
def test_an_excerpt_begins_with_a_negation_however_it_is_written(a: str, b: str, begins: str) -> None:
    same = "of the cellar, the yard and the house with all of its rooms"
    _, added = sides(a.format(same), b.format(same))
    assert len(added.passages) == 2
    assert excerpt(added.passages, added.negations_at, 3, 40).text == begins


def test_an_excerpt_of_a_long_passage_begins_near_its_negation() -> None:
    words = " ".join(f"clause{i}" for i in range(200))
    _, added = sides("it is due", f"it is {words} and the\n tenant shall  not sublet due")
    (passage,) = added.passages
    assert added.negations_at == ((0, passage.index("not")),)
    found = excerpt(added.passages, added.negations_at, count_words(passage), 60)
    assert found.text.startswith("… ")
    assert "and the tenant shall not sublet" in found.text
    assert len(found.text) <= 60
    assert found.n_words_left == count_words(passage) - count_words(found.text)


@given(st.lists(st.text("ab not.\u4e2d", min_size=1, max_size=12), max_size=9), st.integers(3, 60))
def test_an_excerpt_counts_the_words_that_it_leaves_out(passages: list[str], most: int) -> None:
    n_words = sum(map(count_words, passages))
    found = excerpt(passages, [(i, one.index("not")) for i, one in enumerate(passages) if "not" in one], n_words, most)
    assert len(found.text) <= most
    assert found.n_words_left >= 0
    if len(" … ".join(passages)) <= most:
        assert found.n_words_left == 0
