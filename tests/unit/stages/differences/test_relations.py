from __future__ import annotations

from collections import Counter
from itertools import islice, product
from pathlib import Path

import pytest

from nearkin.stages.differences.comparing import compare_texts
from nearkin.stages.differences.particulars import Original
from nearkin.stages.differences.relations import RELATIONS, RULES, compare
from unit.stages.differences.labelled_pairs import labelled_pairs

BODY = """
Employment. The employer hires the employee for the work of a clerk, and the employee accepts on the terms below.

Pay. The employer pays a salary of $50,000 a year in twelve equal parts, each at the end of a month.

Holidays. The employee has thirty days of holiday in a year, of which ten may be taken into the year that follows.

End. Either side may end the agreement with a notice of three months to the end of a quarter, in writing.

Secrets. What the employee learns about the business stays secret during the agreement and for two years after it.
"""
HEAD = "This agreement is made by and between Kern Seeds, Inc. and Ada Rowe.\n"
FORM = HEAD + BODY + "\nSigned on ____________\nBy: ____________________\nName: ____________________\n"


def relation(principal: str, member: str) -> str:
    return judged(principal, member).judgement.relation


def judged(principal: str, member: str):
    return compare(Original(principal), Original(member), n_shown=3)


def filled(text: str, *values: str) -> str:
    for value in values:
        before, _, after = text.partition("____________")
        text = before + value + after.lstrip("_")
    return text


OTHERS = FORM.replace("Kern Seeds", "Abara Mills").replace("Ada Rowe", "Li D. Quist")
SIGNED = filled(FORM, "May 5, 2019", "/s/ Ada Rowe", "Ada Rowe")


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (FORM.upper().replace("\n", "\r\n"), "exact copy"),
        (FORM.replace("____________________", "________________"), "exact copy"),
        (FORM + "\n==========\n", "exact copy"),
        (SIGNED, "signature or date filled in"),
        (filled(FORM, "May 5, 2019"), "signature or date filled in"),
        (FORM.replace("$50,000", "$65,000").replace("two years", "three years"), "other numbers or dates"),
        (FORM.replace("thirty days", "days"), "other numbers or dates"),
        (FORM.replace("in writing.", "in writing. 5,000 dollars."), "other numbers or dates"),
        (FORM.replace("Kern Seeds", "Abara Mills").replace("Ada Rowe", "Li D. Quist"), "same form, other parties"),
        (SIGNED.replace("Kern Seeds", "Abara Mills").replace("Ada Rowe", "Li Quist"), "same form, other parties"),
        (FORM.replace(FORM[FORM.index("Holidays") : FORM.index("End.")], ""), "shorter version or excerpt"),
        (
            FORM.replace("End.", "Car. The employee may use a car of the employer, at his cost.\n\nEnd."),
            "longer version",
        ),
        (FORM.replace("may end", "may not end"), "revised"),
        (OTHERS.replace("may end", "may not end"), "revised"),
        (OTHERS.replace("may end", "must end"), "revised"),
        (OTHERS.replace("stays secret", "stays very secret"), "revised"),
        (OTHERS.replace("a clerk", "a cook"), "same form, other parties"),
        (FORM.replace("two years", "two years or more"), "longer version"),
        (FORM.replace("employer hires", "company takes").replace("stays secret", "is never told"), "revised"),
        (FORM.replace("in writing.", "in writing"), "revised"),
        (FORM.replace("by and between", "by or between"), "revised"),
        (FORM.replace("thirty days", "days").replace("in writing.", "in writing thirty."), "revised"),
        (FORM.replace(FORM[FORM.index("Holidays") : FORM.index("End.")], "").replace("a clerk", "a cook"), "revised"),
        (FORM.replace("stays secret", "stays secret by Ada Rowe's word"), "longer version"),
    ],
)
def test_rules(member: str, expected: str) -> None:
    assert relation(FORM, member) == expected


