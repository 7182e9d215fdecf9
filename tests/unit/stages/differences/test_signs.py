"""Signs of numbers: which differences beside a number are formatting, through the public function."""

from __future__ import annotations

import re
import time

import pytest

import nearkin
from example_counts import every
from nearkin.stages.differences.kinds import number_signs

NEVER, ALWAYS = re.compile("(?!)"), re.compile("")

OTHER_NUMBERS = [
    ("-.5", ".5"),
    (".5", "5"),
    ("500-", "500"),
    ("(500)", "500"),
    ("\u20135", "5"),
    ("- $500", "$500"),
    ("-EUR 500", "EUR 500"),
    ("<= 500", "500"),
    ("500+", "500"),
    ("m²", "m2"),
    ("H₂O", "H2O"),
    ("$-500", "$500"),
]
SAME_NUMBERS = [
    ("500-600", "500\u2013600"),
    ("-500", "\u2212500"),
    ("1\u00ad5", "15"),
    ("(see 5)", "see 5"),
    ("5-year", "5 year"),
    ("500,-", "500"),
    ("½", "1⁄2"),
]
LISTS = [
    ("- 5 apples", "5 apples"),
    ("\u2013 5 apples", "\u2022 5 apples"),
    ("+ 5 apples", "5 apples"),
    ("(1) the rent", "1. the rent"),
    ("(12) the rent", "12) the rent"),
    ("1. the rent", "1 the rent"),
]


def kinds_and_sameness(a: str, b: str) -> tuple[set[str], bool, bool]:
    found = nearkin.compare(a, b).comparison
    told = found.to_json()
    is_spelling = told["n_spelling_differences"] == told["n_differences"]
    return set(found.n_of_kind), bool(told["has_same_words"]), is_spelling


@pytest.mark.parametrize("around", ["pay {} now"])
@pytest.mark.parametrize(("a", "b"), OTHER_NUMBERS)
def test_what_may_change_a_number_is_a_difference_in_numbers(a: str, b: str, around: str) -> None:
    for one, other in ((a, b), (b, a)):
        assert kinds_and_sameness(around.format(one), around.format(other)) == ({"numbers"}, False, False)


@pytest.mark.parametrize("around", ["first\n{}\nlast"])
@pytest.mark.parametrize(("a", "b"), SAME_NUMBERS)
def test_what_changes_no_number_is_formatting(a: str, b: str, around: str) -> None:
    for one, other in ((a, b), (b, a)):
        assert kinds_and_sameness(around.format(one), around.format(other)) == ({"formatting"}, True, True)


@pytest.mark.parametrize("before", ["", "first\n", "first\r\n  ", "\t"])
@pytest.mark.parametrize(("a", "b"), LISTS)
def test_the_mark_of_a_list_is_formatting_only_at_the_beginning_of_a_line(a: str, b: str, before: str) -> None:
    for one, other in ((a, b), (b, a)):
        assert kinds_and_sameness(before + one, before + other) == ({"formatting"}, True, True)


@pytest.mark.parametrize(("a", "b"), LISTS[:5])
def test_the_mark_of_a_list_inside_a_line_may_be_a_sign(a: str, b: str) -> None:
    assert kinds_and_sameness(f"pay {a}", f"pay {b}") == ({"numbers"}, False, False)


def test_a_sign_is_read_in_its_own_text_wherever_the_part_begins() -> None:
    text = f"{'rent ' * 100}- 5 apples ($500) {'rent ' * 100}"
    whole = number_signs(text, 0, len(text))
    assert "".join(whole.values()) == "-($)"
    assert {at: sign for at in whole for sign in number_signs(text, at, at + 1).values()} == whole


@pytest.mark.parametrize("part", every(3, ["- ", "(5", "5 ", "\n ", "-5", "(-$ ", "5.", "$"]))
def test_hostile_texts_take_no_more_than_one_pass(part: str) -> None:
    text = part * (400_000 // len(part))
    began = time.process_time()
    number_signs(text, 0, len(text))
    assert time.process_time() - began < 10
