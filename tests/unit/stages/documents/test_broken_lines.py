"""Words broken at the ends of lines, and numbers in the margin, are differences that do not count."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.lines import BATES, HYPHEN, NUMBERS, join_broken_words, line_flags
from nearkin.stages.documents import normalisation
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
        ("die Verwal-\ntung der Ein-\nund Ausgänge", "die verwaltung der ein- und ausgänge"),
        ("a pause --\nthen more, or -\nnot", "a pause -- then more, or - not"),
    ],
)
def test_a_broken_word_is_one_word_and_a_compound_stays_two(broken: str, joined: str) -> None:
    assert apply(broken) == [joined]


@pytest.mark.parametrize("form", ["{} {}", " {}\t{}", "{:>2}  {}\r", "{}\n{}", "{1:60}  {0:>2}", "{1}\t{0} \r"])
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
        [f"{name}  {i}" for i, name in enumerate(PROSE.split()[:30], 1)],
        [f"{2 * i} {line}" for i, line in enumerate(wrapped(PROSE * 3), 1)],
        [f"{i} {line}" for i, line in enumerate(wrapped(PROSE)[:9], 1)],
        [part for i in range(9) for part in [*wrapped(PROSE), f"{('May', 'June')[i % 2]} {2001 + i}"]],
        [part for i in range(9) for part in [*wrapped(PROSE), f"AB{10007 + 3 * i}"]],
        [f"AB{10007 + i}" for i in range(9)],
    ],
    ids=[
        "list",
        "verses",
        "table",
        "table with numbers last",
        "every other line",
        "few",
        "years",
        "gaps",
        "part numbers",
    ],
)
def test_other_numbers_stay(lines: list[str]) -> None:
    assert apply("\n".join(lines))[0].split() == " ".join(lines).lower().split()


BLANKS = st.sampled_from(["", " ", "\t", " \t", "\f"])
LINE_ENDS = st.sampled_from(["\n", "\r\n", "\n\f\n\u00a0\n"])


@st.composite
def numbered_pages(draw: st.DrawFn) -> str:
    numbers = draw(st.sampled_from([[*range(1, 12)], [1] * 11, [1] * 10 + [2], [*range(1, 70), *range(1, 12)]]))
    form, indent, gap = draw(st.sampled_from(["{}", "{:02}", "\u0661{}"])), draw(BLANKS), draw(BLANKS) or " "
    end = draw(BLANKS) + draw(LINE_ENDS)
    lines = [f"{indent}{form.format(number)}{gap}the river had risen, and the bridge" for number in numbers]
    lines[5] += draw(st.sampled_from(["", f"{end}\r1 or{end}\r1"]))
    return end.join([*lines[:-1], lines[-1][: draw(st.integers(1, 20))]])


@st.composite
def stamped_pages(draw: st.DrawFn) -> str:
    first, last = draw(st.sampled_from([(f"A{sign}{n}1", f"A{sign}{n}2") for sign in " -" for n in ("000", "1000")]))
    end = draw(BLANKS) + draw(LINE_ENDS)
    return end.join([draw(BLANKS) + first, *wrapped(PROSE * 2), draw(BLANKS) + last, ""])


@given(
    st.one_of(
        st.lists(st.sampled_from(["ab", "A", "1", "-", "\u2010", "\u00ad", " ", "\t", "\r", "\n"])).map("".join),
        st.tuples(*[st.sampled_from(["ab-", "ab\u00ac", "\u00e4"]), BLANKS, LINE_ENDS, st.just("cd")]).map("".join),
        numbered_pages(),
        stamped_pages(),
        st.tuples(stamped_pages(), numbered_pages()).map("\n".join),
    )
)
@settings(max_examples=examples(2000))
def test_a_step_changes_no_text_whose_flag_is_unset(text: str) -> None:
    data, offsets = text_buffers(pa.array([text], pa.large_string()))
    [flags] = line_flags(data, offsets)
    if not flags & HYPHEN:
        np.testing.assert_array_equal(join_broken_words(data, offsets)[0], data)
    without_numbers = normalisation._without_numbers
    assert without_numbers(text, flags) == without_numbers(text, NUMBERS | BATES)


def test_steps_can_be_switched_off() -> None:
    text = pa.array(["\n".join(f"{i} {line}-" for i, line in enumerate(wrapped(PROSE * 3), 1))], pa.large_string())
    assert Normalisation.parse("space").apply(text)[0].as_py().split() == text[0].as_py().split()
    assert Normalisation.parse("margins,space").apply(text)[0].as_py().split()[:2] == ["an", "old"]