@pytest.mark.parametrize("labels", [("Lender:", "Borrower:"), ("By:", "By:"), ("Lender:", "Witness:", "Tenant:")])
@pytest.mark.parametrize("end", ["\n", "    "])
@pytest.mark.parametrize("signature", ["/s/ Anna Kern, 11 June 2023", "Anna Kern, tenth of May 2023"])
def test_labels_between_signatures_are_no_difference(labels: tuple[str, ...], end: str, signature: str) -> None:
    blank, signed = (BODY + "".join(f"{label} {line}{end}" for label in labels) for line in ("_______", signature))
    for principal, member in ((blank, signed), (signed, blank)):
        found = judged(principal, member).judgement
        assert (found.relation, found.measured.n_differences) == ("signature or date filled in", len(labels))


@pytest.mark.parametrize(("filling", "expected"), [("not", "revised"), ("at all times", "signature or date filled in")])
def test_a_negation_fills_in_no_blank(filling: str, expected: str) -> None:
    blank = BODY + "The clerk shall ______ work on a Sunday."
    assert relation(blank, blank.replace("______", filling)) == expected


@pytest.mark.parametrize("language", ["English", "German", "French"])
def test_labelled_pairs_have_their_relation(language: str) -> None:
    """Precision of each relation."""
    right, found, missed = Counter[str](), Counter[str](), Counter[str]()
    for pair in labelled_pairs():
        if pair.language == language:
            given = relation(pair.a, pair.b)
            found[given] += 1
            right[given] += given == pair.relation
            missed[pair.relation] += given != pair.relation
            kinds = {kind for one in compare_texts(pair.a, pair.b).differences for kind in one.kinds}
            assert ("names" in kinds) == pair.has_names or "B" in pair.mix
    assert set(found) == set(RELATIONS)
    assert {one: right[one] / n for one, n in found.items() if right[one] < 0.95 * n} == {}
    assert missed.total() <= 0.05 * found.total()


@pytest.mark.parametrize("n_words", [10, 1_200])
def test_a_list_of_words_that_each_end_a_sentence_is_compared(n_words: int) -> None:
    words = ["".join(letters).capitalize() for letters in islice(product("abcdefgh", repeat=5), n_words)]
    a, b = (f"{20 * BODY}{first}. {'. '.join(words)}. So they signed." for first in ("Adams", "Rowe"))
    assert [one.kinds for one in compare_texts(a, b).differences] == [("wording",)]


SPANISH = (
    "El comprador paga el precio de 900 euros a la señora Ana Ruiz en el plazo de diez días, y la entrega de la cosa "
    "se hace en la ciudad de Toledo por cuenta del vendedor. Las partes conservan una copia del contrato."
)


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (SPANISH.replace("Ana Ruiz", "Eva Soto").replace("Toledo", "Burgos"), "revised"),
        (SPANISH.replace("comprador", "vendedor"), "revised"),
        (SPANISH.replace("900", "950"), "other numbers or dates"),
        (SPANISH.replace(" Las partes conservan una copia del contrato.", ""), "shorter version or excerpt"),
        (SPANISH + " La segunda copia es para la notaria.", "longer version"),
        (SPANISH.upper(), "exact copy"),
    ],
)
def test_a_language_without_rules_for_names(member: str, expected: str) -> None:
    assert relation(SPANISH, member) == expected
    kinds = {kind for one in compare_texts(SPANISH, member).differences for kind in one.kinds}
    assert "names" not in kinds


@pytest.mark.parametrize("n_sentences", range(1, 30, 4))
def test_any_part_that_is_left_out_makes_a_shorter_version(n_sentences: int) -> None:
    sentences = [f"Clause {i} of this lease is about the number {i} of it." for i in range(30)]
    whole, part = " ".join(sentences), " ".join(sentences[:n_sentences])
    assert relation(whole, part) == "shorter version or excerpt"
    assert relation(part, whole) == "longer version"


def test_empty_texts() -> None:
    assert relation("", "") == "exact copy"
    assert relation(FORM, "") == "revised"


def test_every_relation_has_a_rule() -> None:
    assert tuple(RULES) == RELATIONS


def test_the_guide_has_every_rule(root: Path) -> None:
    guide = " ".join((root / "docs/guides/families.md").read_text(encoding="utf-8").split())
    assert not [rule for rule in RULES.values() if rule not in guide]
