"""Text of office files that the library does not read: it is added if its part is in use, and each paragraph once."""

from __future__ import annotations

import io
import zipfile

import pytest

from extraction_files import extracted, text_of, written
from generator import office_files as make
from nearkin.stages.documents.extraction.office_parts import checked_parts

KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def relations(*targets: str) -> str:
    """Relationships: each target is the last word of its kind, a colon and a path."""
    all_ = "".join(
        f'<Relationship Id="r{at}" Type="{KINDS}/{kind}" Target="{path}"/>'
        for at, (kind, path) in enumerate((one.split(":") for one in targets), 90)
    )
    return f'<Relationships xmlns="{RELATIONS}">{all_}</Relationships>'


def drawn(*texts: str) -> str:
    paragraphs = "".join(f"<a:p><a:r><a:t>{one}</a:t></a:r></a:p>" for one in texts)
    return f'<x:wsDr xmlns:x="{DRAWING}/spreadsheetDrawing" xmlns:a="{DRAWING}/main">{paragraphs}</x:wsDr>'


def chart(title: str, *labels: str) -> str:
    points = "".join(f'<c:pt idx="0"><c:v>{one}</c:v></c:pt>' for one in labels)
    names = (
        f"<c:ser><c:cat><c:strRef><c:f>Sheet1!$A$1</c:f><c:strCache>{points}</c:strCache></c:strRef></c:cat></c:ser>"
    )
    values = "<c:val><c:numRef><c:numCache><c:pt><c:v>77</c:v></c:pt></c:numCache></c:numRef></c:val>"
    rich = f"<c:title><c:tx><c:rich><a:p><a:r><a:t>{title}</a:t></a:r></a:p></c:rich></c:tx></c:title>"
    spaces = f'xmlns:c="{DRAWING}/chart" xmlns:a="{DRAWING}/main"'
    return f"<c:chartSpace {spaces}><c:chart>{rich}{names}{names}{values}</c:chart></c:chartSpace>"


def notes(*told: tuple[str, str]) -> str:
    authors = "".join(f"<author>{author}</author>" for author, _ in told)
    comments = "".join(
        f'<comment ref="A{at}" authorId="{at}"><text><r><t>{text}</t></r></text></comment>'
        for at, (_, text) in enumerate(told)
    )
    return f'<comments xmlns="{SHEET}"><authors>{authors}</authors><commentList>{comments}</commentList></comments>'


def of_threads(text: str) -> str:
    comment = f'<threadedComment ref="A1"><text>{text}</text></threadedComment>'
    return f'<ThreadedComments xmlns="http://schemas.microsoft.com/x">{comment}{comment}</ThreadedComments>'


def remarks_on_slide(text: str) -> str:
    return f'<p:cmLst xmlns:p="p"><p:cm authorId="0"><p:text>{text}</p:text></p:cm></p:cmLst>'


def modern_remarks(text: str, reply: str) -> str:
    body = "<n:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></n:txBody>"
    inner = f"<n:replyLst><n:reply>{body.format(reply)}</n:reply></n:replyLst>{body.format(text)}"
    return f'<n:cmLst xmlns:n="n" xmlns:a="{DRAWING}/main"><n:cm>{inner}</n:cm></n:cmLst>'


def diagram(*texts: str) -> str:
    points = "".join(f"<d:pt><d:t><a:p><a:r><a:t>{one}</a:t></a:r></a:p></d:t></d:pt>" for one in texts)
    return (
        f'<d:dataModel xmlns:d="{DRAWING}/diagram" xmlns:a="{DRAWING}/main"><d:ptLst>{points}</d:ptLst></d:dataModel>'
    )


