"""CSV and TSV for spreadsheets, in which no cell from a document can be run as a formula.

A spreadsheet runs a cell that begins with one of these signs; with an apostrophe before it, which is not shown, it is
text.

Source: OWASP, "CSV Injection", https://owasp.org/www-community/attacks/CSV_Injection.
"""

from __future__ import annotations

import contextlib
import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import ParameterError
from nearkin.formats import parquet

_FORMULA = "^'*(?:\\s*[=+\\-@＝＋－＠]|[\\t\\r\\n])"
"""Beginnings of a formula, and of a text that `safe` changed: both get an apostrophe in front."""


class SheetWriter:
    """Writes rows of delimited text to a file opened with ``newline=""``."""

    def __init__(self, file: IO[str], *, delimiter: str = ",", line_end: str = "\n") -> None:
        # Python quotes a carriage return only where lines end with one, and readers break lines at it
        self._writer = csv.writer(_Lines(file, line_end), delimiter=delimiter, lineterminator="\r\n")

    def write(self, row: Iterable[object]) -> None:
        """Write a row; text that a spreadsheet would run is made safe."""
        self._writer.writerow([safe(cell) if isinstance(cell, str) else cell for cell in row])

    def write_all(self, rows: Iterable[Iterable[object]]) -> None:
        """Write rows."""
        for row in rows:
            self.write(row)


class _Lines:
    def __init__(self, file: IO[str], line_end: str) -> None:
        self._file = file
        self._line_end = line_end

    def write(self, row: str) -> int:
        return self._file.write(row.removesuffix("\r\n") + self._line_end)


def safe(cell: str) -> str:
    """Make a text safe for a spreadsheet; `as_it_was` restores it."""
    return f"'{cell}" if re.match(_FORMULA, cell) else cell


def safe_column(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Make the texts of a column safe for a spreadsheet."""
    is_formula = pc.fill_null(pc.match_substring_regex(texts, _FORMULA), False)
    if not pc.any(is_formula).as_py():
        return texts
    empty = pa.scalar("", pa.large_string())
    mended = pc.binary_join_element_wise(pa.scalar("'", pa.large_string()), texts.filter(is_formula), empty)
    return pc.replace_with_mask(texts, is_formula, mended)


def as_it_was(cell: str) -> str:
    """Restore a cell that `safe` may have changed; other cells stay as they are."""
    return cell[1:] if cell.startswith("'") and re.match(_FORMULA, cell) else cell


SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def check_suffix(out: Path, option: str, *, may_have_none: bool = False) -> None:
    """Raise ParameterError for a name without a known format; one without a suffix may be Parquet."""
    if out.suffix.lower() not in SUFFIXES and (out.suffix or not may_have_none):
        other = ", or has no suffix (Parquet)" if may_have_none else ""
        raise ParameterError.of(option, f"a file that ends in {', '.join(SUFFIXES)}{other}", str(out))


@contextlib.contextmanager
def table_writer(path: Path, schema: pa.Schema, suffix: str) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Open a file for a table, and yield what writes a batch of it; the suffix is that of the final name."""
    suffix = suffix.lower() or ".parquet"
    if suffix == ".parquet":
        with parquet.table_writer(path, schema) as into:
            yield into.write_batch
        return
    with open(path, "w", encoding="utf-8", newline="") as file:
        if suffix not in _DELIMITERS:
            yield lambda batch: file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())
            return
        writer = SheetWriter(file, delimiter=_DELIMITERS[suffix])
        writer.write(schema.names)
        yield lambda batch: writer.write_all(zip(*(column.to_pylist() for column in batch.columns), strict=True))
