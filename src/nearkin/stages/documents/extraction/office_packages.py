"""Packages of Word, Excel and PowerPoint: their main part, and the parts to which relationships lead from it."""

from __future__ import annotations

import posixpath
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote, unquote
from xml.parsers import expat

from nearkin.stages.documents.extraction.blobs import Blob
from nearkin.stages.documents.extraction.kinds import kind_of
from nearkin.stages.documents.extraction.office_xml import ExpansionError, elements_of
from nearkin.stages.documents.extraction.ole import OleError, OleFile
from nearkin.stages.documents.extraction.zip_names import safe_name
from nearkin.stages.documents.foreign import COMPOUND_FILE

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
_OF_MAIN = b".main+xml"
_FOLLOWED = frozenset((
    *ROLES, "chartsheet", "dialogsheet", "threadedComment", "drawing", "vmlDrawing", "chart", "chartEx",
    "chartUserShapes", "diagramData", "aFChunk",
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
    title : str
        Name of a sheet, as it is shown.
    """

    name: str
    role: str
    source: str
    title: str = ""


class PartsInUse(NamedTuple):
    """Parts to which relationships lead from the main part.

    Parameters
    ----------
    parts : list of UsedPart
        In the order of sheets or slides; each is followed by those that it refers to. Parts that are missing are among
        them.
    unreadable : list of str
        Names of files with relationships that cannot be read.
    """

    parts: list[UsedPart]
    unreadable: list[str]


def parts_in_use(archive: zipfile.ZipFile, kind: str) -> PartsInUse:
    """Return the parts to which relationships lead from the main part."""
    present = {name.lower(): name for name in archive.namelist()}
    main = main_part(archive, kind)
    found: dict[str, UsedPart] = {}
    unreadable: list[str] = []
    waiting = [UsedPart(main, "main", "")]
    while waiting:
        part = waiting.pop()
        if part.name in found:
            continue
        found[part.name] = part
        relations = present.get(relationships_of(part.name).lower())
        if relations is None:
            continue
        try:
            related = _relationships(archive, relations)
        except (*UNREADABLE, expat.ExpatError, ExpansionError):
            unreadable.append(relations)
            continue
        titles: dict[str, str] = {}
        if part.name == main and _LISTED[kind]:
            titles = _titles(attributes(archive, main, _LISTED[kind]))
            places = {one: at for at, one in enumerate(titles)}
            related.sort(key=lambda one: places.get(one.get("Id", ""), len(places)))
        followed = [(one, role) for one in related if (role := one.get("Type", "").rpartition("/")[2]) in _FOLLOWED]
        waiting += [
            UsedPart(name, role, part.name, titles.get(one.get("Id", ""), ""))
            for one, role in reversed(followed)
            if posixpath.basename(name := _present_name(present, part.name, one.get("Target", ""))) != _NOWHERE
        ]
    return PartsInUse(list(found.values()), unreadable)


def main_part(archive: zipfile.ZipFile, kind: str) -> str:
    """Return the name of the main part of a file of Word, Excel or PowerPoint; its usual name if none is declared."""
    try:
        types = archive.read(CONTENT_TYPES)
    except UNREADABLE:
        return MAIN[kind]
    if types.count(_OF_MAIN) == 1 and b'"/%s"' % MAIN[kind].encode() in types:  # spares parsing
        return MAIN[kind]
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


def _relationships(archive: zipfile.ZipFile, name: str) -> list[Mapping[str, str]]:
    found = elements_of(archive.read(name))
    return [one for told, one in found if told == "Relationship" and one.get("TargetMode") != "External"]


def _titles(listed: list[Mapping[str, str]]) -> dict[str, str]:
    """Return the names of sheets by the ids of their relationships, in their order."""
    return {value: one.get("name", "") for one in listed for key, value in one.items() if key.endswith("}id")}


def _present_name(present: Mapping[str, str], source: str, target: str) -> str:
    """Return the name in the archive of the part that a part means with a target; it may be escaped there, too."""
    usual = resolved(source, target)
    if usual.lower() in present:
        return present[usual.lower()]
    without_fragment = target.partition("#")[0]
    forms = (quote(target, safe="/%#"), target, without_fragment, without_fragment.replace("\\", "/"))
    names = (name for one in forms for name in (_joined(source, one), resolved(source, one)))
    return next((present[one.lower()] for one in names if one.lower() in present), usual)


def resolved(name: str, target: str) -> str:
    """Return the name of the part that a part means with a target.

    Examples
    --------
    >>> resolved("ppt/slides/slide1.xml", "../notes/notes1.xml"), resolved("word/document.xml", "/word/a.xml")
    ('ppt/notes/notes1.xml', 'word/a.xml')
    """
    return _joined(name, unquote(target))


def _joined(name: str, target: str) -> str:
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(name), target)).lstrip("/")


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


_NATIVE = "\x01Ole10Native"


def unwrapped(name: str, data: bytes) -> tuple[str, bytes] | None:
    """Return the name and the bytes of an embedded file; None if there is no file that can be read.

    Parameters
    ----------
    name : str
        Name of the embedded file in the office file.
    data : bytes
    """
    if not data.startswith(COMPOUND_FILE):
        return name, data
    try:
        wrapper = OleFile(data)
        if kind_of(Blob(data), name) != "unsupported":
            return name, data
        native = wrapper.stream(_NATIVE)
        if native is not None:
            return _of_native(name, native)
        for stream in ("Package", "CONTENTS", "EmbeddedOdf"):
            if (content := wrapper.stream(stream)) is not None:
                return name, content
    except (OleError, struct.error):
        return None
    return None


def _of_native(name: str, native: bytes) -> tuple[str, bytes] | None:
    """Return the name and the bytes of a file that was dropped into a document (a "Package" of Windows)."""
    at = 6  # the size of all, and a mark
    own, at = _string(native, at)
    _, at = _string(native, at)
    (n_path,) = struct.unpack_from("<I", native, at + 4)
    at += 8 + n_path
    (size,) = struct.unpack_from("<I", native, at)
    content = native[at + 4 : at + 4 + size]
    if len(content) < size or not size:
        return None
    return safe_name(own) or name, content


def _string(data: bytes, at: int) -> tuple[str, int]:
    """Return a string that ends with a zero byte, and the position after it."""
    end = data.find(b"\0", at)
    if end < 0:
        raise struct.error("a name has no end")
    return data[at:end].decode("cp1252", "replace"), end + 1
