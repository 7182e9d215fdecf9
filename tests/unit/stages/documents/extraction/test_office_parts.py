"""Parts of office files: what xberg omits is added, and what is lost is an exception."""

from __future__ import annotations

import io
import zipfile

import pytest

from extraction_files import extracted, text_of, written
from generator import office_files as make
from nearkin.stages.documents.extraction.office import read_office, with_parts
from nearkin.stages.documents.extraction.reading import Blob, DocumentRead, Given

TABLES = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
TOLD, LOST = "It was a dark and stormy night.", "The rain fell in torrents over London."
DRAWN = '<x:drawing xmlns:x="x" xmlns:a="a"><a:p><a:r><a:t>In a </a:t></a:r><a:r><a:t>box</a:t></a:r></a:p></x:drawing>'
CHART = (
    '<c:chart xmlns:c="c" xmlns:a="a"><a:p><a:t>The chart</a:t></a:p>'
    "<c:strCache><c:pt><c:v>north</c:v></c:pt></c:strCache>"
    "<c:numCache><c:pt><c:v>17</c:v></c:pt></c:numCache></c:chart>"
)
CASES = {
    "cells": ("xlsx", {"xl/comments1.xml": "<c><comment><text><r><t>A note</t></r></text></comment></c>"}, ["A note"]),
    "threads": (
        "xlsx",
        {"xl/threadedComments/t1.xml": "<c><threadedComment><text>My text</text></threadedComment></c>"},
        ["My text"],
    ),
    "drawings": ("xlsx", {"xl/drawings/drawing1.xml": DRAWN, "xl/charts/chart1.xml": CHART}, [
        "In a box", "The chart", "north",
    ]),
    "headers": (
        "xlsx",
        {
            "xl/worksheets/sheet1.xml": '<worksheet><sheetData/><headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12'
            "Secret text&amp;RPage &amp;P</oddHeader></headerFooter></worksheet>"
        },
        ["Secret text Page"],
    ),
    "charts of slides": ("pptx", {"ppt/charts/chart1.xml": CHART}, ["The chart", "north"]),
    "objects": ("ods", {"Object 1/content.xml": "<d xmlns:text='t'><text:p>Legend</text:p></d>"}, ["Legend"]),
    "what xberg read": ("xlsx", {"xl/drawings/drawing1.xml": DRAWN.replace("In a ", "It ").replace("box", "was")}, []),
}  # fmt: skip


def parts_checked(kind: str, parts: dict[str, str | bytes], text: str) -> DocumentRead:
    return with_parts(DocumentRead(text=text), Given(blob=Blob(make.zipped(parts)), kind=kind))


@pytest.mark.parametrize("name", CASES)
def test_text_that_xberg_omits_is_added(name):
    kind, parts, added = CASES[name]
    read = parts_checked(kind, parts, "It was.")
    assert (read.text, read.fault) == ("\n".join(["It was.", *added]), None)


