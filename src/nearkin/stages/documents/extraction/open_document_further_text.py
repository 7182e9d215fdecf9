"""Text of open documents that xberg does not read: headers of sheets, remarks, and objects such as charts."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Collection, Mapping
from functools import partial
from typing import NamedTuple
from urllib.parse import unquote
from xml.parsers import expat

from nearkin.stages.documents.extraction.office_further_text import FurtherText
from nearkin.stages.documents.extraction.office_packages import UNREADABLE, attributes
from nearkin.stages.documents.extraction.office_part_reading import ReadPart
from nearkin.stages.documents.extraction.office_xml import OPEN_DOCUMENT, LeftOut, StartTag, TextElements, start_tags

_ANNOTATIONS = TextElements(
    ("annotation",),
    ("creator", "date", "date-string", "creator-initials", "sender-initials", "event-listeners"),
    has_numbers=True,
)
_HEADERS_OF_SHEETS = TextElements(
    ("header", "header-left", "header-first", "footer", "footer-left", "footer-first"),
    (*OPEN_DOCUMENT.omitted, "sheet-name", "title", "file-name", "date", "time"),
    ("region-left", "region-center", "region-right"),
)
_WHOLE_OBJECT = TextElements(("body",), OPEN_DOCUMENT.omitted, has_numbers=True)
_SHOWN_IN_CHART = TextElements(("body",), (*OPEN_DOCUMENT.omitted, "table"))
_LABELS_OF_CHART = TextElements(("table",), OPEN_DOCUMENT.omitted)
_FORMULA = TextElements(("math",), ("annotation", "annotation-xml"))
"""Formula; its annotation is the same in another notation."""
_CONTENT, _STYLES = "content.xml", "styles.xml"
_USUAL_MASTERS = ("Default", "Standard")


class _OpenObject(NamedTuple):
    """An object in an open document."""

    name: str
    is_usual: bool


def tags_of_open_document(part: ReadPart, kind: str) -> list[StartTag]:
    """Return the start tags in the content or in the styles that `add_open_document` needs."""
    return start_tags(part.data, "object", *(("style", "table") if kind == "ods" else ()))


def add_open_document(
    further: FurtherText, archive: zipfile.ZipFile, kind: str, tags: Mapping[str, list[StartTag]]
) -> None:
    """Add the headers of the sheets that are in use, and the text of objects.

    ``tags`` are those of `tags_of_open_document`, by the names of the parts.
    """
    names = frozenset(archive.namelist())
    content, styles = tags.get(_CONTENT, []), tags.get(_STYLES, [])
    if kind == "ods" and _STYLES in names:
        masters = attributes(archive, _STYLES, "master-page")
        told = [value for one in masters for key, value in one.items() if key.endswith("}name")]
        left_out = LeftOut("master-page", "name", frozenset(told).difference(_used_masters(content, styles, told)))
        headers = partial(ReadPart.paragraphs, elements=_HEADERS_OF_SHEETS, left_out=left_out)
        further.add(_STYLES, headers, are_headers=True)
    for one in _objects(archive, [*content, *styles], names):
        further.add(one.name, partial(_of_object, of=one, further=further, kind=kind))


def remarks(part: ReadPart) -> list[str]:
    """Return the remarks in the content of an open document."""
    return part.paragraphs(_ANNOTATIONS) if part.has(b"annotation") else []


def _objects_in(archive: zipfile.ZipFile, name: str) -> list[StartTag]:
    """Return the start tags of objects in an object; none if it cannot be read, which is reported elsewhere."""
    try:
        return start_tags(archive.read(name), "object")
    except (*UNREADABLE, expat.ExpatError):
        return []


def _used_masters(content: list[StartTag], styles: list[StartTag], masters: list[str]) -> set[str]:
    """Return the names of the page styles that tables use; a table that names none has the usual one."""
    named = [
        one.attributes.get("master-page-name", "")
        for one in (*content, *styles)
        if one.name == "style" and one.attributes.get("family") == "table"
    ]
    tables = [one.attributes.get("style-name") for one in content if one.name == "table"]
    if not named or None in tables or not set(masters).issuperset(named):
        named += [one for one in (*_USUAL_MASTERS, *masters) if one in masters][:1]
    return set(named)


def _objects(archive: zipfile.ZipFile, tags: list[StartTag], names: Collection[str]) -> list[_OpenObject]:
    """Return the objects in the archive to which the document or one of its objects refers, missing ones included."""
    found: dict[str, _OpenObject] = {}
    waiting = [("", tags)]
    while waiting:
        folder, told = waiting.pop()
        for href in dict.fromkeys(one.attributes.get("href", "") for one in told if one.name == "object"):
            one = _named(folder, href, names)
            if one is None or one.name in found:
                continue
            found[one.name] = one
            waiting.append((posixpath.dirname(one.name), _objects_in(archive, one.name)))
    return list(found.values())


def _named(folder: str, href: str, names: Collection[str]) -> _OpenObject | None:
    """Return the object that a reference means; None for one outside the archive, or in the document itself."""
    path = href.partition("#")[0].removeprefix("./").strip("/")
    if not path or ":" in path.partition("/")[0] or path.startswith(".."):
        return None
    usual = posixpath.join(folder, path, _CONTENT)
    others = [posixpath.join(folder, unquote(path), _CONTENT), posixpath.join(folder, unquote(path))]
    name = next((one for one in (usual, *others) if one in names and one.endswith(_CONTENT)), None)
    if name is None and posixpath.join(folder, path) in names:
        return None  # a file of another kind
    return _OpenObject(name or usual, is_usual=name == usual)


def _of_object(part: ReadPart, *, of: _OpenObject, further: FurtherText, kind: str) -> list[str]:
    """Return the lines of an object that are not in the text, and the remarks in it."""
    kinds = {one.name for one in start_tags(part.data, "chart", "math")}
    formulas = part.paragraphs(_FORMULA) if kind == "ods" or not of.is_usual else []
    lines = part.paragraphs(_WHOLE_OBJECT)
    if kind != "ods" and further.is_joined(lines):
        lines = []
    elif "chart" in kinds:
        labels = part.paragraphs(_LABELS_OF_CHART)
        lines = [*part.paragraphs(_SHOWN_IN_CHART), *(further.unknown(labels) if kind == "ods" else labels)]
    return [*formulas, *lines, *(remarks(part) if "math" not in kinds else [])]
