"""Workbooks with cells far away from the others, written again without the empty rows and cells between them.

xberg skips a sheet of more than 100,000 rows of which few cells hold data, and counts the empty cells towards the limit
of cells. Of smaller sheets it keeps the empty cells in memory (`office_far_cells`). A single number in the last row is
enough. The words and their order are the same in both forms.
"""

from __future__ import annotations

import io
import re
import zipfile
from typing import NamedTuple
from xml.parsers import expat

from nearkin.stages.documents.extraction.office_packages import UNREADABLE
from nearkin.stages.documents.extraction.office_parts import parts_of
from nearkin.stages.documents.extraction.office_usual_form import is_too_big, usual_xml
from nearkin.stages.documents.extraction.office_xml import ExpansionError

_PREFIX = rb"(?:[^\s<>/:]++:)?"
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

    def n_cells(self, sheet: bytes) -> int:
        """Return the number of cells, empty ones included."""
        return sum(1 for _ in self.cell.finditer(sheet))


_VALUE = rb"(?:" + _empty(b"v").pattern + rb")?"
SHEET_ELEMENTS = {
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
    if kind not in SHEET_ELEMENTS or is_too_big(archive, max_bytes, max_ratio):
        return None
    sheets = {part.name for part in parts_of(archive, kind) if part.role in ("worksheet", "content")}
    sink = io.BytesIO()
    try:
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as written:
            for name in dict.fromkeys(archive.namelist()):
                part = archive.read(name)
                if name in sheets:
                    part = compact_sheet(part, kind)
                    max_cells -= SHEET_ELEMENTS[kind].n_cells(part)
                    if max_cells < 0:
                        return None
                written.writestr(name, plain_xml(part) if name.endswith(".xml") else part)
    except UNREADABLE:
        return None
    return sink.getvalue()


def plain_xml(part: bytes) -> bytes:
    """Return an XML file in UTF-8, without comments, CDATA sections and entities, if it is well-formed."""
    if not (b"\0" in part[:_MAX_HEAD] or b"<!" in part):
        return part
    try:
        return usual_xml(part)
    except (expat.ExpatError, ExpansionError, LookupError, ValueError):
        return part


def compact_sheet(part: bytes, kind: str) -> bytes:
    """Return the XML of a sheet without rows and cells that hold nothing; others lose their places.

    Examples
    --------
    >>> compact_sheet(b'<row r="1"><c r="A1" s="2"/><c r="C1"><v>3</v></c></row><row r="9"/><row r="12"></row>', "xlsx")
    b'<row ><c ><v>3</v></c></row>'
    """
    part = plain_xml(part)
    if b"\0" in part[:_MAX_HEAD] or b"<!" in part:  # not well-formed
        return part
    elements = SHEET_ELEMENTS[kind]
    part = elements.empty_row.sub(b"", elements.empty_cell.sub(b"", part))
    return part if elements.place is None else elements.place.sub(rb"\1", part)
