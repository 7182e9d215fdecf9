"""Workbooks with cells far away from the others: all their cells are read."""

from __future__ import annotations

import io
import zipfile

import pytest

from extraction_files import extracted, text_of, written
from generator import office_files as make
from nearkin.stages.documents.extraction.office_gaps import has_far_cells, without_gaps

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OPEN = " ".join(f'xmlns:{one}="urn:oasis:names:tc:opendocument:xmlns:{one}:1.0"' for one in ("office", "table", "text"))
WORDS = ["It was dark", "and stormy", "in the last row"]


def workbook(*places: str) -> bytes:
    """Sheet with a text at each place, and a styled cell without a value below the first one."""
    cells = zip([*places[:1], "A2", *places[1:]], [WORDS[0], "", *WORDS[1:]])
    value = "<is><t>{}</t></is>"
    rows = "".join(
        f'<x:row r="{place.lstrip("ABCDEFXZ")}"><x:c r="{place}" t="inlineStr">'
        f"{value.format(text).replace('<', '<x:').replace('<x:/', '</x:') if text else ''}</x:c></x:row>"
        for place, text in cells
    )
    sheet = f'<x:worksheet xmlns:x="{SHEET}"><x:sheetData>{rows}</x:sheetData></x:worksheet>'
    with zipfile.ZipFile(io.BytesIO(make.xlsx([]))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    return make.zipped(parts | {"xl/worksheets/sheet1.xml": sheet})


def open_workbook(gap: str, columns: str = "1") -> bytes:
    cells = [f'<table:table-cell office:value-type="string"><text:p>{one}</text:p></table:table-cell>' for one in WORDS]
    empty = f'<table:table-row table:number-rows-repeated="{gap}"><table:table-cell/></table:table-row>'
    between = f"<table:table-cell table:number-columns-repeated='{columns}'/>"
    rows = f"<table:table-row>{cells[0]}{between}{cells[1]}</table:table-row>{empty}<table:table-row>{cells[2]}"
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return make.zipped({
        "mimetype": kind,
        "content.xml": f"<office:document-content {OPEN}><office:body><office:spreadsheet><table:table table:name='S'>"
        f"{rows}</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>",
        "META-INF/manifest.xml": '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<m:file-entry m:full-path="/" m:media-type="{kind}"/></m:manifest>',
    })  # fmt: skip


def test_cells_in_the_last_row_and_in_the_last_column_are_read(pool, tmp_path):
    files = {
        "rows.xlsx": workbook("A1", "A3", "A100002"),
        "cells.xlsx": workbook("A1", "XFD3", "A130"),
        "a.ods": open_workbook("100001"),
    }
    found = extracted(pool, written(tmp_path, files))
    assert {name: one.origin.exception for name, one in found.items()} == dict.fromkeys(files)
    assert {name: " ".join(text_of(one).split()[1:]) for name, one in found.items()} == dict.fromkeys(
        files, " ".join(WORDS)
    )


@pytest.mark.parametrize("change", ["", "<!-- -->", "<![CDATA[]]>", "utf-16"])
def test_cells_far_from_each_other_are_read_in_little_memory(change, pool, tmp_path):
    sheet, name = workbook("A1", "A3", "XFD5000"), "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(io.BytesIO(sheet)) as archive:
        parts = {one: archive.read(one) for one in archive.namelist()}
    if change == "utf-16":
        parts[name] = f"<?xml version='1.0' encoding='utf-16'?>{parts[name].decode()}".encode("utf-16")
    else:
        parts[name] = parts[name].replace(b"</x:sheetData>", f"{change}</x:sheetData>".encode())
    files = {"a.xlsx": make.zipped(parts)} | ({} if change else {"a.ods": open_workbook("5000", columns="16000")})
    for data, kind in ((data, name[-4:].strip(".")) for name, data in files.items()):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            assert has_far_cells(archive, kind, 1 << 20, 1000)
    found = extracted(pool, written(tmp_path, files))
    assert {name: (one.origin.exception, " ".join(text_of(one).split()[1:])) for name, one in found.items()} == (
        dict.fromkeys(files, (None, " ".join(WORDS)))
    )


def test_usual_workbooks_have_no_far_cells():
    for data, kind in ((workbook("A1", "A3", "Z1000"), "xlsx"), (open_workbook("5000"), "ods")):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            assert not has_far_cells(archive, kind, 1 << 20, 1000)


def test_a_workbook_of_too_many_cells_is_not_written_again():
    with zipfile.ZipFile(io.BytesIO(workbook("A1", "A3", "B9"))) as archive:
        assert without_gaps(archive, "xlsx", 1 << 20, 1000, 3) is not None
        assert without_gaps(archive, "xlsx", 1 << 20, 1000, 2) is None
