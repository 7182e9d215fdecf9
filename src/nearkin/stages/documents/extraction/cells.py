"""Cells of tables: empty ones before an amount are marked, and amounts have the signs of their formats."""

from __future__ import annotations

import html
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence

from nearkin.stages.documents.extraction.reading import ARCHIVE_FAULTS
from nearkin.stages.number_words import INVISIBLE

_MAX_ANSWER = 30  # characters of an amount


def with_empty_cells(cells: Iterable[str]) -> list[str]:
    r"""Mark empty cells that stand before an amount or a tick, whose column would be unknown without them.

    Examples
    --------
    >>> with_empty_cells(["Rent", "", "500", ""])
    ['Rent', '\u2063', '500', '']
    """
    marked, is_answer = list[str](), False
    for cell in reversed([*cells]):
        if content := cell.strip():
            is_answer = len(content) == 1 or (len(content) <= _MAX_ANSWER and any(map(str.isdecimal, content)))
        marked.append(INVISIBLE + cell if is_answer and not content else cell)
    return marked[::-1]


def with_cells(
    text: str, tables: Iterable[tuple[int, Sequence[Sequence[str]]]], formats: Mapping[int, list[tuple[str, str]]]
) -> str:
    """Return the text of tables, each with its sheet, with empty cells marked and the signs of formats at amounts."""
    parts, at = list[str](), 0
    for sheet, rows in tables:
        signs = iter(formats.get(sheet, ()))
        for cells in rows:
            row = [_with_sign(cell, *next(signs, ("", ""))) if cell else cell for cell in cells]
            written, plain = " ".join(with_empty_cells(row)).strip(), " ".join(cells).strip()
            if (start := text.find(plain, at)) < 0:
                break
            parts += [text[at:start], written]
            at = start + len(plain)
    return "".join([*parts, text[at:]])


def _with_sign(cell: str, value: str, sign: str) -> str:
    """Return a number as its format shows it."""
    if not sign or cell != value:
        return cell
    return f"{float(cell) * 100:.12g} %" if sign == "%" else f"{cell} {sign}"


_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_SIGN = re.compile(r'\[\$([^\]-]{1,8})[^\]]*\]|"\s*([^\W\d_]{1,8})\s*"|([$€£¥₹%])')
"""A currency or unit in the format of a cell."""
_OWN_FORMATS = dict.fromkeys(map(str, (*range(5, 9), 42, 44)), "$") | {"9": "%", "10": "%"}
_CELL = re.compile(
    rb"<c\b([^<>]*)(?<!/)>(?:<f\b[^<>]*(?:/>|>[^<]*</f>))?<(?:v>(?:(-?\d+(?:\.\d+)?(?:E[+-]\d+)?)<|[^<])|is>)"
)
_STYLE, _SHEET = re.compile(rb'\bs="(\d+)"'), re.compile(r"xl/worksheets/sheet(\d{1,9})\.xml")


def formats_of_cells(archive: zipfile.ZipFile) -> dict[int, list[tuple[str, str]]]:
    """Return the number in each filled cell, and the sign that its format adds, by the numbers of the sheets."""
    sheets = {int(match[1]): name for name in archive.namelist() if (match := _SHEET.fullmatch(name))}
    try:
        styles = archive.read("xl/styles.xml").decode("utf-8", "replace")
        signs = dict(_OWN_FORMATS)
        for tag in re.findall(r"<numFmt\b[^<>]*>", styles):
            attributes = dict(_ATTRIBUTE.findall(tag))
            if sign := _SIGN.search(html.unescape(attributes.get("formatCode", ""))):
                signs[attributes.get("numFmtId", "")] = next(filter(None, sign.groups()))
        formats = re.findall(r'<xf\b[^<>]*?numFmtId="(\d+)"', styles[styles.find("<cellXfs") :])
        by_style = {str(i).encode(): signs[number] for i, number in enumerate(formats) if number in signs}
        cells = {number: _CELL.findall(archive.read(name)) for number, name in sheets.items() if by_style}
    except ARCHIVE_FAULTS:
        return {}
    return {
        number: [
            (value.decode(), by_style.get(style[1], "") if (style := _STYLE.search(attributes)) else "")
            for attributes, value in filled
        ]
        for number, filled in cells.items()
    }
