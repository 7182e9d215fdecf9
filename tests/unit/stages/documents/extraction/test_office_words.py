"""Words in the XML of office files that are not in their text: the document has an exception, and is not empty."""

from __future__ import annotations

import io
import time
import zipfile

import pytest

from extraction_files import extracted, written
from generator import office_files as make
from nearkin.stages.documents.extraction.office_parts import checked_parts
from nearkin.stages.documents.extraction.office_usual_form import usual_form

TOLD = "It was a dark and stormy night."
LOST = "The rain fell in torrents."


def parts_in(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {one: archive.read(one) for one in archive.namelist()}


def with_parts(data: bytes, **parts: str) -> bytes:
    """The same archive with other texts of parts, by their names."""
    return make.zipped(parts_in(data) | parts)


def checked(data: bytes, kind: str, text: str):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return checked_parts(archive, kind, text).lacking


WORD = '<w:document xmlns:w="w" xmlns:mc="mc"><w:body>{}</w:body></w:document>'
RIGHTLY_OMITTED = {
    "deleted": "<w:p><w:del><w:r><w:delText>Not there</w:delText></w:r></w:del></w:p>",
    "field": "<w:r><w:instrText>REF other words</w:instrText></w:r>",
    "moved": "<w:moveFrom><w:r><w:t>moved from here</w:t></w:r></w:moveFrom>",
    "fallback": "<mc:Fallback><w:t>the same once more</w:t></mc:Fallback>",
    "fallback of another prefix": '<x:Fallback xmlns:x="mc"><w:t>the same once more</w:t></x:Fallback>',
    "equation": "<m:oMath xmlns:m='m'><m:r><m:t>α≤βγ</m:t></m:r></m:oMath>",
    "equation of another prefix": "<x:oMath xmlns:x='m'><x:r><x:t>α≤βγ</x:t></x:r></x:oMath>",
    "comment": "<!-- <w:t>words of the author</w:t> -->",
}


@pytest.mark.parametrize("omitted", RIGHTLY_OMITTED.values(), ids=RIGHTLY_OMITTED)
def test_what_is_rightly_not_read_is_not_missing(omitted):
    body = f"<w:p><w:r><w:t>{TOLD}</w:t></w:r></w:p>{omitted}<w:p><w:r><w:t>{LOST}</w:t></w:r></w:p>"
    data = with_parts(make.docx([]), **{"word/document.xml": WORD.format(body)})
    assert checked(data, "docx", f"{TOLD}\n{LOST}") is None
    assert checked(data, "docx", TOLD).sentence == "5 words of its word/document.xml not extracted: text may be missing"


def test_a_part_that_is_only_declared_is_not_missing():
    data = make.docx([TOLD])
    declared = '<Override PartName="/word/footnotes9.xml" ContentType="application/x.footnotes+xml"/></Types>'
    types = parts_in(data)["[Content_Types].xml"].decode().replace("</Types>", declared)
    assert checked(with_parts(data, **{"[Content_Types].xml": types}), "docx", TOLD) is None


def test_each_part_is_found_once():
    data = make.pptx([TOLD, TOLD])
    assert checked(data, "pptx", f"{TOLD} {TOLD}") is None
    assert checked(data, "pptx", TOLD).sentence.startswith("7 words of its ppt/slides/slide2.xml not extracted")


PUNYCODE = "<?xml version='1.0' encoding='punycode'?>"
N_SIGNS, QUOTED = 200_000, 't="s" '
COSTLY = {
    "attributes": ("xlsx", "xl/worksheets/sheet1.xml", f"<worksheet><row r='{QUOTED * N_SIGNS}'/></worksheet>"),
    "signs": ("docx", "word/document.xml", WORD.format(f"<w:instrText>{'>' * N_SIGNS}</w:instrText>")),
    "punycode": ("docx", "word/document.xml", PUNYCODE + WORD.format("<w:p/>" * N_SIGNS)),
    "encodings": ("docx", "word/document.xml", "<?xml " + 'encoding="a" ' * N_SIGNS),
}


@pytest.mark.parametrize(("kind", "name", "part"), COSTLY.values(), ids=COSTLY)
def test_no_part_takes_time_that_grows_with_the_square_of_its_size(kind, name, part):
    files = {"docx": make.docx([]), "xlsx": make.xlsx([])}
    data = with_parts(files[kind], **{name: part, "xl/sharedStrings.xml": f"<sst><si><t>{LOST}</t></si></sst>"})
    started = time.process_time()
    found = checked(data, kind, TOLD)
    assert time.process_time() - started < 2
    assert (found is not None) == part.startswith("<?xml")


EXPANDING = [("docx", "word/document.xml", "dark night and " * 18), ("odt", "content.xml", "<w:i/><w:p/>" * 18)]


@pytest.mark.parametrize(("kind", "name", "value"), EXPANDING, ids=["text", "elements"])
def test_entities_that_expand_too_far_are_not_read(kind, name, value):
    entity = f"<!DOCTYPE x [<!ENTITY b '{value}'>]>"
    space = "xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' xmlns:w='w'"
    part = f"{entity}<office:body {space}><w:t>{'&b;' * 8_000}</w:t></office:body>"
    data = with_parts({"docx": make.docx([]), "odt": make.odt([])}[kind], **{name: part})
    sentence = f"entities of its {name} expand to more than 4 times its size: text may be missing"
    assert checked(data, kind, TOLD).sentence == sentence
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert usual_form(archive, kind, 1 << 30, 1000) is None


BAD_SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1">'
    '<c r="A1"><v>7</v></c><c r="B1" t="e"><v>#ODD!</v></c></row></sheetData></worksheet>'
)
LOSING = {
    "missing.pptx": (
        "corrupt",
        "its ppt/slides/slide2.xml is missing: text may be missing",
        lambda: make.zipped({k: v for k, v in parts_in(make.pptx([TOLD, LOST])).items() if "slide2" not in k}),
    ),
    "strings.xlsx": (
        "corrupt",
        "its xl/sharedStrings.xml is missing: text may be missing",
        lambda: make.zipped(
            {
                name: part.replace(
                    b"</Relationships>",
                    b'<Relationship Id="s" Type="x/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
                ).replace(b't="inlineStr"><is><t>' + TOLD.encode() + b"</t></is>", b't="s"><v>0</v>')
                for name, part in parts_in(make.xlsx([[TOLD]])).items()
            }
        ),
    ),
    "error.xlsx": (
        "unsupported",
        "a part of it was not read: text may be missing",
        lambda: with_parts(make.xlsx([]), **{"xl/worksheets/sheet1.xml": BAD_SHEET}),
    ),
    "page.epub": (
        "corrupt",
        "its page.xml is truncated: text may be missing",
        lambda: make.zipped(
            {
                "mimetype": "application/epub+zip",
                "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
                '<rootfiles><rootfile full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles>'
                "</container>",
                "c.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
                '<item id="a" href="page.xml" media-type="application/xhtml+xml"/></manifest>'
                '<spine><itemref idref="a"/></spine></package>',
                "page.xml": f'<html xmlns="http://www.w3.org/1999/xhtml"><body><p>{TOLD} Smith & Sons</p><p>',
            }
        ),
    ),
    "sheet.xlsx": (
        "corrupt",
        "its xl/Sheet.xml is truncated: text may be missing",
        lambda: make.zipped(
            {
                name.replace("worksheets/sheet1", "Sheet"): part[:-40]
                if "sheet1" in name
                else part.replace(b"worksheets/sheet1", b"Sheet")
                for name, part in parts_in(make.xlsx([[TOLD]])).items()
            }
        ),
    ),
    "alternative.docx": (
        "unsupported",
        "its word/chunk.mht, a document inside it, was not read: text may be missing",
        lambda: with_parts(
            make.docx([TOLD]),
            **{
                "word/_rels/document.xml.rels": '<Relationships><Relationship Target="chunk.mht" Type="x/aFChunk"/>'
                "</Relationships>",
                "word/chunk.mht": LOST,
            },
        ),
    ),
}


@pytest.mark.parametrize("name", LOSING)
def test_lost_text_is_an_exception_and_not_empty(pool, tmp_path, name):
    exception, sentence, made = LOSING[name]
    (found,) = extracted(pool, written(tmp_path, {name: made()})).values()
    assert (found.origin.exception, found.origin.sentence) == (exception, sentence)
