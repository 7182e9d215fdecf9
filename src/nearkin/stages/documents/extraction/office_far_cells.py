"""Workbooks with few cells far from each other, which are written again without gaps before xberg reads them.

xberg keeps each cell between the first and the last one of a sheet in memory, about 60 bytes for each, before its limit
of cells counts: a text in A1 and a number in XFD4000 take 4 GB.
"""

from __future__ import annotations

import re
import zipfile

from nearkin.stages.documents.extraction.office_gaps import SHEET_ELEMENTS, plain_xml
from nearkin.stages.documents.extraction.office_packages import UNREADABLE
from nearkin.stages.documents.extraction.office_usual_form import is_too_big

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
