from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.stages.differences.comparing import compare_texts

WORDS = ["Rent", "rent", "due", "12", "1,250.50", ",", ".", "(", "\n", "Straße", "STRASSE", "é"]
texts = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)
KINDS = ("case", "punctuation", "numbers")


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_ignored_leaves_no_difference_and_what_is_not_does(kind: str, seed: int) -> None:
    chance = random.Random(seed)
    words = [
        chance.choice(["rent", "12", "crowns", "garden", "1,250"]) + str(chance.choice(["", ","])) for _ in range(60)
    ]
    at = [i for i in chance.sample(range(60), 20) if kind != "numbers" or words[i][0].isdigit()]
    changed = list(words)
    for i in at:
        if kind == "case":
            changed[i] = words[i].upper()
        elif kind == "punctuation":
            changed[i] = words[i].rstrip(",") if words[i].endswith(",") else words[i] + ";"
        else:
            changed[i] = re.sub(r"\d[\d,]*\d", str(chance.randrange(10, 10**6)), words[i])
    a, b = " ".join(words), "\n".join(changed)
    n_plain = compare_texts(a, b).n_differences
    found = compare_texts(a, b, ignore=[kind])
    assert n_plain == found.n_ignored > 0
    assert (found.n_differences, found.hunks) == (0, ())
    assert "differ only in what is ignored" in found.headline
    others = [other for other in KINDS if other != kind]
    if kind != "case" or all(changed[i] != words[i] for i in at):
        assert compare_texts(a, b, ignore=others).n_differences == n_plain


@given(texts, texts)
def test_nothing_else_is_ignored(a: str, b: str) -> None:
    """What counts of both sides is the same, whether differences are ignored or not."""

    def counting(text: str) -> str:
        text = re.sub(r"\d(?:[\d.,:/]*\d)?", "0", text).casefold()
        return "".join(c for c in text if c.isalnum())

    plain = compare_texts(a, b)
    found = compare_texts(a, b, ignore=KINDS)
    assert found.n_differences <= plain.n_differences
    if counting(a) == counting(b):
        return
    assert found.n_differences > 0


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("1.5 percent", "15 percent"),
        ("pay €500", "pay $500"),
        ("-500 due", "500 due"),
        ("5% off", "5 off"),
        ("5 % off", "5 off"),
        ("pay -$500", "pay $500"),
        ("pay (500)", "pay 500"),
        ("pay 500-", "pay 500"),
        ("see .5", "see 5"),
        ("10⁻⁵ of it", "10⁵ of it"),
    ],
)
def test_signs_of_numbers_count(a: str, b: str) -> None:
    assert compare_texts(a, b, ignore=["punctuation"]).n_differences > 0


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [("Sections 1 2 3 4 apply", "Sections 2 3 4 5 apply", "numbers"), ("no no, no", "no, no no", "punctuation")],
)
def test_texts_that_differ_only_in_what_is_ignored_have_no_difference(a: str, b: str, kind: str) -> None:
    found = compare_texts(a, b, ignore=[kind])
    assert (found.n_differences, found.hunks) == (0, ())
    assert found.n_ignored > 0
