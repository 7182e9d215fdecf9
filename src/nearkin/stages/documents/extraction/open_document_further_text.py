"""Text of open documents that xberg does not read: headers of sheets, remarks, and objects such as charts."""

from __future__ import annotations

import posixpath
import re
import zipfile
from functools import partial

from nearkin.stages.documents.extraction.office_further_text import FurtherText
from nearkin.stages.documents.extraction.office_packages import UNREADABLE, attributes
from nearkin.stages.documents.extraction.office_part_reading import ReadPart
from nearkin.stages.documents.extraction.office_xml import OPEN_DOCUMENT, LeftOut, TextElements

_MASTERS = re.compile(rb"""\bmaster-page-name=["']([^"'<]*+)["']""")
_OBJECT = re.compile(rb"""\bhref=["'](?:\./)?([^"'<#]*+)["']""")
_ANNOTATIONS = TextElements(
    ("annotation",), ("creator", "date", "date-string", "creator-initials", "sender-initials", "event-listeners")
)
_HEADERS_OF_SHEETS = TextElements(
    ("header", "header-left", "header-first", "footer", "footer-left", "footer-first"),
    (*OPEN_DOCUMENT.omitted, "sheet-name", "title", "file-name", "date", "time"),
    ("region-left", "region-center", "region-right"),
)
_TITLES_OF_OPEN_CHART = TextElements(("title", "subtitle", "footer"), OPEN_DOCUMENT.omitted)
_LABELS_OF_OPEN_CHART = TextElements(("table",), OPEN_DOCUMENT.omitted)
_OPEN_CHART = re.compile(rb"<(?:[\w.-]++:)?chart[\s>]")
_CONTENT = "content.xml"


def add_open_document(further: FurtherText, archive: zipfile.ZipFile, kind: str) -> None:
    """Add the headers of the sheets that are in use, and the text of objects."""
    names = frozenset(archive.namelist())
    has_objects = any(name.endswith(f"/{_CONTENT}") for name in names)
    if kind != "ods" and not has_objects:
        return
    try:
        content = archive.read(_CONTENT)
    except UNREADABLE:
        return
    if kind == "ods" and "styles.xml" in names:
        used = {one.decode("utf-8", "replace") for one in _MASTERS.findall(content)} or {"Default"}
        masters = attributes(archive, "styles.xml", "master-page")
        told = {value for one in masters for key, value in one.items() if key.endswith("}name")}
        left_out = LeftOut("master-page", "name", told - used)
        headers = partial(ReadPart.paragraphs, elements=_HEADERS_OF_SHEETS, left_out=left_out)
        further.add("styles.xml", headers, are_headers=True)
    if has_objects:
        for name in _objects(archive, content, names):
            further.add(name, lambda part: _of_object(part, further, kind))


def remarks(part: ReadPart) -> list[str]:
    """Return the remarks in the content of an open document."""
    return part.paragraphs(_ANNOTATIONS) if part.has(b"annotation") else []


def _objects(archive: zipfile.ZipFile, content: bytes, names: frozenset[str]) -> list[str]:
    """Return the names of the contents of objects to which the document or one of its objects refers."""
    found: dict[str, None] = {}
    waiting = [("", content)]
    while waiting:
        folder, part = waiting.pop()
        for one in dict.fromkeys(_OBJECT.findall(part)):
            own = posixpath.join(folder, one.decode("utf-8", "replace").strip("/"))
            name = posixpath.join(own, _CONTENT)
            if name in names and name not in found:
                found[name] = None
                try:
                    waiting.append((own, archive.read(name)))
                except UNREADABLE:
                    continue  # its fault is reported where it is read
    return list(found)


def _of_object(part: ReadPart, further: FurtherText, kind: str) -> list[str]:
    if _OPEN_CHART.search(part.data) is None:
        return part.paragraphs(OPEN_DOCUMENT)
    labels = part.paragraphs(_LABELS_OF_OPEN_CHART)
    return [*part.paragraphs(_TITLES_OF_OPEN_CHART), *(further.unknown(labels) if kind == "ods" else labels)]
