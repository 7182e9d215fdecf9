"""Shared strings of a workbook that cells show; xberg reads no others, and programs leave some behind."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from xml.parsers import expat

from nearkin.stages.documents.extraction.office_packages import UNREADABLE
from nearkin.stages.documents.extraction.office_xml import ExpansionError, ExpansionLimit, in_known_encoding

_PREFIX = rb"(?:[^\s<>/:]++:)?"
_SHARED_STRING = re.compile(
    rb"<" + _PREFIX + rb"""c\b(?=[^<]*?\bt\s*+=\s*+["']s["'])(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+>\s*+"""
    rb"(?:<" + _PREFIX + rb"f\b[^<]*+(?:</[^<]*+)?+)?+<" + _PREFIX + rb"v[^<>]*+>\s*+(\d{1,9})"
)
"""Cell with a shared string; no sign is read from many places, which a hostile sheet could make costly."""
_NOT_ONLY_TAGS = (b"\0", b"<!", b"<?")


def used_strings(archive: zipfile.ZipFile, sheets: Iterable[str]) -> set[int] | None:
    """Return the positions of the shared strings that cells show; None if a sheet cannot be searched for them."""
    used: set[int] = set()
    for name in sheets:
        try:
            used.update(strings_in_sheet(archive.read(name)))
        except (*UNREADABLE, expat.ExpatError, ExpansionError):
            return None
    return used


def strings_in_sheet(sheet: bytes) -> list[int]:
    """Return the positions of the shared strings that the cells of a sheet show.

    Raises
    ------
    ExpatError, ExpansionError, LookupError, ValueError

    Examples
    --------
    >>> strings_in_sheet(b"<c t='s'><v>3</v></c><c t='s'><f>A1</f><v>4</v></c><c><v>5</v></c>")
    [3, 4]
    >>> strings_in_sheet(b"<x><c t='s'><!-- 1 --><v><![CDATA[3]]></v></c><c><v>5</v></c></x>")
    [3]
    """
    behind_declaration = max(0, sheet.find(b"?>", 0, 200))
    if not any(sheet.find(one, behind_declaration) >= 0 for one in _NOT_ONLY_TAGS):
        return [int(one) for one in _SHARED_STRING.findall(sheet)]
    known = in_known_encoding(sheet)
    found: list[list[str]] = []
    is_shared, limit, parser = False, ExpansionLimit(known), expat.ParserCreate()

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal is_shared
        limit.take(1)
        local = name.rpartition(":")[2]
        if local == "c":
            is_shared = attributes.get("t") == "s"
        elif local == "v" and is_shared:
            found.append([])
            parser.CharacterDataHandler = found[-1].append

    def end(_name: str) -> None:
        parser.CharacterDataHandler = None

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(known, True)
    return [int(told) for one in found if (told := "".join(one).strip()).isdecimal()]
