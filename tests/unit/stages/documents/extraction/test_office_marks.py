"""Marks that an author wrote: other spaces, encodings and codes do not keep them from being recognised."""

from __future__ import annotations

import io
import zipfile

import pytest

from generator import office_files as make
from nearkin.stages.documents.extraction.office_marks import without_marks, written_marks

DECLARED = "<?xml version='1.0' encoding='{}'?><a>See [^größe] and [^{}].</a>"


def kept(text: str, kind: str, data: bytes) -> str:
    """The text without the marks that are not in a file."""
    if kind == "rtf":
        return without_marks(text, kind, written_marks(data, None, kind))
    name = {"docx": "word/document.xml", "odt": "content.xml", "epub": "a.xhtml"}[kind]
    with zipfile.ZipFile(io.BytesIO(make.zipped({name: data}))) as archive:
        return without_marks(text, kind, written_marks(b"", archive, kind))


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("<p>[Image:\n  of a\tcat]</p>", "[Image: of a cat]"),
        ("<text:p>[Image: a<text:tab/>cat]</text:p>", "[Image: a\tcat]"),
        ("<p>[<![CDATA[^1]]>]<b>[^</b>2]</p>", "[^1] [^2]"),
        ("<p>&lsqb;^1&#93;<br></p>", "[^1]"),
        (f"<p>[Image: {'cat ' * 400}]</p>", f"[Image: {'cat ' * 400}]"),
    ],
)
def test_marks_of_books_and_open_documents(part, text):
    for kind in ("epub", "odt"):
        assert kept(text, kind, part.encode()) == text
        assert kept(text, kind, b"<p>[Image: of a dog]</p>").strip() == ""


@pytest.mark.parametrize("encoding", ["iso-8859-1", "shift_jis", "utf-16"])
def test_marks_in_other_encodings(encoding):
    told = "文字" if encoding != "iso-8859-1" else "äöü"
    part = DECLARED.format(encoding, told).replace("größe", "grosse" if encoding == "shift_jis" else "größe")
    text = part.partition("<a>")[2].removesuffix("</a>")
    assert kept(text, "docx", part.encode(encoding)) == text


def test_marks_in_codes_of_rtf():
    rtf = rb"{\rtf1 \'5b^one\'5d \u91?^two\u93? \uc0\u91^three\u93 {[}{\b ^four}] [Image: Ann\'92s caf\u233?]}"
    text = "[Image: Ann’s café]\n[^one] [^two] [^three] [^four ] [^five]"
    assert kept(text, "rtf", rtf) == text.replace("[^five]", "")
