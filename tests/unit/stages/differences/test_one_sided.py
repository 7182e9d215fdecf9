"""Text that only one of two texts has: complete up to a limit, with its negations, and excerpts that count the rest."""

from __future__ import annotations

import pytest

from nearkin.collection.groups.representatives import OneSidedPassages
from nearkin.stages.differences.changes import find_changes
from nearkin.stages.differences.one_sided import OneSidedText, one_sided_texts
from nearkin.stages.differences.words import Wording


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
