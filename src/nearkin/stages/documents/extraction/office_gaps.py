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


_MAX_SPANNED, _SPARSE = 1 << 22, 4
"""Cells that a workbook may span in memory, or the multiple of those that it has."""
_FEW_SPANNED = 1 << 16
_END_OF_SHEET, _START_OF_SHEET = 1 << 16, 1 << 11
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml", re.IGNORECASE)
_DIMENSION = re.compile(rb"""<(?:[\w.-]++:)?dimension\s[^<>]*?\bref=["']([A-Z]+)(\d{1,9}):([A-Z]+)(\d{1,9})["']""")
_COLUMN = re.compile(rb"""r=["']([A-Z]{2,3})\d""")
_ROW, _ROW_OF_CELL = re.compile(rb"""r=["'](\d{1,9})["']"""), re.compile(rb"""r=["'][A-Z]++(\d{1,9})["']""")
_WIDE = ((re.compile(rb"""r=["'][A-Z]{3}\d"""), 16384), (re.compile(rb"""r=["'][E-Z][A-Z]\d"""), 702))
"""Cells far to the right, and the most columns of a sheet that has such ones; a search for them takes little time."""
_OTHER_COLUMNS, _OF_ONE_LETTER = 130, 26
_GAP_IN_ROW = re.compile(rb"""number-columns-repeated=["'](\d{3,9})["'][^<>]*+(?<=/)>""")
_END_OF_TABLE = re.compile(rb"</(?:[^\s<>/:]++:)?table\s*+>")
_ROWS = re.compile(rb"""number-rows-repeated=["'](\d{1,9})["']""")


def has_far_cells(archive: zipfile.ZipFile, kind: str, max_bytes: int, max_ratio: int) -> bool:
    """Whether a workbook spans millions of cells, and has few of them.

    Parameters
    ----------
    archive : ZipFile
    kind : str
    max_bytes, max_ratio : int
        As of `office_usual_form.usual_form`.
    """
    if kind not in SHEET_ELEMENTS or is_too_big(archive, max_bytes, max_ratio):
        return False
    n_spanned, wide = 0, []
    try:
        for entry in archive.infolist():
            is_sheet = entry.filename == "content.xml" if kind == "ods" else _SHEET.fullmatch(entry.filename)
            if not is_sheet:
                continue
            n = _declared(archive, entry) if kind == "xlsx" else None
            if n is None:
                part = plain_xml(archive.read(entry))
                n = _spanned_in_open_document(part) if kind == "ods" else _spanned(part)
            n_spanned += n
            wide += [entry] if n > _FEW_SPANNED else []
        if n_spanned <= _MAX_SPANNED:
            return False
        n_cells = sum(SHEET_ELEMENTS[kind].n_cells(plain_xml(archive.read(one))) for one in wide)
    except UNREADABLE:
        return False
    return n_spanned > _SPARSE * n_cells


def _declared(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> int | None:
    """Return how many cells a sheet of Excel declares to span; None if it does not, or declares a single one."""
    with archive.open(entry) as part:
        told = _DIMENSION.search(part.read(_START_OF_SHEET))
    if told is None:
        return None
    return (int(told[4]) - int(told[2]) + 1) * (_column(told[3]) - _column(told[1]) + 1)


def _spanned(sheet: bytes) -> int:
    """Return how many cells lie between A1 and the last row and column of a sheet of Excel, at most.

    Examples
    --------
    >>> _spanned(b'<row r="1"><c r="A1"/></row><row r="4000"><c r="XFD4000"/></row>')
    65536000
    """
    rows = [*_ROW.findall(sheet), *_ROW_OF_CELL.findall(sheet, max(0, len(sheet) - _END_OF_SHEET))]
    n_rows = max(map(int, rows), default=0)
    n_columns = next((n for pattern, n in _WIDE if pattern.search(sheet)), _OTHER_COLUMNS)
    if n_rows * n_columns > _FEW_SPANNED:
        wide = set(_COLUMN.findall(sheet))
        n_columns = _column(max(wide, key=lambda one: (len(one), one))) if wide else _OF_ONE_LETTER
    return n_rows * n_columns


def _spanned_in_open_document(content: bytes) -> int:
    """Return how many cells lie in sheets with wide gaps before cells of rows, at most; 0 without such gaps.

    Examples
    --------
    >>> row = b"<t:table-row t:number-rows-repeated='5'><t:c t:number-columns-repeated='900'/>{}</t:table-row>"
    >>> _spanned_in_open_document(row.replace(b"{}", b"<t:c><p>A</p></t:c>")), _spanned_in_open_document(row)
    (5400, 0)
    """
    n_spanned = 0
    for table in _END_OF_TABLE.split(content):
        end, at, widest = _end_of_values(table), 0, 0
        while (gap := _GAP_IN_ROW.search(table, at, end)) is not None:
            at = table.find(b"table-row", gap.end())
            at = at if at >= 0 else len(table)
            row = table[gap.start() : at]
            widest = max(widest, sum(map(int, _GAP_IN_ROW.findall(row, 0, _end_of_values(row)))))
        if widest:
            n_spanned += widest * (sum(map(int, _ROWS.findall(table, 0, end))) + table.count(b"table-row", 0, end))
    return n_spanned


def _end_of_values(part: bytes) -> int:
    """Return where the last cell with a value is."""
    return max(0, *(part.rfind(one) for one in (b":p>", b"</p>", b"value-type")))


def _column(letters: bytes) -> int:
    """Return the number of a column.

    Examples
    --------
    >>> _column(b"A"), _column(b"AB"), _column(b"XFD")
    (1, 28, 16384)
    """
    number = 0
    for one in letters[:3]:
        number = 26 * number + one - ord("A") + 1
    return number
