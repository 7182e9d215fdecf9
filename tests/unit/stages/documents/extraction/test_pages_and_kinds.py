"""Pages as a reader sees them; kinds by content; parsers of ours on any bytes."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compound_files import compound_file
from example_counts import examples
from generator import office_files as make
from nearkin.stages.documents.extraction.kinds import kind_of
from nearkin.stages.documents.extraction.ole import OleFile
from nearkin.stages.documents.extraction.plain import decoded, decoded_page, text_of_html
from nearkin.stages.documents.extraction.reading import Blob, safe_name
from nearkin.stages.documents.formats import KIND_OF_SUFFIX

PAGES = [
    ("<p>one<p>two", "one\ntwo"),
    ("a<br>b<br/>c<hr>d", "a\nb\nc\nd"),
    ("<ul><li>a<li>b</ul>c", "a\nb\nc"),
    ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</table>", "a b\nc"),
    ("<table><tr><td>a</td><td> </td><td>5</td></tr><tr><td>b</td><td>5</td><td>&nbsp;</td></tr></table>",
     "a\u2063 5\nb 5"),
    ("<table><tr><td>a</td><td></td><td>words</td></tr></table>", "a words"),
    ("a <b>b</b>c <i>d</i>", "a bc d"),
    ("<pre> a\n  b </pre>c", "a\nb\nc"),
    ("a<script>if (x < 1) { '<p>' }</script>b<style>p {}</style>c", "abc"),
    ("<title>T</title>a", "a"),
    ("a&nbsp;b\xa0c so\xadft", "a b c soft"),
    ("<template><p>no</p></template><svg><text>no</text></svg>a", "a"),
    ("a<xmp><b>b</b> &amp;\n c</xmp>d", "a\n<b>b</b> &amp;\nc\nd"),
    ("a<hgroup>b</hgroup>c<search>d</search>e", "a\nb\nc\nd\ne"),
    ("<dl><dt>a<dd>b</dl><select><optgroup>c<option>d<option>e</select>f", "a\nb\nc\nd\ne\nf"),
    ("<table><caption>a</caption><thead><tr><th>b<th>c<tbody><tr><td>d<td>e<tfoot><tr><td>f</table>",
     "a\nb c\nd e\nf"),
    ("a<button>b</button>c<input>d<input/>e<textarea>f</textarea>g", "a b c d e f g"),
    ("<input type=checkbox checked>a<input type=RADIO>b<input value='c d'>e<input type=hidden value=f>g",
     "☒ a ☐ b c d e g"),
    ("<select><option>a<option selected>b</select>", "☐ a\n☒ b"),
    ("<i role=switch aria-checked=true></i>a<i aria-checked=false></i>b<img alt=Checked>c<img alt='A logo'>d",
     "☒ a☐ b☒ cd"),
    ("<s>a</s> <del>b</del> <span style='text-decoration: line-through'>c</span>", "~~a~~ ~~b~~ ~~c~~"),
    ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("page", "text"), PAGES, ids=[page[:30] for page, _ in PAGES])
def test_text_of_a_page(page, text):
    assert text_of_html(page) == text


CHARSETS = [
    (b"<meta charset=windows-1251>\xcf", "П"),
    (b'<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">\xf0', "П"),
    (b'<?xml version="1.0" encoding="iso-8859-2"?><html>\xb1', "ą"),
    (b"\xef\xbb\xbf<meta charset=windows-1251>\xd0\x9f", "П"),
    ("\ufeff<meta charset=utf-8>П".encode("utf-16-le"), "П"),
    (b"<!-- <meta charset=utf-16> --><meta charset=cp1252>\x80", "€"),
    (b"<meta charset=utf-16>\xc3\xa9", "é"),
    (b"\xc3\xa9", "é"),
    (b"<meta charset=nonsense>\xc3\xa9", "é"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "end"), CHARSETS, ids=[repr(data)[:40] for data, _ in CHARSETS])
def test_character_sets_of_pages(data, end):
    assert decoded_page(data).endswith(end)


@given(st.binary(max_size=200), st.one_of(st.none(), st.text(max_size=20), st.sampled_from(["utf-7", "hex", "idna"])))
@settings(max_examples=examples(200), deadline=None)
def test_any_bytes_are_decoded_whatever_they_say_of_themselves(data, declared):
    assert isinstance(decoded(data, declared), str)


@given(st.binary(max_size=700), st.sampled_from(["", *KIND_OF_SUFFIX]))
@settings(max_examples=examples(300), deadline=None)
def test_every_file_is_of_some_kind(data, suffix):
    known = {*KIND_OF_SUFFIX.values(), "text", "image", "packed", "unsupported"}
    assert kind_of(Blob(data), f"a{suffix}") in known
    for magic in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"%PDF-", b"<html><p><a>"):
        assert kind_of(Blob(magic + data), f"a{suffix}") in known


def test_kinds_of_archives_by_their_names():
    assert kind_of(Blob(make.zipped({"a.txt": "x"})), "a.docx") == "zip"
    assert kind_of(Blob(make.zipped({"a.npy": "x"})), "a.npz") == "unsupported"
    assert kind_of(Blob(make.docx(["x"])), "a.zip") == "docx"
    assert kind_of(Blob(compound_file({("EncryptedPackage",): b"x"})), "a.xlsx") == "xlsx"


def test_streams_that_share_their_bytes_are_damage():
    """Else a file of a few megabytes whose entries all claim the same stream would be read thousands of times."""
    data = compound_file({("a",): bytes(100_000), ("b",): bytes(90_000)})
    assert OleFile(data).is_whole
    a, b = (data.index(name.encode("utf-16-le") + b"\0" * 60) for name in "ab")  # entries have names of 64 bytes
    shared = data[: b + 116] + data[a + 116 : a + 124] + data[b + 124 :]  # where the stream begins, and its size
    assert not OleFile(shared).is_whole


@given(st.text(max_size=60))
@settings(max_examples=examples(300), deadline=None)
def test_safe_names_are_relative_and_printable(name):
    told = safe_name(name)
    assert ".." not in re.split(r"[/\\]", told)
    assert not re.match(r"[A-Za-z]:[/\\]", told)
    assert not told.startswith("/")
    assert not any(unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") for one in told)
    assert safe_name(told) == told
