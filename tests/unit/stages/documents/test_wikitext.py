"""Wikitext without its marks: what goes, what stays, and that nothing takes long."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_counts import every
from nearkin.stages.documents.readers.wikipedia import plain_text, template_names, without_comments

SEEN = [
    ("'''Rain''' is ''wet''.", "Rain is wet."),
    ("a [[b]] [[c|d]]s [[e#f|]] [[:g]]", "a b ds e#f g"),
    ("[[a|b ''c'' {{d}} [[e]]]] f", "b c e f"),
    ("x[[File:a.jpg|thumb|the [[b|c]] of [http://d e]]]y", "xy"),
    ("x[[bild:a.jpg|{{b|[[c]]}}]]y[[Kategorie:D]][[ Category : E|F]]", "xy"),
    ("a\n[[en:Rain]]\n[[zh-min-nan:Hō͘]]\n[[Foo: bar]]", "a\nFoo: bar"),
    ("[[:Kategorie:Regen]] [[:en:Rain|Rain]]", "Kategorie:Regen Rain"),
    ("a{{b|c={{d|e}}|f=[[g]]}}h{{{i|{{j}}}}}k", "ahk"),
    ("a{{b\n|c=<ref>}}</ref>\n}}d", "ad"),
    ("a {{b}} c ({{d}}; {{e}}) f", "a c f"),
    ('a<ref>b</ref>c<ref name="d" />e<ref name=f>{{g}}<br></REF >h', "aceh"),
    ("a<ref>b and no end", "ab and no end"),
    ("a<!-- b [[ {{ -->c<!-- d", "ac"),
    ("a\n{| class=x\n! b\n|-\n| c || {{d}}\n{|\n| e\n|}\n|}\nf", "a\nf"),
    ("a\n:{| \n|b\n|}c", "a\nc"),
    ("{{a|\n{|\n|b\n|}}}c", "c"),
    ("a {| b |} c", "a {| b |} c"),
    ("a\n{|\n! b\n| c\n\nd", "a\nd"),
    ("a<table><tr><td>b<table>c</table></td></tr></table>d", "ad"),
    ("a<math>x^{{2}}</math>b<source lang=c>d</source>e<gallery>f.jpg</gallery>", "abe"),
    ("<nowiki>[[a]]</nowiki> <code>b</code> <pre>c</pre>", "[[a]] b"),
    ("a<br/>b<br>c <span style='d'>e</span> H<sub>2</sub>O", "a\nb\nc e H2O"),
    ("if a <b or c> d and e<5, f>6 <g>", "if a d and e<5, f>6 <g>"),
    ("[http://a.b c d] e [https://f] http://g.h/i?j=k l [//m n [[o]]]", "c d e l n o"),
    ("he wrote [sic] a [b [c]]", "he wrote [sic] a [b [c]]"),
    ("= a =\n==b==\n=== ''c'' ===\n====", "a\nb\nc"),
    ("* a\n** b\n# c\n;d: e\n:::f\n*\n----\n-----g", "a\nb\nc\nd: e\nf\ng"),
    ("__NOTOC__a__KEIN_INHALTSVERZEICHNIS__ __init__", "a __init__"),
    ("a&nbsp;b &amp;c &#252; &#x2014; &lt;ref&gt; &nix; &#99999999999;", "a b &c ü — <ref> &nix; &#99999999999;"),
    ("a\r\n\r\n\r\n b  \t c ", "a\nb c"),
    ("}} ]] |} a }", "]] |} a }"),
    ("{{ a", "a"),
    ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("wikitext", "text"), SEEN, ids=[wikitext[:30] for wikitext, _ in SEEN])
def test_what_a_reader_of_the_page_sees(wikitext: str, text: str) -> None:
    assert plain_text(wikitext) == text


def test_prefixes_of_another_language() -> None:
    assert plain_text("[[Fichier:a|b]]c", frozenset({"fichier"})) == "c"


MARKS = [
    "{{", "{{{", "}}", "}", "[[", "]]", "]", "[[File:", "[[a|", "{|\n", "\n{|", "\n|}", "|}", "<ref>", "</ref>", "<ref",
    "</ref ", "<!--", "-->", "<div ", "<table>", "</table>", "<nowiki>", "</nowiki>", "[http://a ", "[//", "http://",
    "''",
    "==", " ", "\n", "( ", "__A_", "__", "&", "&#9", "&#x1F;", "&nGt;", "{{a|", "[[a:", "|", "'", "=", "----", "ä",
    "a", "語",
]  # fmt: skip


@given(st.lists(st.sampled_from(MARKS) | st.text(max_size=5)).map("".join))
def test_any_text_has_one_that_is_not_longer(wikitext: str) -> None:
    text = plain_text(wikitext)
    assert len(text) <= len(wikitext)
    assert all(line and line == line.strip() for line in text.split("\n") if text)
    assert len(without_comments(wikitext)) <= len(wikitext)
    template_names(wikitext)


@given(st.text(st.characters(categories=["L", "N"]), min_size=1), st.integers(1, 30))
def test_words_without_marks_stay_at_any_depth(words: str, depth: int) -> None:
    assert plain_text(words) == words
    assert plain_text("{{a|" * depth + "b" + "}}" * depth + words) == words
    assert plain_text("[[a|{{b}}" * depth + words + "]]" * depth) == words


NASTY = [
    *MARKS,
    ["{{a|", "}}"],
    ["[[a|", "]]"],
    ["[[File:a|", "]]"],
    ["\n{|\n", "\n|}"],
    ["<table>", "</table>"],
    "{{[[",
]


@pytest.mark.parametrize("nasty", every(3, NASTY), ids=repr)
def test_the_time_is_linear_in_nasty_input(nasty: str | list[str]) -> None:
    def elapsed_s(n_bytes: int) -> float:
        begun = time.process_time()
        if isinstance(nasty, list):
            n = n_bytes // sum(map(len, nasty))
            plain_text(nasty[0] * n + nasty[1] * n)
        else:
            plain_text(nasty * (n_bytes // len(nasty)))
        return time.process_time() - begun

    # Quadratic time would be 256-fold at sixteen times the length, and hours at the 16 MB that a page may have.
    elapsed_s(1000)
    short = min(elapsed_s(12_500) for _ in range(3))
    assert any(elapsed_s(200_000) < 80 * max(short, 0.002) for _ in range(5))  # whatever else the machine does


def test_names_of_templates() -> None:
    names = template_names("{{Begriffsklärung}} {{ a_b |{{c\n|d}}}} {{{e}}} {{#if:f}}")
    assert {"begriffsklärung", "a b", "c"} <= set(names)
