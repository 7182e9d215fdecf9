"""JSON Lines and Parquet files of values of documents → named columns of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from nearkin.errors import SourceError
from nearkin.formats import parquet
from nearkin.workflows.reading.sheets import json_objects

_RECORDS = (".jsonl", ".ndjson")
_PACKED = (".gz", ".bz2", ".xz", ".zst")


@dataclass(frozen=True, slots=True)
class NamedRows:
    """Rows of a file with named columns.

    Parameters
    ----------
    path : Path
    names : tuple of str
    rows : sequence of tuple
        Values as they were read; None: missing.
    lines : sequence of int
        Line, or row, of each in the file.
    """

    path: Path
    names: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]
    lines: Sequence[int]

    def __len__(self) -> int:
        return len(self.rows)

    def text(self, column: int, row: int) -> str:
        """Return a value as text; empty if it is missing.

        Raises
        ------
        SourceError
            It is neither text, a number, a date nor true or false.
        """
        value = self.rows[row][column]
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, datetime):
            is_day = (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0)
            return value.date().isoformat() if is_day else value.isoformat()
        if isinstance(value, date):
            return value.isoformat()
        if isinstance(value, str | int | float):
            return str(value)
        raise SourceError(
            f"{self.path}:{self.lines[row]}: {self.names[column]!r} must be text, a number, a date or true or false, "
            f"but is {value!r}."
        )


def table_rows(path: Path, encoding: str) -> NamedRows | None:
    r"""Read a .jsonl, .ndjson or .parquet file, which may be compressed; None for a file with another suffix.

    Raises
    ------
    SourceError
        The file cannot be read, or is empty.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "labels.jsonl")
    ...     n = file.write_text('{"id": "a", "label": true}\n{"id": 7}\n')
    ...     found = table_rows(file, "utf-8")
    >>> found.names, [(found.text(0, i), found.text(1, i)) for i in range(len(found))]
    (('id', 'label'), [('a', 'true'), ('7', '')])
    """
    suffix = next((one.lower() for one in reversed(path.suffixes) if one.lower() not in _PACKED), "")
    if suffix == ".parquet":
        return _of_parquet(path)
    return _of_records(path, encoding) if suffix in _RECORDS else None


def _of_records(path: Path, encoding: str) -> NamedRows:
    records, lines = list[dict[str, object]](), list[int]()
    for number, record in json_objects(path, encoding):
        records.append(record)
        lines.append(number)
    if not records:
        raise SourceError(f"{path} is empty. It must have a member with the ids and one with the labels.")
    names = tuple(dict.fromkeys(name for one in records for name in one))
    return NamedRows(path, names, [tuple(one.get(name) for name in names) for one in records], lines)


def _of_parquet(path: Path) -> NamedRows:
    try:
        with parquet.open_table(path) as file:
            table = file.read()
    except parquet.UNREADABLE as error:
        raise SourceError(f"{path}: {parquet.why_unreadable(path, error)}.") from error
    columns = [column.to_pylist() for column in table.columns]
    if not len(table):
        raise SourceError(f"{path} is empty. It must have a column of ids and one of labels.")
    return NamedRows(path, tuple(table.column_names), list(zip(*columns, strict=True)), range(1, len(table) + 1))
