"""Words broken at the ends of lines, and numbers in the margin, are differences that do not count."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.lines import HYPHEN, NUMBERS, join_broken_words, line_flags
from nearkin.stages.documents import margins
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


BLANKS = st.sampled_from(["", " ", "\t", "  ", " \t", "\f"])
LINE_ENDS = st.sampled_from(["\n", "\r\n", "\n\f\n", "\n\u00a0\n \n", "\n\u4e2d\n"])
STAMPS = ["A0001 A0002", "A\u00a00001 A\u00a00002", "AB.10001 AB.10002", "00009 00010", "A-\u00a010001 A-\u00a010002"]


@st.composite
def pages(draw: st.DrawFn) -> str:
    """Numbered lines, in the same form or in another, between two stamps."""
    numbers = draw(st.sampled_from([[*range(1, 12)], [1] * 11, [1] * 10 + [2], [1, 2] * 6, [*range(1, 70)]]))
    form = draw(st.sampled_from(["{}", "{:02}", "\u0661{}"]))
    indent, gap, tail = draw(BLANKS), draw(BLANKS), draw(BLANKS) + draw(LINE_ENDS)
    text = draw(
        st.sampled_from(["the river had risen, and the bridge", "a", "", "the river had risen and the hyphen-"])
    )
    page = "".join(indent + form.format(number) + gap + text + tail for number in numbers)
    first, last = (stamp.replace("\u00a0", " ") for stamp in draw(st.sampled_from([*STAMPS, "a b"])).split(" "))
    return first + tail + page + draw(st.sampled_from(["", last + tail, indent + last]))


@given(st.one_of(st.text(st.sampled_from("abA012-\u2010\u00ad\u00ac \t\r\n\f"), max_size=40), pages()))
def test_a_step_changes_no_text_whose_flag_is_unset(text: str) -> None:
    data, offsets = text_buffers(pa.array([text], pa.large_string()))
    [flags] = line_flags(data, offsets)
    if not flags & HYPHEN:
        np.testing.assert_array_equal(join_broken_words(data, offsets)[0], data)
    if not flags & NUMBERS:
        assert margins._without_numbers(text) == text


def test_blanks_at_the_end_of_a_line_and_before_its_number_do_not_count() -> None:
    assert apply("the hyphen- \t\r\nated word") == ["the hyphenated word"]
    lines = wrapped(PROSE * 8)[:56]
    stamped = ["AB 0007 ", *(f"\t{i % 28 + 1:02}\t{line}" for i, line in enumerate(lines)), "AB 0008\t"]
    assert apply("\n".join(stamped))[0].split() == " ".join(lines).split()


def test_steps_can_be_switched_off() -> None:
    text = pa.array(["\n".join(f"{i} {line}-" for i, line in enumerate(wrapped(PROSE * 3), 1))], pa.large_string())
    assert Normalisation.parse("space").apply(text)[0].as_py().split() == text[0].as_py().split()
    assert Normalisation.parse("margins,space").apply(text)[0].as_py().split()[:2] == ["an", "old"]
