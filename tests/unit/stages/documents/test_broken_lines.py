"""Words broken at the ends of lines, and numbers in the margin, are differences that do not count."""

from __future__ import annotations

import pyarrow as pa
import pytest

from nearkin.stages.documents.normalisation import Normalisation

PROSE = (
    "an old mill beside the weir was let to a miller from the next valley and he paid his rent in flour until the "
    "river changed its bed after which the wheel stood still and the owner of the mill took him to court over it "
)


def apply(*texts: str) -> list[str]:
    return Normalisation().apply(pa.array(texts, pa.large_string())).to_pylist()


def wrapped(text: str, n: int = 8) -> list[str]:
    words = text.split()
    return [" ".join(words[i : i + n]) for i in range(0, len(words), n)]


@pytest.mark.parametrize(
    ("broken", "joined"),
    [
        ("the transpor-\ntation of grain", "the transportation of grain"),
        ("die Haupt-\r\n  stra-\r\n  ße", "die hauptstrasse"),
        ("une ex\u2010\nplication", "une explication"),
        ("zu\u00ac\nsammen", "zusammen"),
        ("Haus\u00ad\nmeister, soft\u00adly", "hausmeister, softly"),
        ("Paris-\nBerlin and 12-\nfold", "paris- berlin and 12- fold"),
        ("out-of-\ndate and up-\nto-date", "out-of- date and up- to-date"),
        ("a well-\nknown man, so well-known", "a well- known man, so well-known"),
        ("a long-\nterm lease for a long, long term", "a long- term lease for a long, long term"),
        ("his fore-\nman and for the foreman, one man", "his foreman and for the foreman, one man"),
        ("a pause --\nthen more, or -\nnot", "a pause -- then more, or - not"),
    ],
)
def test_a_broken_word_is_one_word_and_a_compound_stays_two(broken: str, joined: str) -> None:
    assert apply(broken) == [joined]


def test_a_hyphen_in_one_of_a_hundred_lines_belongs_to_a_compound() -> None:
    lines = wrapped(PROSE * 20)
    assert "tax- free" in apply("\n".join(["it was tax-\nfree", *lines]))[0]
    assert "taxfree" in apply("\n".join(["it was tax-\nfree", *lines[:20]]))[0]


@pytest.mark.parametrize("form", ["{} {}", " {}\t{}", "{:>2}  {}\r", "{}\n{}"])
def test_line_numbers_and_bates_numbers_are_no_words(form: str) -> None:
    lines = wrapped(PROSE * 8)[:56]
    numbered = [form.format(i % 28 + 1, line) for i, line in enumerate(lines)]
    stamped = [*numbered[:28], "ACME-000007", *numbered[28:], "ACME-000008"]
    for page in (numbered, stamped):
        assert apply("\n".join(page))[0].split() == " ".join(lines).split()


@pytest.mark.parametrize(
    "lines",
    [
        [f"{i}. {line}" for i, line in enumerate(wrapped(PROSE * 3), 1)],
        [f"{i} {line.capitalize()}." for i, line in enumerate(wrapped(PROSE * 3), 1)],
        [f"{i} {name}" for i, name in enumerate(PROSE.split()[:30], 1)],
        [f"{2 * i} {line}" for i, line in enumerate(wrapped(PROSE * 3), 1)],
        [f"{i} {line}" for i, line in enumerate(wrapped(PROSE)[:9], 1)],
        [part for i in range(9) for part in [*wrapped(PROSE), f"{('May', 'June')[i % 2]} {2001 + i}"]],
        [part for i in range(9) for part in [*wrapped(PROSE), f"AB{10007 + 3 * i}"]],
        [f"AB{10007 + i}" for i in range(9)],
    ],
    ids=["list", "verses", "table", "every other line", "few", "years", "gaps", "part numbers"],
)
def test_other_numbers_stay(lines: list[str]) -> None:
    assert apply("\n".join(lines))[0].split() == " ".join(lines).lower().split()


def test_steps_can_be_switched_off() -> None:
    text = pa.array(["\n".join(f"{i} {line}-" for i, line in enumerate(wrapped(PROSE * 3), 1))], pa.large_string())
    assert Normalisation.parse("space").apply(text)[0].as_py().split() == text[0].as_py().split()
    assert Normalisation.parse("margins,space").apply(text)[0].as_py().split()[:2] == ["an", "old"]
