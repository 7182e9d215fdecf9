"""Office files of an unusual make, such as those of Word Online: their text is that of the usual form."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest

from extraction_files import extracted, text_of, written
from generator import office_files as make
from nearkin.stages.documents.extraction.office_usual_form import usual_form

FIRST, LAST = "It was a dark & stormy night.", "Größe, except at occasional intervals."
Parts = dict[str, str]
USUAL = {
    "docx": make.docx([FIRST, LAST]), "pptx": make.pptx([FIRST, LAST]), "odt": make.odt([FIRST, LAST]),
    "xlsx": make.xlsx([[FIRST], [LAST]]),
}  # fmt: skip


def parts_in(data: bytes) -> Parts:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {one: archive.read(one).decode() for one in archive.namelist()}


def replaced(*changes: tuple[str, str]) -> Callable[[Parts], Parts]:
    """A change of names and contents."""

    def change(parts: Parts) -> Parts:
        for old, new in changes:
            parts = {name.replace(old, new): part.replace(old, new) for name, part in parts.items()}
        return parts

    return change


def strict(parts: Parts) -> Parts:
    def of(part: str) -> str:
        for family in ("officeDocument", "wordprocessingml", "presentationml", "drawingml", "spreadsheetml"):
            part = part.replace(
                f"http://schemas.openxmlformats.org/{family}/2006", f"http://purl.oclc.org/ooxml/{family}"
            )
        return part

    return {name: of(part) for name, part in parts.items()}


def with_declaration(declaration: str, *names: str, encoding: str = "utf-8"):
    def change(parts: Parts) -> dict[str, str | bytes]:
        told = {name: parts[name].replace('<?xml version="1.0"?>', declaration).encode(encoding) for name in names}
        assert all(told[name] != parts[name].encode() for name in names)
        return parts | told

    return change


def with_shared_strings(parts: Parts) -> Parts:
    """The same workbook, with its texts in a part of an unusual name."""
    told = "<si><t>It was a dark &amp; stormy night.</t></si><si><t>Größe, except at occasional intervals.</t></si>"
    sheet = parts["xl/worksheets/sheet1.xml"]
    cells = "".join(f'<row><c t="s"><v>{at}</v></c></row>' for at in (0, 1))
    sheet = sheet[: sheet.index("<row>")] + cells + sheet[sheet.index("</sheetData>") :]
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"
    relation = f'<Relationship Id="rId2" Type="{kind}" Target="texts.xml"/></Relationships>'
    relations = parts["xl/_rels/workbook.xml.rels"].replace("</Relationships>", relation)
    return parts | {
        "xl/worksheets/sheet1.xml": sheet, "xl/texts.xml": f"<sst {space}>{told}</sst>",
        "xl/_rels/workbook.xml.rels": relations,
    }  # fmt: skip


EUC = '<?xml version="1.0" encoding="GB18030"?>'
UTF_16 = '<?xml version="1.0" encoding="UTF-16"?>'
ENTITY = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY night "stormy night">]>'
WORD, SLIDE, SHEET = "word/document.xml", "ppt/slides/slide2.xml", "xl/worksheets/sheet1.xml"
UNUSUAL = {
    "another main part": ("docx", replaced(("document.xml", "document2.xml"))),
    "another folder": ("docx", replaced(("word/document.xml", "word/main/text.xml"))),
    "another prefix": ("docx", replaced(("w:", "ns0:"), ("xmlns:w=", "xmlns:ns0="))),
    "no prefix": ("docx", replaced(("w:", ""), ("xmlns:w=", "xmlns="))),
    "CDATA": ("docx", replaced(("stormy", "<![CDATA[stormy]]>"))),
    "word in UTF-16": ("docx", with_declaration(UTF_16, WORD, encoding="utf-16")),
    "word in an encoding of East Asia": ("docx", with_declaration(EUC, WORD, encoding="gb18030")),
    "an entity": ("docx", lambda parts: with_declaration(ENTITY, WORD)(replaced(("stormy night", "&night;"))(parts))),
    "strict slides": ("pptx", strict),
    "a slide in UTF-16": ("pptx", with_declaration(UTF_16, SLIDE, encoding="utf-16")),
    "slides with other names": ("pptx", replaced(("slides/slide1", "slides/last"), ("slides/slide2", "slides/alpha"))),
    "slides in another folder": ("pptx", replaced(("slides/slide", "pages/page"))),
    "a sheet in UTF-16": ("xlsx", with_declaration(UTF_16, SHEET, encoding="utf-16")),
    "other shared strings": ("xlsx", with_shared_strings),
    "an open document in UTF-16": ("odt", with_declaration(UTF_16, "content.xml", encoding="utf-16")),
    "an open document with a DTD": (
        "odt",
        with_declaration('<?xml version="1.0"?><!DOCTYPE x SYSTEM "x.dtd">', "content.xml"),
    ),
}


def test_text_of_an_unusual_form_is_that_of_the_usual_one(pool, tmp_path):
    files = {f"{name}.{kind}": make.zipped(change(parts_in(USUAL[kind]))) for name, (kind, change) in UNUSUAL.items()}
    usual = {name: text_of(one) for name, one in extracted(pool, written(tmp_path / "usual", USUAL)).items()}
    found = extracted(pool, written(tmp_path / "unusual", files))
    assert {name: one.origin.sentence for name, one in found.items() if one.origin.exception is not None} == {}
    assert {name: text_of(one) for name, one in found.items()} == {
        name: usual[name.rpartition(".")[2]] for name in files
    }


@pytest.mark.parametrize(("max_bytes", "max_ratio"), [(100, 1000), (1 << 30, 10)])
def test_a_file_that_is_too_big_is_not_written_again(max_bytes, max_ratio):
    data = make.zipped(parts_in(USUAL["docx"]) | {"word/more.xml": " " * (2 << 20)})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert usual_form(archive, "docx", max_bytes, max_ratio) is None