def with_parts(data: bytes, parts: dict[str, str]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return make.zipped({one: archive.read(one) for one in archive.namelist()} | parts)


OF_SHEET, OF_SLIDE = "xl/worksheets/_rels/sheet1.xml.rels", "ppt/slides/_rels/slide1.xml.rels"
BUTTON = "<xml><v:shape><v:textbox><div><font>Press me<br></font></div></v:textbox><x:Row>4</x:Row></v:shape></xml>"
HEADERS = (
    "<headerFooter><oddHeader>&amp;LLeft &amp;&amp; &amp;&quot;Arial&quot;&amp;12right&amp;CLeft</oddHeader>"
    "<oddFooter>Page &amp;P of &amp;N&amp;RLeft</oddFooter></headerFooter>"
)
WORKBOOK = {
    "notes": (
        {OF_SHEET: relations("comments:../comments1.xml"), "xl/comments1.xml": notes(("Ann", "A note"), ("", "Two"))},
        ["A note", "Two"],
    ),
    "notes of no sheet": ({"xl/comments1.xml": notes(("Ann", "A note"))}, []),
    "threads": (
        {
            OF_SHEET: relations(
                "comments:/xl/comments1.xml", "threadedComment:../threadedComments/threadedComment1.xml"
            ),
            "xl/comments1.xml": notes(
                ("", "Of nobody"), ("tc={1}", "[Threaded comment] My text"), ("tc=Ann", "A note")
            ).replace("<author></author>", "<author/>"),
            "xl/threadedComments/threadedComment1.xml": of_threads("My text"),
        },
        ["Of nobody", "A note", "My text", "My text"],
    ),
    "drawing": (
        {
            OF_SHEET: relations("vmlDrawing:../drawings/v1.vml", "drawing:../drawings/drawing1.xml"),
            "xl/drawings/v1.vml": BUTTON,
            "xl/drawings/drawing1.xml": drawn("In a box"),
            "xl/drawings/_rels/drawing1.xml.rels": relations(
                "chart:../charts/chart1.xml", "diagramData:../diagrams/data1.xml"
            ),
            "xl/charts/chart1.xml": chart("The chart", "dark", "elsewhere"),
            "xl/diagrams/data1.xml": diagram("Smart", "art"),
        },
        ["In a box", "The chart", "elsewhere", "Smart", "art", "Press me"],
    ),
    "headers": (
        {"xl/worksheets/sheet1.xml": f'<worksheet xmlns="{SHEET}"><sheetData/>{HEADERS}</worksheet>'},
        ["Left & right", "Left", "Page of"],
    ),
    "headers behind empty ones": (
        {
            "xl/worksheets/sheet1.xml": f"<w:worksheet xmlns:w='{SHEET}'><w:headerFooter/><w:headerFooter>"
            "<w:oddHeader /><w:oddFooter a='>'>First</w:oddFooter><w:evenHeader/><w:firstFooter>Second</w:firstFooter>"
            "</w:headerFooter></w:worksheet>"
        },
        ["First", "Second"],
    ),
}


def further(data: bytes, kind: str, text: str) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        checked = checked_parts(archive, kind, text)
    assert checked.lacking is None
    return list(checked.further)


@pytest.mark.parametrize("name", WORKBOOK)
def test_what_a_sheet_shows_beside_its_cells(name):
    parts, lines = WORKBOOK[name]
    assert further(with_parts(make.xlsx([["It was dark"]]), parts), "xlsx", "Sheet1\nIt was dark") == lines


PRESENTATION = {
    OF_SLIDE: relations("comments:../comments/a.xml", "diagramData:../diagrams/data1.xml"),
    OF_SLIDE.replace("1", "2"): relations("chart:../charts/chart1.xml", "comments:../comments/b.xml"),
    "ppt/comments/a.xml": remarks_on_slide("Is it so?"),
    "ppt/comments/b.xml": modern_remarks("It is.", "Not at all."),
    "ppt/comments/c.xml": remarks_on_slide("Of no slide"),
    "ppt/diagrams/data1.xml": diagram("Smart art"),
    "ppt/charts/chart1.xml": chart("The chart", "Red", "Blue"),
}


def test_charts_and_diagrams_of_a_document_of_word():
    parts = {
        "word/_rels/document.xml.rels": relations("diagramData:diagrams/data1.xml", "header:header1.xml"),
        "word/_rels/header1.xml.rels": relations("chart:charts/chart1.xml"),
        "word/header1.xml": "<w:hdr xmlns:w='w' xmlns:v='v'><v:textpath style='a' string='FOR &amp; US'/></w:hdr>",
        "word/charts/chart1.xml": chart("It was", "dark"),
        "word/diagrams/data1.xml": diagram("Smart art"),
    }
    assert further(with_parts(make.docx(["It was dark."]), parts), "docx", "It was dark.") == [
        "FOR & US", "Smart art", "It was", "dark",
    ]  # fmt: skip


SPACES = (
    'xmlns:office="o" xmlns:text="t" xmlns:style="s" xmlns:table="b" xmlns:chart="c" xmlns:xlink="l" xmlns:draw="d"'
)
STYLES = (
    f"<office:document-styles {SPACES}><style:master-page style:name='Report'><style:header><text:p>Of none</text:p>"
    "</style:header></style:master-page><style:master-page style:name='Default'><style:header><style:region-left>"
    "<text:p>Top <text:sheet-name>???</text:sheet-name></text:p></style:region-left></style:header><style:footer>"
    "<text:p>Page <text:page-number>1</text:page-number></text:p></style:footer></style:master-page>"
    "</office:document-styles>"
)
CONTENT = (
    f"<office:document-content {SPACES}><style:style style:master-page-name='Default'/><office:body>"
    "<text:p>It was<office:annotation><text:p>A remark</text:p></office:annotation> dark</text:p>"
    "<draw:object xlink:href='./Object 1'/></office:body></office:document-content>"
)
OBJECT = (
    f"<office:document-content {SPACES}><office:body><chart:chart><chart:title><text:p>The chart</text:p></chart:title>"
    "<table:table><table:table-cell office:value-type='float'><text:p>77</text:p></table:table-cell>"
    "<table:table-cell office:value-type='string'><text:p>{}</text:p></table:table-cell></table:table></chart:chart>"
    "</office:body></office:document-content>"
)


def test_headers_remarks_and_charts_of_open_documents():
    parts = {"content.xml": CONTENT, "styles.xml": STYLES, "Object 1/content.xml": OBJECT.format("dark")}
    parts["Object 2/content.xml"] = OBJECT.format("of no document")
    assert further(make.zipped(parts), "ods", "It was dark") == ["A remark", "Top", "Page", "The chart"]
    del parts["styles.xml"]
    assert further(make.zipped(parts), "odp", "It was dark A remark") == ["The chart", "dark"]


ALL_OF_CHART = (
    f"<office:document-content {SPACES}><office:body><chart:chart><chart:title><text:p>The chart</text:p></chart:title>"
    "<chart:legend><text:p>Legend</text:p></chart:legend><table:table><table:table-cell><text:p>dark</text:p>"
    "</table:table-cell></table:table><table:shapes><text:p>In a box</text:p></table:shapes></chart:chart>"
    "</office:body></office:document-content>"
)
SHEET_IN_DOCUMENT = (
    f"<office:document-content {SPACES}><office:body><table:table-cell office:value-type='float'><office:annotation>"
    "<text:p>A remark</text:p></office:annotation><text:p>4711</text:p></table:table-cell></office:body>"
    "</office:document-content>"
)


@pytest.mark.parametrize("href", ["./Object 1", "Object%201/", "./Object 1/content.xml"])
@pytest.mark.parametrize(
    ("part", "joined", "added", "in_sheets"),
    [
        (ALL_OF_CHART, "The chartLegenddarkIn a box", [], ["The chart", "Legend", "In a box"]),
        (SHEET_IN_DOCUMENT, "4711", ["A remark"], ["4711", "A remark"]),
    ],
)
def test_all_text_of_objects_is_read_once(href, part, joined, added, in_sheets):
    content = f"<office:document-content {SPACES}><office:body><draw:object xlink:href='{href}'/></office:body>"
    parts = {"content.xml": f"{content}</office:document-content>", "Object 1/content.xml": part}
    assert further(make.zipped(parts), "odt", f"It was dark\n\n{joined}") == added
    assert further(make.zipped(parts), "ods", "It was dark") == in_sheets


def test_a_part_in_use_that_cannot_be_read_is_an_exception():
    parts = WORKBOOK["drawing"][0] | {"xl/charts/chart1.xml": "<c:chartSpace>"}
    with zipfile.ZipFile(io.BytesIO(with_parts(make.xlsx([["It was dark"]]), parts))) as archive:
        checked = checked_parts(archive, "xlsx", "It was dark")
    assert checked.lacking == ("corrupt", "its xl/charts/chart1.xml is truncated: text may be missing")
    assert checked.further == ("In a box", "Smart", "art", "Press me")


NOTES = "xl/comments1.xml"


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({OF_SHEET: relations("comments:../comments1.xml")[:-20], NOTES: notes(("", "A"))}, f"{OF_SHEET} is truncated"),
        ({OF_SHEET: relations("comments:../comments1.xml")}, f"{NOTES} is missing"),
        ({"xl/worksheets/sheet1.xml": "<x:w><x:legacyDrawing r:id='r1'/></x:w>"}, f"{OF_SHEET} is missing"),
    ],
)
def test_relationships_that_cannot_be_read_and_parts_that_are_missing_are_exceptions(parts, why):
    with zipfile.ZipFile(io.BytesIO(with_parts(make.xlsx([["It was dark"]]), parts))) as archive:
        checked = checked_parts(archive, "xlsx", "Sheet1\nIt was dark")
    assert checked.lacking == ("corrupt", f"its {why}: text may be missing")


def test_further_text_follows_that_of_the_library(pool, tmp_path):
    files = {
        "a.xlsx": with_parts(make.xlsx([["It was dark"]]), WORKBOOK["notes"][0]),
        "a.pptx": with_parts(make.pptx(["It was dark.", "It was cold."]), PRESENTATION),
    }
    found = extracted(pool, written(tmp_path, files))
    assert {one.origin.exception for one in found.values()} == {None}
    assert text_of(found["a.xlsx"]).split("\n")[1:] == ["It was dark", "A note", "Two"]
    assert text_of(found["a.pptx"]).endswith(
        "It was cold.\nIs it so?\nSmart art\nThe chart\nRed\nBlue\nNot at all.\nIt is."
    )
