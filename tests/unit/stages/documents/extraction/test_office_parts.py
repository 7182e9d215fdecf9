"""Parts of office files: what xberg omits is added, and what is lost is an exception."""

from __future__ import annotations

import io
import zipfile

import pytest

from extraction_files import extracted, text_of, written
from generator import office_files as make
from nearkin.stages.documents.extraction.office import with_parts
from nearkin.stages.documents.extraction.reading import Blob, DocumentRead, Given

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
