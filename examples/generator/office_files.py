"""Small files of Word, Excel, PowerPoint, OpenDocument, RTF, PDF and mail, made of texts: the same bytes every time."""

from __future__ import annotations

import io
import textwrap
import zipfile
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from xml.sax.saxutils import escape

_TYPES = (
    '<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
)
_OVERRIDE = '<Override PartName="/{part}" ContentType="application/vnd.openxmlformats-officedocument.{kind}+xml"/>'
_RELATIONS = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{all}</Relationships>'
)
_RELATION = (
    '<Relationship Id="{id}" Target="{target}" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}"/>'
)
_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_SLIDES = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    f'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" {_R}'
)
_OPEN = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"'
)
_LINE_CHARACTERS = 90
_LINES_A_PAGE = 50


def zipped(files: Mapping[str, bytes | str], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a ZIP archive; its times are fixed, so that the bytes are."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_STORED if name == "mimetype" else compression
            archive.writestr(entry, content)
    return sink.getvalue()


def _package(main: str, kind: str, files: Mapping[str, bytes | str], kinds: Mapping[str, str]) -> bytes:
    overrides = "".join(_OVERRIDE.format(part=part, kind=one) for part, one in {main: kind, **kinds}.items())
    return zipped({
        "[Content_Types].xml": _TYPES.format(overrides=overrides),
        "_rels/.rels": _RELATIONS.format(all=_RELATION.format(id="rId1", target=main, kind="officeDocument")),
        **files,
    })  # fmt: skip


def docx(paragraphs: Sequence[str], embedded: Mapping[str, bytes] | None = None) -> bytes:
    """Return a document of Word, with files embedded in it."""
    body = "".join(f'<w:p><w:r><w:t xml:space="preserve">{escape(one)}</w:t></w:r></w:p>' for one in paragraphs)
    inside = {f"word/embeddings/{name}": content for name, content in (embedded or {}).items()}
    relations = "".join(
        _RELATION.format(id=f"rId{at}", target=f"embeddings/{name}", kind="package")
        for at, name in enumerate(embedded or {}, 10)
    )
    return _package(
        "word/document.xml",
        "wordprocessingml.document.main",
        {
            "word/document.xml": f'<?xml version="1.0"?><w:document {_WORD}><w:body>{body}</w:body></w:document>',
            "word/_rels/document.xml.rels": _RELATIONS.format(all=relations),
            **inside,
        },
        {},
    )


def xlsx(rows: Sequence[Sequence[str]]) -> bytes:
    """Return a workbook of Excel with one sheet."""
    cell = '<c t="inlineStr"><is><t>{}</t></is></c>'
    cells = "".join(f"<row>{''.join(cell.format(escape(one)) for one in row)}</row>" for row in rows)
    return _package(
        "xl/workbook.xml",
        "spreadsheetml.sheet.main",
        {
            "xl/workbook.xml": f'<?xml version="1.0"?><workbook {_SHEET} {_R}><sheets>'
            '<sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": _RELATIONS.format(
                all=_RELATION.format(id="rId1", target="worksheets/sheet1.xml", kind="worksheet")
            ),
            "xl/worksheets/sheet1.xml": f'<?xml version="1.0"?><worksheet {_SHEET}><sheetData>{cells}</sheetData>'
            "</worksheet>",
        },
        {"xl/worksheets/sheet1.xml": "spreadsheetml.worksheet"},
    )


def pptx(slides: Sequence[str]) -> bytes:
    """Return a presentation of PowerPoint with a text on each slide."""
    files: dict[str, bytes | str] = {}
    kinds: dict[str, str] = {}
    ids, relations = [], []
    for at, text in enumerate(slides, 1):
        part = f"ppt/slides/slide{at}.xml"
        files[part] = (
            f'<?xml version="1.0"?><p:sld {_SLIDES}><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/>'
            "<p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/><p:sp><p:nvSpPr>"
            '<p:cNvPr id="2" name="Text"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>'
            f"<a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
        )
        kinds[part] = "presentationml.slide"
        ids.append(f'<p:sldId id="{255 + at}" r:id="rId{at}"/>')
        relations.append(_RELATION.format(id=f"rId{at}", target=f"slides/slide{at}.xml", kind="slide"))
    files["ppt/presentation.xml"] = (
        f'<?xml version="1.0"?><p:presentation {_SLIDES}><p:sldIdLst>{"".join(ids)}</p:sldIdLst></p:presentation>'
    )
    files["ppt/_rels/presentation.xml.rels"] = _RELATIONS.format(all="".join(relations))
    return _package("ppt/presentation.xml", "presentationml.presentation.main", files, kinds)


