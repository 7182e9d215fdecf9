"""Word documents with tracked changes, read by a plain reader: rejected they are A, accepted they are B."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin.reports.comparison import tracked_changes
from nearkin.stages.differences.changes import exact_segments

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def made(a: str, b: str, **given: str) -> bytes:
    return tracked_changes(a, b, **{"name_a": "a", "name_b": "b", "author": "ada", **given}, at=AT)  # type: ignore[arg-type]


def part(document: bytes, name: str = "word/document.xml") -> ElementTree.Element:
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        assert archive.testzip() is None
        return ElementTree.fromstring(archive.read(name))


def settled(document: bytes, *, accepted: bool) -> str:
    """The text after all changes are accepted, or rejected."""
    gone, said = f"{W}{'del' if accepted else 'ins'}", list[str]()
    body = part(document).find(f"{W}body")
    assert body is not None
    for paragraph in body:
        for child in paragraph:
            if child.tag not in (gone, f"{W}pPr"):
                for one in child.iter():
                    said += {f"{W}t": [one.text or ""], f"{W}delText": [one.text or ""], f"{W}tab": ["\t"],
                             f"{W}br": ["\f"]}.get(one.tag, [])  # fmt: skip
        if paragraph.find(f"{W}pPr/{W}rPr/{gone}") is None:
            said.append("\n")
    return "".join(said).removesuffix("\n")


TEXTS = [
    ("in 30 days", "in 45 days"),
    ("one\ntwo\nthree", "one\nthree\nfour"),
    ("one\ntwo", "one two"),
    ("", "all\nnew\n"),
    ("\n\n", "\n"),
    ("a  b\tc", "a b\tc d\n"),
    ("cafe\u0301 au lait", "caf\u00e9 au  lait, now"),
    ("- - -", "---"),
    ("page one\fpage two", "page one\fpage 2"),
    ("<b> & 'quotes' \"here\" ]]>", "<i> & 'quotes' \"there\" ]]>"),
    ("Rent\u00ad is \u202edue", "rent is due"),
]


@pytest.mark.parametrize(("a", "b"), TEXTS)
def test_rejected_it_is_a_and_accepted_it_is_b(a: str, b: str) -> None:
    for one, other in ((a, b), (b, a), (a, a)):
        document = made(one, other)
        assert (settled(document, accepted=False), settled(document, accepted=True)) == (one, other)


PIECES = st.lists(
    st.sampled_from(["rent", "Rent", "17", " ", "  ", "\n", ".", ",", "-", "e\u0301", "\u00e9", "\t"]), max_size=25
)


@given(PIECES, PIECES)
@settings(max_examples=examples(300), deadline=None)
def test_any_two_texts_can_be_restored(some: list[str], others: list[str]) -> None:
    a, b = "".join(some), "".join(others)
    segments = list(exact_segments(a, b))
    assert "".join(one.text for one in segments if one.kind != "only_b") == a
    assert "".join(one.text for one in segments if one.kind != "only_a") == b
    assert all(one.text for one in segments)
    document = made(a, b)
    assert (settled(document, accepted=False), settled(document, accepted=True)) == (a, b)


def test_changes_have_their_author_their_time_and_numbers_of_their_own() -> None:
    document = made("Rent is due\nin 30 days", "Rent is due in 45 days, by Friday", author='Ada "<&>" Kern\x07')
    changes = [one for one in part(document).iter() if one.tag in (f"{W}ins", f"{W}del")]
    assert {one.get(f"{W}author") for one in changes} == {'Ada "<&>" Kern⟨U+0007⟩'}
    assert {one.get(f"{W}date") for one in changes} == {"2026-03-01T12:00:00Z"}
    numbers = [one.get(f"{W}id") for one in changes]
    assert len(numbers) == len(set(numbers)) > 2
    assert all(one.tag != f"{W}t" for change in changes if change.tag == f"{W}del" for one in change.iter())
    assert part(document, "docProps/core.xml")[0].text == "Changes from a to b"


def test_only_what_differs_is_marked() -> None:
    lines = [f"{i}. The tenant pays {i} crowns." for i in range(200)]
    document = made("\n".join(lines), "\n".join(lines).replace("pays 17 ", "pays 71 "))
    said = [
        (one.tag.removeprefix(W), "".join(one.itertext()))
        for one in part(document).iter()
        if one.tag in (f"{W}ins", f"{W}del")
    ]
    assert said == [("del", "17"), ("ins", "71")]


def test_characters_that_xml_cannot_have_are_their_code_points_and_line_ends_one_kind() -> None:
    document = made("a\x00b\r\nc\rd", "a\x00b\nc\nd\ud800")
    assert settled(document, accepted=False) == "a⟨U+0000⟩b\nc\nd"
    assert settled(document, accepted=True) == "a⟨U+0000⟩b\nc\nd⟨U+D800⟩"
    assert not re.search(rb"[\x00-\x08]", zipfile.ZipFile(io.BytesIO(document)).read("word/document.xml"))
