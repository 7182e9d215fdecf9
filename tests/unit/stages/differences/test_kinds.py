"""Kinds of differences: by construction, by a plain second classification, and in sentences of contracts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin.reports.comparison import comparison_html
from nearkin.reports.facts.comparing import comparison_facts
from nearkin.stages.differences.comparing import compare_texts
from nearkin.workflows.comparing import compare

# Each pair differs by one kind; the words around it are the same in both texts, and in lower case.
SLOTS = {
    "numbers": [("17", "18"), ("1.5", "15"), ("seven", "eleven"), ("-500", "500"), ("4711", "47110"), ("5 %", "5")],
    "dates": [("3 March 2027", "9 March 2027"), ("2027-03-03", "2027-04-03"), ("Monday", "Friday"),
              ("April 3, 2027", "April 3, 2028"), ("3.3.2027", "3.5.2027"),
              ("1st day of May 2027", "1st day of June 2027")],
    "names": [("Kern", "Dorn"), ("Ada Kern", "Ada Berg"), ("Prague", "Brno"),
              ("Mr. Kern", "Mr. Berg"), ("J. Kern", "B. Kern")],
    "negations": [("may not enter", "may enter"), ("never pays", "pays"), ("isn't due", "is due"),
                  ("without notice", "notice"), ("no keys", "keys")],
    "formatting": [("the rent", "the Rent"), ("rent, due", "rent due"), ("rent; due", "rent: due"),
                   ("well-kept", "well kept")],
    "wording": [("garden", "cellar"), ("shall pay", "may pay"), ("old keys", "new locks"), ("on time", "")],
}  # fmt: skip
AROUND = (
    "the tenant says that",
    "and the landlord agrees that",
    "so long as it holds that",
    "because it is known that",
)


@st.composite
def contracts(draw: st.DrawFn) -> tuple[str, str, list[str]]:
    """Two contracts, and the kinds of their differences in order."""
    a, b, kinds = list[str](), list[str](), list[str]()
    for around in draw(st.permutations(AROUND)):
        kind = draw(st.sampled_from(sorted(SLOTS)))
        one, other = draw(st.sampled_from(SLOTS[kind]))
        differs, is_swapped = draw(st.booleans()), draw(st.booleans())
        sides = (other, one) if is_swapped else (one, other)
        a += [around, sides[0], "ends here in every copy of it"]
        b += [around, sides[differs], "ends here in every copy of it"]
        kinds += [kind] * differs
    return " ".join(a), " ".join(b), kinds


@given(contracts())
@settings(max_examples=examples(150), deadline=None)
def test_each_difference_has_the_kind_that_it_was_made_of(pair: tuple[str, str, list[str]]) -> None:
    a, b, kinds = pair
    assert [one.kinds for one in compare_texts(a, b).differences] == [(kind,) for kind in kinds]


@pytest.mark.parametrize(
    ("a", "b", "kinds"),
    [
        ("The Tenant shall pay $1,200 a month.", "The Tenant shall pay $1,350 a month.", {"numbers"}),
        ("Tenant shall pay. The tenant moves.", "Landlord shall pay. The tenant moves.", {"wording"}),
        ("within thirty (30) days of notice", "within sixty (60) days of notice", {"numbers"}),
        ("made this 3rd day of March, 2027 by and", "made this 4th day of March, 2027 by and", {"dates"}),
        ("by and between Acme Corp. and Ada Kern", "by and between Umbra Corp. and Ada Kern", {"names"}),
        ("LEASE AGREEMENT\nthe rent", "RENTAL AGREEMENT\nthe rent", {"wording"}),
        ("shall not be liable", "shall be liable", {"negations"}),
        ("Nach § 17 haftet der Käufer nicht.", "Nach § 7 haftet der Käufer nicht.", {"numbers"}),
        ("Die Sache geht an Frau Kern und an das Amt.", "Die Sache geht an Frau Berg und an das Amt.", {"names"}),
        ("le prix est dû par l'Acheteur", "le prix est dû par l'Assuré", {"wording"}),
        ("the Premises, and", "the premises and", {"formatting"}),
        ("the sum of 1.500", "the sum of 1,500", {"numbers"}),
        ("the sum of -500", "the sum of \u2212500", {"formatting"}),
        ("Section 4(b) applies", "Section 4(c) applies", {"wording"}),
        ("may assign in March 2027", "may not assign in April 2028", {"negations", "dates"}),
        ("a b", "b a", {"wording"}),
        ("add ½ cup of it", "add 1⁄2 cup of it", {"formatting"}),
        ("an area of 12 m² of land", "an area of 12 m2 of land", {"numbers"}),
        ("see № 5 of it", "see No 5 of it", {"formatting"}),
        ("some 10⁵ items", "some 105 items", {"numbers"}),
        ("some 2½ cups", "some 21⁄2 cups", {"numbers"}),
    ],
)
def test_kinds_in_contracts(a: str, b: str, kinds: set[str]) -> None:
    for one, other in ((a, b), (b, a)):
        found = compare_texts(one, other)
        assert {kind for difference in found.differences for kind in difference.kinds} == kinds
        assert set(found.n_of_kind) == kinds


def test_words_in_another_unicode_form_are_the_same_words() -> None:
    found = compare_texts("Add ½ cup to 12％ of it.", "Add 1⁄2 cup to 12% of it.")
    assert (found.n_words_only_a, found.n_words_only_b, found.has_same_words) == (0, 0, True)
    assert compare_texts("a ½ b", "a 1/2 b").n_words_only_b == 2


@pytest.mark.parametrize(
    ("a", "b", "n_spelling"),
    [
        ("The loss is -500 in all.", "The loss is 500 in all.", 0),
        ("In all, of the 10⁵ items", "in all of the 105 items", 2),
        ("12 m² of it", "12 m2 of it", 0),
        ("12％ of it", "12% of it", 1),
        ("30 of 40", "30 of 41", 0),
    ],
)
def test_a_number_that_changes_is_no_difference_in_spelling(a: str, b: str, n_spelling: int) -> None:
    found = compare_texts(a, b)
    is_same = found.n_differences == n_spelling
    told = found.to_json()
    assert (told["n_spelling_differences"], told["has_same_words"]) == (n_spelling, is_same)
    values = {one.label: one.value for one in comparison_facts("a", "b", compare(a, b).comparison, ())}
    assert values.get("only in spelling", 0) == n_spelling
    page = comparison_html(found, name_a="a", name_b="b")
    assert f"<li><b>{n_spelling}</b>of them in capitals, punctuation or Unicode form only</li>" in page
    assert len(set(re.findall(r'<(?:del|ins) data-n="(\d+)"[^>]* class="spelling"', page))) == n_spelling


def test_moved_passages_have_a_kind_of_their_own() -> None:
    passage = "The tenant returns 17 keys to Ada Kern on Monday and not later."
    rest = "\n".join(f"Line {i} says nothing of interest to anybody at all." for i in range(9))
    found = compare_texts(f"{passage}\n{rest}", f"{rest}\n{passage}", with_moves=True)
    assert found.n_of_kind == {"moves": 2}