def shown(kind: str, data: bytes, part: str, *changes: tuple[str, str], **further: str) -> list[str]:
    """The lines of an office file, after changes of one of its parts."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    for old, new in changes:
        parts[part] = parts[part].replace(old, new)
    read = read_office(Given(blob=Blob(make.zipped({**parts, **further})), kind=kind))
    return [line.rstrip() for line in (read.text or "").split("\n")]


WORD_CELL = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
OPEN_CELL = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
OPEN_TABLE = f'<table:table xmlns:table="{TABLES}"><table:table-row>{{}}</table:table-row></table:table>'


@pytest.mark.parametrize(
    ("cells", "row"), [(["Rent", "500", ""], "Rent 500"), (["Rent", "", "500"], "Rent \u2063 500"),
                       (["Rent", "", "a note"], "Rent  a note")],
)  # fmt: skip
def test_an_empty_cell_before_an_amount_is_marked(cells, row):
    word = f"<w:tbl><w:tr>{''.join(map(WORD_CELL.format, cells))}</w:tr></w:tbl></w:body>"
    assert shown("docx", make.docx([TOLD]), "word/document.xml", ("</w:body>", word))[-1] == row
    text = OPEN_TABLE.format("".join(map(OPEN_CELL.format, cells))) + "</office:text>"
    assert shown("odt", make.odt([TOLD]), "content.xml", ("</office:text>", text))[-1] == row
    assert shown("xlsx", make.xlsx([cells]), "")[-1] == row


def words_of_word(*texts: str) -> str:
    return "<w:document>" + "".join(f"<w:p><w:r><w:t>{one}</w:t></w:r></w:p>" for one in texts) + "</w:document>"


def test_ticks_and_choices_of_a_form_are_text():
    def box(values: str) -> str:
        return f"<w:ffData><w:name w:val='c'/><w:checkBox><w:sizeAuto/>{values}</w:checkBox></w:ffData>"

    entries = "".join(f'<w:listEntry w:val="{entry}"/>' for entry in ("benign", "malignant &amp; large"))
    listed = f'<w:ffData><w:ddList><w:result w:val="1"/>{entries}</w:ddList></w:ffData>'
    off = '<w:default w:val="0"/>'
    boxes = [off, f"{off}<w:checked/>", '<w:default w:val="1"/>', '<w:default w:val="1"/><w:checked w:val="0"/>']
    form = words_of_word(TOLD).replace("<w:p>", f"<w:p>{''.join(map(box, boxes))}{listed}", 1)
    assert parts_checked("docx", {"word/document.xml": form}, TOLD).text == f"{TOLD}\n☐ ☒ ☒ ☐ malignant & large"
    struck = words_of_word("yes", "no").replace("<w:r>", "<w:r><w:rPr><w:strike/></w:rPr>", 1)
    assert parts_checked("docx", {"word/document.xml": struck}, "yes no").text == "yes no\n~~yes~~"


def test_words_that_were_not_extracted_are_counted():
    parts = {"word/document.xml": words_of_word(TOLD, LOST), "word/header1.xml": words_of_word("Head"),
             "word/header2.xml": words_of_word("Head")}  # fmt: skip
    assert parts_checked("docx", parts, f"Head {TOLD} {LOST}").reason is None
    lacking = parts_checked("docx", parts, f"Head {TOLD}")
    assert lacking.reason == "partial"
    assert str(lacking.fault).startswith("partial: 7 words of 15 ")
    in_pieces = {
        "word/document.xml": "<w:document><w:p><w:t>tor</w:t><w:t>rents</w:t><w:tab/><w:t>x</w:t></w:p></w:document>"
    }
    assert parts_checked("docx", in_pieces, "torrents x").reason is None


def test_a_document_inside_a_document_is_not_read(pool, tmp_path):
    with zipfile.ZipFile(io.BytesIO(make.docx([TOLD]))) as archive:
        parts = {one: archive.read(one) for one in archive.namelist()}
    (found,) = extracted(pool, written(tmp_path, {"a.docx": make.zipped(parts | {"word/chunk.mht": LOST})})).values()
    assert (text_of(found), found.origin.exception, found.origin.is_partial) == (TOLD, "unsupported", True)


def test_tracked_deletions_are_no_text_and_are_counted(pool, tmp_path):
    kept, gone, new = (f"<w:r><w:{kind}>{text}</w:{kind}></w:r>" for kind, text in
                       (("t", "It was a"), ("delText", " bright morning"), ("t", " dark night")))  # fmt: skip
    body = f'<w:p>{kept}<w:del w:id="1">{gone}</w:del><w:ins w:id="2">{new}</w:ins></w:p>'
    mark = '<w:p><w:pPr><w:rPr><w:del w:id="3"/></w:rPr></w:pPr></w:p>'
    made = make.docx(["REPLACED"])
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    document = parts["word/document.xml"].decode()
    start, end = document.index("<w:p>"), document.rindex("</w:p>") + len("</w:p>")
    parts["word/document.xml"] = (document[:start] + body + mark + document[end:]).encode()
    (found,) = extracted(pool, written(tmp_path, {"a.docx": make.zipped(parts)})).values()
    assert text_of(found).split() == ["It", "was", "a", "dark", "night"]
    assert (found.origin.warnings, found.origin.exception) == ("1 tracked deletion: no text", None)
