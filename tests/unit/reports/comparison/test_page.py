from __future__ import annotations

import re

import pytest

from nearkin.reports import comparison as comparison_page
from nearkin.reports.comparison import comparison_fragment, comparison_html
from nearkin.reports.facts.fact import Fact
from nearkin.stages.differences.comparing import compare_texts

UNSEEN = re.compile(r'<span class="unseen">[^<]*</span>| data-kinds="[^"]*"|<small class="kind">number</small>')


def page(a: str, b: str, **arguments: object) -> str:
    named = {"name_a": "lease", "name_b": "lease, signed", **arguments}
    return UNSEEN.sub("", comparison_html(compare_texts(a, b), **named))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("in 30 days", "in 45 days", 'in <del data-n="1">30</del> <ins data-n="1">45</ins> days</td>'),
        ("rent", "Rent", '<del data-n="1" class="spelling">rent</del> <ins data-n="1" class="spelling">Rent</ins>'),
        ("<b>1</b>", "<b>\u202e2</b>", '&lt;b<del data-n="1">&gt;1</del><ins data-n="1">&gt;⟨U+202E⟩2</ins>&lt;/b&gt;'),
        ("a" * 9 + " same" * 100, " same" * 100, '<span class="gap">… 60 equal words …</span>'),
    ],
)
def test_differences_are_marked_and_escaped(a: str, b: str, expected: str) -> None:
    assert expected in page(a, b)


def test_marks_name_their_kinds_once_for_each_difference() -> None:
    html = comparison_fragment(compare_texts("pays Kern 30 not", "pays Dorn 45\nat all"))
    (label,) = re.findall(r'<small class="kind">([^<]*)</small><del data-n="1" data-kinds="([^"]*)"', html)
    assert label == ("number, name, negation", "numbers names negations wording")
    assert html.count('class="kind"') == 1
    plain = comparison_fragment(compare_texts("the garden", "The cellar"))
    assert (plain.count("data-kinds"), plain.count('class="kind"')) == (2, 0)


def test_names_and_facts_are_shown_and_escaped() -> None:
    html = page("a", "b", name_a="<i>", name_b=7, facts=[Fact("Edit <similarity>", "0.9 & more\u202e")])
    assert "<i>" not in html
    assert '<bdi class="id">&lt;i&gt;</bdi>' in html
    assert '<bdi class="id">7</bdi>' in html
    assert "<dt>Edit &lt;similarity&gt;</dt><dd><b><bdi>0.9 &amp; more⟨U+202E⟩</bdi></b>" in html


def test_what_is_left_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison_page, "_MAX_OF_A_PAGE", 93)  # 2 hunks, 10 lines with 4 marks
    a = "\n".join(f"line {i} of the contract" for i in range(1000))
    html = page(a, a.replace("00 of", "00 in"))
    assert "The first 2 of 9 differences are on this page" in html
    assert html.count("<tr><td") == 10


@pytest.mark.parametrize(("a", "b"), [("in 30 days", "in 45 days"), ("rent", "Rent"), ("a\nb\n" * 9, "a\nb c\n" * 9)])
def test_a_fragment_has_the_lines_of_the_page_and_nothing_that_may_be_there_once(a: str, b: str) -> None:
    comparison = compare_texts(a, b)
    fragment = comparison_fragment(comparison)
    lines = re.findall(r"<table.*?</table>", fragment, re.DOTALL)
    whole = comparison_html(comparison, name_a="a", name_b="b")

    assert lines == re.findall(r"<table.*?</table>", whole, re.DOTALL)
    assert len(lines) == comparison.n_hunks
    assert comparison.headline in fragment
    assert not re.search(r"<html|<style|<script|<main|<h1| id=", fragment)
