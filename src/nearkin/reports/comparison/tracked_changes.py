"""Comparison as a Word document with tracked changes: rejecting all of them gives A, accepting all gives B.

Source: ISO/IEC 29500-1, Office Open XML, 17.13.5: ``w:ins`` and ``w:del`` around runs, and in the properties of
paragraphs for their ends.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from itertools import count
from xml.sax.saxutils import escape, quoteattr

from nearkin._version import __version__
from nearkin.stages.differences.exact import SegmentKind, TextSegment, exact_segments
from nearkin.wording import reveal

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_TYPES = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_CONTENT_TYPES = (
    f'{_XML}<Types xmlns="{_TYPES}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{MEDIA_TYPE}.main+xml"/>'
    '<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>'
    "</Types>"
)
_RELATIONSHIPS = (
    f'{_XML}<Relationships xmlns="{_TYPES}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/>'
    f'<Relationship Id="rId2" Type="{_TYPES}/relationships/metadata/core-properties" Target="docProps/core.xml"/>'
    "</Relationships>"
)
_ELEMENTS: dict[SegmentKind, str] = {"only_a": "del", "only_b": "ins"}
_LINE_END = re.compile(r"\r\n?")
_PARTS = re.compile(r"[\t\n\f]|[^\t\n\f]+")
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def tracked_changes(
    text_a: str, text_b: str, *, name_a: str, name_b: str, author: str, at: datetime | None = None
) -> bytes:
    """Return a Word document (DOCX) in which the changes from A to B are tracked; equal arguments give equal bytes.

    Line ends are paragraphs, and form feeds are page breaks. Characters that XML cannot have are written as code
    points.
    Without ``at`` the time of the changes is now.
    """
    time = (at or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = "".join(_paragraphs(exact_segments(_lined(text_a), _lined(text_b)), _allowed(author), time))
    title = escape(_allowed(f"Changes from {name_a} to {name_b}"))
    core = (
        f'{_XML}<cp:coreProperties xmlns:cp="{_TYPES}/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{title}</dc:title><dc:creator>{escape(_allowed(author))}</dc:creator>"
        f"<dc:description>Nearkin {__version__}</dc:description>"
        f'<dcterms:created xsi:type="dcterms:W3CDTF">{time}</dcterms:created></cp:coreProperties>'
    )
    parts = {
        "[Content_Types].xml": _CONTENT_TYPES,
        "_rels/.rels": _RELATIONSHIPS,
        "docProps/core.xml": core,
        "word/document.xml": f'{_XML}<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
    }
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content.encode(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _lined(text: str) -> str:
    return _LINE_END.sub("\n", text)


def _allowed(text: str) -> str:
    return _NOT_IN_XML.sub(lambda found: reveal(found[0]), text)


def _paragraphs(segments: Iterator[TextSegment], author: str, time: str) -> Iterator[str]:
    """Yield the paragraphs; the end of the last one is that of the document, which cannot be tracked."""
    numbers, runs = count(1), list[str]()

    def tracked(element: str, inside: str | None) -> str:
        said = (
            f"<w:{element} w:id={quoteattr(str(next(numbers)))} w:author={quoteattr(author)} w:date={quoteattr(time)}"
        )
        return f"{said}/>" if inside is None else f"{said}>{inside}</w:{element}>"

    for segment in segments:
        element = _ELEMENTS.get(segment.kind)
        for i, line in enumerate(segment.text.split("\n")):
            if i:
                end = "" if element is None else f"<w:pPr><w:rPr>{tracked(element, None)}</w:rPr></w:pPr>"
                yield f"<w:p>{end}{''.join(runs)}</w:p>"
                runs.clear()
            if line:
                run = _run(line, is_deleted=element == "del")
                runs.append(run if element is None else tracked(element, run))
    yield f"<w:p>{''.join(runs)}</w:p>"


def _run(text: str, *, is_deleted: bool) -> str:
    element, inside = "delText" if is_deleted else "t", list[str]()
    for part in _PARTS.findall(text):
        if part == "\t":
            inside.append("<w:tab/>")
        elif part == "\f":
            inside.append('<w:br w:type="page"/>')
        else:
            inside.append(f'<w:{element} xml:space="preserve">{escape(_allowed(part))}</w:{element}>')
    return f"<w:r>{''.join(inside)}</w:r>"