def odt(paragraphs: Sequence[str]) -> bytes:
    """Return a text of OpenDocument."""
    body = "".join(f"<text:p>{escape(one)}</text:p>" for one in paragraphs)
    kind = "application/vnd.oasis.opendocument.text"
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{one}"/>'
        for path, one in (("/", kind), ("content.xml", "text/xml"))
    )
    return zipped({
        "mimetype": kind,
        "content.xml": f'<?xml version="1.0"?><office:document-content {_OPEN}><office:body><office:text>{body}'
        "</office:text></office:body></office:document-content>",
        "META-INF/manifest.xml": '<?xml version="1.0"?><manifest:manifest '
        f'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">{entries}</manifest:manifest>',
    })  # fmt: skip


def rtf(paragraphs: Sequence[str]) -> bytes:
    """Return a text in RTF."""
    return b"{\\rtf1\\ansi\\ansicpg1252\\deff0 " + b"".join(_rtf(one) + b"\\par\n" for one in paragraphs) + b"}"


def _rtf(text: str) -> bytes:
    return "".join(
        f"\\{one}" if one in "\\{}" else one if one < "\x80" else f"\\u{ord(one)}?" for one in text
    ).encode("ascii")  # fmt: skip


def pdf(paragraphs: Sequence[str], *, is_scan: bool = False, attached: Mapping[str, bytes] | None = None) -> bytes:
    """Return a PDF with the text in lines on its pages; of a scan the pages are images, without a text."""
    lines = [line for one in paragraphs for line in [*textwrap.wrap(one, _LINE_CHARACTERS), ""]]
    pages = [lines[at : at + _LINES_A_PAGE] for at in range(0, max(1, len(lines)), _LINES_A_PAGE)]
    font, image, names = 3, 4, 5
    first = 6
    n_pages = len(pages)
    kids = " ".join(f"{first + 2 * at} 0 R" for at in range(n_pages))
    objects: list[bytes] = [
        f"<</Type/Catalog/Pages 2 0 R/Names {names} 0 R>>".encode(),
        f"<</Type/Pages/Kids[{kids}]/Count {n_pages}>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        _stream(b"\xc0", "/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8"),
        b"",
    ]
    for at, page in enumerate(pages):
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {first + 2 * at + 1} 0 R"
            f"/Resources<</Font<</F {font} 0 R>>/XObject<</I {image} 0 R>>>>>>".encode()
        )
        shown = b"".join(b"(" + _pdf(line) + b")'\n" for line in page)
        drawn = b"500 0 0 700 50 50 cm /I Do" if is_scan else b"BT /F 10 Tf 14 TL 50 800 Td\n" + shown + b"ET"
        objects.append(_stream(drawn, ""))
    files = []
    for name, content in (attached or {}).items():
        objects.append(_stream(content, "/Type/EmbeddedFile"))
        objects.append(f"<</Type/Filespec/F({name})/UF({name})/EF<</F {len(objects)} 0 R>>>>".encode())
        files.append(f"({name}) {len(objects)} 0 R")
    objects[names - 1] = f"<</EmbeddedFiles<</Names[{' '.join(files)}]>>>>".encode()
    return _with_table(objects)


def _pdf(text: str) -> bytes:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)").encode("cp1252", "replace")


def _stream(content: bytes, told: str) -> bytes:
    return f"<</Length {len(content)}{told}>>\nstream\n".encode() + content + b"\nendstream"


def _with_table(objects: Sequence[bytes]) -> bytes:
    """Return the objects as a file, with the table of where each begins."""
    data, places = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + one + b"\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    n = len(objects) + 1
    trailer = f"trailer\n<</Size {n}/Root 1 0 R>>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + f"xref\n0 {n}\n0000000000 65535 f \n{table}{trailer}".encode()


def mail(
    headers: Mapping[str, str], body: str, attached: Mapping[str, bytes] | None = None, *, page: str | None = None
) -> bytes:
    """Return a mail, with an alternative as a page if one is given, and files attached to it."""
    message = EmailMessage()
    for name, value in headers.items():
        message[name] = value
    message.set_content(body)
    if page is not None:
        message.add_alternative(page, subtype="html")
    for name, content in (attached or {}).items():
        message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    for at, part in enumerate(one for one in message.walk() if one.is_multipart()):
        part.set_boundary(f"===part-{at}===")  # the library draws one by chance
    return message.as_bytes()
