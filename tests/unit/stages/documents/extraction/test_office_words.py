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


PAGE = "<html><body>{}</body></html>"
ODT = '<o:document-content xmlns:o="o" xmlns:text="t"><o:body>{}</o:body></o:document-content>'


@pytest.mark.parametrize(
    ("kind", "name", "body", "text"),
    [
        (
            "epub",
            "a.xhtml",
            PAGE.format("<p>&eacute;t&eacute; for&ecirc;t caf&eacute; o&ugrave;</p>"),
            "été forêt café où",
        ),
        ("epub", "a.xhtml", PAGE.format(f"<nav><li>One two three four</li></nav><p>{TOLD}</p>"), TOLD),
        ("epub", "a.xhtml", PAGE.format(f"<p>{TOLD}</p><video>this reader shows no film</video>"), TOLD),
        ("odt", "content.xml", ODT.format(f"<text:table-of-content>One 1 Two 2</text:table-of-content>{TOLD}"), TOLD),
        ("odt", "content.xml", ODT.format("Page <text:page-number>1</text:page-number> of all"), "Page of all"),
        ("docx", "word/document.xml", WORD.format("<w:t>a_x000D_b c_x000D_d e_x000D_f</w:t>"), "a b c d e f"),
    ],
)
def test_what_a_program_makes_or_writes_in_another_way_is_not_missing(kind, name, body, text):
    with zipfile.ZipFile(io.BytesIO(make.zipped({name: body.encode()}))) as archive:
        assert checked_parts(archive, kind, text).lacking is None


def test_a_part_that_is_only_declared_is_not_missing():
    data = make.docx([TOLD])
    declared = '<Override PartName="/word/footnotes9.xml" ContentType="application/x.footnotes+xml"/></Types>'
    types = parts_in(data)["[Content_Types].xml"].decode().replace("</Types>", declared)
    assert checked(with_parts(data, **{"[Content_Types].xml": types}), "docx", TOLD) is None


def test_each_part_is_found_once():
    data = make.pptx([TOLD, TOLD])
    assert checked(data, "pptx", f"{TOLD} {TOLD}") is None
    assert checked(data, "pptx", TOLD).sentence.startswith("7 words of its ppt/slides/slide2.xml not extracted")


@pytest.mark.parametrize(
    "cell",
    [
        '<c t="s"><v>1</v></c>', "<c t = 's' x='>'><v>1</v></c>", "<é:c t='s'><é:f>A1</é:f><é:v>1</é:v></é:c>",
        "<!-- <c t='s'><v>0</v></c> --><c t='s'><?a?><v><![CDATA[1]]></v></c>",
    ],
)  # fmt: skip
def test_shared_strings_that_no_cell_shows_are_not_missing(cell):
    strings = "".join(f"<si><t>{one}</t></si>" for one in (LOST, TOLD, LOST))
    sheet = f"<worksheet><sheetData><row>{cell}</row></sheetData></worksheet>"
    parts = {"xl/sharedStrings.xml": f"<sst>{strings}</sst>", "xl/worksheets/sheet1.xml": sheet}
    data = with_parts(make.xlsx([]), **parts)
    assert checked(data, "xlsx", TOLD) is None
    assert checked(data, "xlsx", LOST).sentence.startswith("7 words of its xl/sharedStrings.xml not extracted")


@pytest.mark.parametrize(
    "cell", ["<c t='inlineStr'><is><t>{}</t></is></c>", "<c t='str'><v>{}</v></c>", '<é:c t="str"><é:v>{}</é:v></é:c>']
)
def test_strings_in_sheets_are_compared_whatever_their_quotes_and_prefixes_are(cell):
    sheet = f"<worksheet><sheetData><row>{cell.format(LOST)}</row></sheetData></worksheet>"
    data = with_parts(make.xlsx([]), **{"xl/worksheets/sheet1.xml": sheet})
    assert checked(data, "xlsx", TOLD).sentence.startswith("5 words of its xl/worksheets/sheet1.xml")
    assert checked(data, "xlsx", LOST) is None


def test_text_is_found_whatever_its_prefix_and_the_spaces_in_its_declaration_are():
    part = f"<?xml version='1.0' encoding = 'ISO-8859-1'?><é:document><é:p><é:t>{LOST} Größe</é:t></é:p></é:document>"
    data = make.zipped(parts_in(make.docx([])) | {"word/document.xml": part.encode("latin-1")})
    assert checked(data, "docx", f"{LOST} Größe") is None
    assert checked(data, "docx", TOLD).sentence.startswith("6 words of its word/document.xml not extracted")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_two_different_files_of_one_name_one_is_lost():
    for second, why in ((TOLD, None), (LOST, "it has two files named a.xml: text may be missing")):
        file = io.BytesIO(make.zipped(parts_in(make.docx([TOLD])) | {"a.xml": TOLD}))
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr("a.xml", second)
        lacking = checked(file.getvalue(), "docx", TOLD)
        assert (lacking and lacking.sentence) == why


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


def test_numbers_in_open_documents_may_be_written_otherwise():
    cell = '<table:table-cell office:value-type="{0}" calcext:value-type="{0}"><text:p>{1}</text:p></table:table-cell>'
    cells = cell.format("date", "1 January 2024") + cell.format("string", TOLD)
    spaces = 'xmlns:office="o" xmlns:text="t" xmlns:table="s"'
    content = f"<office:document-content {spaces}><office:body>{cells}</office:body></office:document-content>"
    data = make.zipped({"content.xml": content})
    assert checked(data, "ods", f"2024-01-01 {TOLD}") is None
    assert checked(data, "ods", "2024-01-01").sentence.startswith("7 words of its content.xml not extracted")


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
