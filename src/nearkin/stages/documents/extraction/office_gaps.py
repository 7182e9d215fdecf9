"""Workbooks with cells far away from the others, written again without the empty rows and cells between them.

xberg skips a sheet of more than 100,000 rows of which few cells hold data, and counts the empty cells towards the limit
of cells. A single number in the last row of a sheet is enough. The words and their order are the same in both forms.
"""

from __future__ import annotations

import io
import re
import zipfile
from typing import NamedTuple

from nearkin.stages.documents.extraction.office_packages import UNREADABLE
from nearkin.stages.documents.extraction.office_parts import parts_of
from nearkin.stages.documents.extraction.office_usual_form import is_too_big

_PREFIX = rb"(?:[\w.-]++:)?"
_MAX_HEAD = 200
"""Bytes of the beginning of a sheet in which a declaration of an encoding stands."""


def _empty(name: bytes, inside: bytes = b"") -> re.Pattern[bytes]:
    """Return the pattern of an element that holds nothing, or nothing but another one."""
    end = rb"</" + _PREFIX + name + rb"\s*+>"
    return re.compile(rb"<" + _PREFIX + name + rb"(?=[\s/>])[^<>]*+(?:(?<=/)>|>\s*+" + inside + rb"\s*+" + end + rb")")


class _SheetElements(NamedTuple):
    """Patterns of the elements of sheets: rows and cells that hold nothing, cells, and the places of both."""

    empty_cell: re.Pattern[bytes]
    empty_row: re.Pattern[bytes]
    cell: re.Pattern[bytes]
    place: re.Pattern[bytes] | None


_VALUE = rb"(?:" + _empty(b"v").pattern + rb")?"
_ELEMENTS = {
    "xlsx": _SheetElements(
        _empty(b"c", _VALUE),
        _empty(b"row"),
        re.compile(rb"<" + _PREFIX + rb"c[\s>]"),
        re.compile(rb"(<" + _PREFIX + rb"(?:row|c)\s(?:[^<>]*?\s)?)r=(?:\"[^\"<>]*+\"|'[^'<>]*+')"),
    ),
    "ods": _SheetElements(
        _empty(rb"(?:covered-)?table-cell(?![^<>]*(?:value|formula))"),
        _empty(b"table-row"),
        re.compile(rb"<" + _PREFIX + rb"table-cell[\s>]"),
        None,
    ),
}


def without_gaps(archive: zipfile.ZipFile, kind: str, max_bytes: int, max_ratio: int, max_cells: int) -> bytes | None:
    """Return a workbook without rows and cells that hold nothing.

    Parameters
    ----------
    archive : ZipFile
    kind : str
    max_bytes, max_ratio : int
        As of `office_usual_form.usual_form`.
    max_cells : int

    Returns
    -------
    bytes or None
        None for other kinds, and for a workbook that cannot be read, is too big or has too many cells.
    """
    if kind not in _ELEMENTS or is_too_big(archive, max_bytes, max_ratio):
        return None
    sheets = {part.name for part in parts_of(archive, kind) if part.role in ("worksheet", "content")}
    sink = io.BytesIO()
    try:
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as written:
            for name in dict.fromkeys(archive.namelist()):
                part = archive.read(name)
                if name in sheets:
                    part = compact_sheet(part, kind)
                    max_cells -= sum(1 for _ in _ELEMENTS[kind].cell.finditer(part))
                    if max_cells < 0:
                        return None
                written.writestr(name, part)
    except UNREADABLE:
        return None
    return sink.getvalue()


def compact_sheet(part: bytes, kind: str) -> bytes:
    """Return the XML of a sheet without rows and cells that hold nothing; others lose their places.

    Examples
    --------
    >>> compact_sheet(b'<row r="1"><c r="A1" s="2"/><c r="C1"><v>3</v></c></row><row r="9"/><row r="12"></row>', "xlsx")
    b'<row ><c ><v>3</v></c></row>'
    """
    if b"\0" in part[:_MAX_HEAD] or b"<!" in part:  # UTF-16, comments, CDATA sections
        return part
    elements = _ELEMENTS[kind]
    part = elements.empty_row.sub(b"", elements.empty_cell.sub(b"", part))
    return part if elements.place is None else elements.place.sub(rb"\1", part)
