"""Packages of Word, Excel and PowerPoint: their main part, and the parts to which relationships lead from it."""

from __future__ import annotations

import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import unquote
from xml.parsers import expat

from nearkin.stages.documents.extraction.office_xml import ExpansionError, elements_of

UNREADABLE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError,
    LookupError,
)  # fmt: skip
"""Errors of an archive that is damaged."""
CONTENT_TYPES = "[Content_Types].xml"
MAIN = {"docx": "word/document.xml", "xlsx": "xl/workbook.xml", "pptx": "ppt/presentation.xml"}
"""Usual names of the main parts."""
ROLES = (
    "main", "header", "footer", "footnotes", "endnotes", "comments", "worksheet", "sharedStrings", "slide",
    "notesSlide",
)  # fmt: skip
"""Last words of the content types and of the kinds of relationships of parts."""
_FOLLOWED = frozenset((
    *ROLES, "chartsheet", "dialogsheet", "threadedComment", "drawing", "vmlDrawing", "chart", "chartEx",
    "chartUserShapes", "diagramData",
))  # fmt: skip
"""Last words of the kinds of relationships that lead to text."""
_NOWHERE = "NULL"
"""Target of relationships that Office leaves behind when it could not store what they led to."""
_LISTED = {"xlsx": "sheet", "pptx": "sldId", "docx": ""}
"""Elements of the main part that list sheets or slides in their order."""


class UsedPart(NamedTuple):
    """A part that is in use.

    Parameters
    ----------
    name : str
    role : str
        Last word of the kind of the relationship that leads to it; "main" for the main part.
    source : str
        Name of the part that refers to it.
    """

    name: str
    role: str
    source: str


def parts_in_use(archive: zipfile.ZipFile, kind: str) -> list[UsedPart]:
    """Return the parts to which relationships lead from the main part, in the order of sheets or slides.

    Each is followed by those that it refers to. Parts that are missing are among them.
    """
    present = {name.lower(): name for name in archive.namelist()}
    main = main_part(archive, kind)
    found: dict[str, UsedPart] = {}
    waiting = [UsedPart(main, "main", "")]
    while waiting:
        part = waiting.pop()
        if part.name in found:
            continue
        found[part.name] = part
        if relationships_of(part.name).lower() not in present:
            continue
        listed = _LISTED[kind] if part.name == main else ""
        told = [
            one
            for one in _targets(archive, part.name, listed)
            if one[0] in _FOLLOWED and posixpath.basename(one[1]) != _NOWHERE
        ]
        waiting += [UsedPart(present.get(name.lower(), name), role, part.name) for role, name in reversed(told)]
    return list(found.values())


def main_part(archive: zipfile.ZipFile, kind: str) -> str:
    """Return the name of the main part of a file of Word, Excel or PowerPoint; its usual name if none is declared."""
    roles = declared_roles(archive)
    return next((name for name, role in roles.items() if role == "main"), MAIN[kind])


def relationships_of(name: str) -> str:
    """Return the name of the file with the relationships of a part.

    Examples
    --------
    >>> relationships_of("word/document.xml")
    'word/_rels/document.xml.rels'
    """
    folder, _, own = name.rpartition("/")
    return posixpath.join(folder, "_rels", f"{own}.rels")


def targets(archive: zipfile.ZipFile, name: str) -> Iterable[tuple[str, str]]:
    """Return the roles and the names of the parts that another part refers to."""
    return _targets(archive, name, "")


def _targets(archive: zipfile.ZipFile, name: str, listed: str) -> list[tuple[str, str]]:
    """Return roles and names; those that elements of a name list in the part come first, in the order of the list."""
    related = attributes(archive, relationships_of(name), "Relationship")
    related = [one for one in related if one.get("TargetMode") != "External"]
    if listed:
        ids = [value for one in attributes(archive, name, listed) for key, value in one.items() if key.endswith("}id")]
        places = {one: at for at, one in enumerate(ids)}
        related.sort(key=lambda one: places.get(one.get("Id", ""), len(places)))
    return [(one.get("Type", "").rpartition("/")[2], resolved(name, one.get("Target", ""))) for one in related]


def resolved(name: str, target: str) -> str:
    """Return the name of the part that a part means with a target.

    Examples
    --------
    >>> resolved("ppt/slides/slide1.xml", "../notes/notes1.xml"), resolved("word/document.xml", "/word/a.xml")
    ('ppt/notes/notes1.xml', 'word/a.xml')
    """
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(name), unquote(target))).lstrip("/")


def declared_roles(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the roles of the parts of an archive by the content types, which may name parts that never were."""
    found, names = {}, {name.lower() for name in archive.namelist()}
    for one in attributes(archive, CONTENT_TYPES, "Override"):
        role, name = one.get("ContentType", "").rpartition(".")[2].removesuffix("+xml"), one.get("PartName", "")
        if role in ROLES and name.lstrip("/").lower() in names:
            found[name.lstrip("/")] = role
    return found


def attributes(archive: zipfile.ZipFile, name: str, local: str) -> list[Mapping[str, str]]:
    """Return the attributes of the elements of one name; none if the part cannot be read."""
    try:
        found = elements_of(archive.read(name))
    except (*UNREADABLE, expat.ExpatError, ExpansionError):
        return []
    return [own for told, own in found if told == local]
