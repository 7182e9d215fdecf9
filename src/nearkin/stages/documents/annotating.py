"""Results that are written into the records of a source, as columns beside its own."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.records import I64, Bool
from nearkin.stages.documents.encodings import is_told_by_line
from nearkin.stages.documents.values import ColumnPath

PREFIX = "nearkin_"
ANNOTATED = ("jsonl", "csv", "tsv", "parquet")
"""Formats whose records get the columns; documents of others become JSON Lines."""

_AT_ONCE = 10_000


class Annotations:
    """Columns for the records of the source called ``name``, each on its line of ``lines`` (int64)."""

    def __init__(self, name: str, lines: I64, columns: pa.Table) -> None:
        self._name = name
        self._columns = columns
        self._rows = np.full(int(lines.max(initial=0)) + 2, len(columns))  # those of other lines have no values
        self._rows[lines] = np.arange(len(lines))
        self._first, self._values = -1, list[dict[str, object]]()

    @property
    def has_text(self) -> Bool:
        """Whether each line, from line 0 on, is a document."""
        values = self._columns.columns[-1].is_valid().to_numpy()
        is_read: Bool = np.append(values, False)[self._rows]
        return is_read

    def json(self, record: bytes, line: int) -> bytes:
        r"""Return a line of JSON Lines with the columns as further members.

        Examples
        --------
        >>> columns = pa.table({"nearkin_group": [7], "nearkin_verdict": ["unique"]})
        >>> Annotations("a.jsonl", np.array([1]), columns).json(b'{"text": "It was"}\n', 1)
        b'{"text": "It was", "nearkin_group": 7, "nearkin_verdict": "unique"}\n'
        """
        values = self._of(line)
        if values is None:
            return record
        if f'"{PREFIX}'.encode() in record:
            self._refuse([name for name in values if f'"{name}"'.encode() in record])
        whole = record.rstrip()
        comma = b"" if whole[:-1].rstrip().endswith(b"{") else b", "
        return whole[:-1] + comma + json.dumps(values)[1:].encode() + record[len(whole) :]

    def delimited(self, record: bytes, line: int | None, delimiter: bytes) -> bytes:
        """Return a record of CSV or TSV with the columns as further fields; None stands for the header."""
        names = self._columns.column_names
        if line is None:
            self._refuse([name for name in names if name.encode() in record])
            fields = names
        else:
            values = self._of(line) or dict.fromkeys(names)
            fields = ["" if value is None else _field(value) for value in values.values()]
        whole = record.rstrip(b"\r\n")
        if not whole:  # an empty line is no record
            return record
        return delimiter.join([whole, *(field.encode() for field in fields)]) + record[len(whole) :]

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """Return the columns of a table with these columns."""
        self._refuse([name for name in self._columns.column_names if name in schema.names])
        for field in self._columns.schema:
            schema = schema.append(field)
        return schema

    def table(self, rows: pa.RecordBatch, first: int) -> pa.RecordBatch:
        """Return rows of a table, numbered from ``first``, with the columns."""
        lines = np.minimum(np.arange(first, first + len(rows)), len(self._rows) - 1)
        places = pa.array(np.where(self._rows[lines] < len(self._columns), self._rows[lines], 0))
        added = [column.combine_chunks().take(places) for column in self._columns.columns]
        return pa.RecordBatch.from_arrays([*rows.columns, *added], schema=self.schema(rows.schema))

    def _of(self, line: int) -> dict[str, object] | None:
        row = int(self._rows[line]) if line < len(self._rows) else len(self._columns)
        if row >= len(self._columns):
            return None
        first = row - row % _AT_ONCE
        if first != self._first:  # a Python object for each value of some records, not of all
            self._first, self._values = first, self._columns.slice(first, _AT_ONCE).to_pylist()
        values = self._values[row - first]
        return None if [*values.values()][-1] is None else values

    def _refuse(self, names: Sequence[str]) -> None:
        if names:
            raise SourceError(f"{self._name} has a column {names[0]!r} already. Omit --annotate, or rename the column.")


def _field(value: object) -> str:
    return f'"{json.dumps(value)}"' if isinstance(value, list) else str(value)


class Shortened(Annotations):
    """Texts without some of their parts, for the records of a source in JSON Lines or Parquet.

    Parameters
    ----------
    column
        One column of strings; in JSON Lines also the path of a string inside objects.
    cuts : mapping of line to list of (int, int)
        Parts to remove, in characters; ascending.
    """

    def __init__(
        self, name: str, lines: I64, column: str, cuts: Mapping[int, Sequence[tuple[int, int]]], encoding: str = "utf-8"
    ) -> None:
        super().__init__(name, lines, pa.table({PREFIX: np.ones(len(lines), np.bool_)}))
        self._column, self._cuts = column, cuts
        self._encoding = encoding if is_told_by_line(encoding) else "utf-8"

    def json(self, record: bytes, line: int) -> bytes:
        r"""Return a line with the shorter text; all other bytes, and other lines, stay.

        Examples
        --------
        >>> Shortened("a.jsonl", np.array([1]), "text", {1: [(0, 3)]}).json(b'{"text": "It was", "n": 1e999}\n', 1)
        b'{"text": "was", "n": 1e999}\n'
        """
        if line not in self._cuts:
            return record
        try:
            characters, encoding = record.decode(), "utf-8"
        except UnicodeDecodeError:
            encoding = self._encoding
            characters = record.decode(encoding, "surrogateescape")
        try:
            start, end = _value_bounds(characters, self._column)
        except (RecursionError, ValueError, LookupError) as error:
            raise SourceError(f"{self._name}, line {line}: the text is nested too deeply to be cut.") from error
        literal = characters[start:end]
        shorter = json.dumps(without(_JSON.decode(literal), self._cuts[line]), ensure_ascii="\\u" in literal)
        return (characters[:start] + shorter + characters[end:]).encode(encoding, "surrogateescape")

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """Return the columns of the table, which stay the same."""
        return schema

    def table(self, rows: pa.RecordBatch, first: int) -> pa.RecordBatch:
        """Return rows of a table, numbered from ``first``, with the shorter texts."""
        lines = [line for line in range(first, first + len(rows)) if line in self._cuts]
        if not lines:
            return rows
        column = rows.column(self._column)
        texts = column.to_pylist()
        for line in lines:
            texts[line - first] = without(texts[line - first], self._cuts[line])
        place = rows.schema.get_field_index(self._column)
        return rows.set_column(place, rows.schema.field(place), pa.array(texts, column.type))


_JSON = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)  # numbers can have any length
_WHITE = re.compile(r"[ \t\r\n]*")


def _value_bounds(record: str, column: str) -> tuple[int, int]:
    members = _members(record, record.index("{"))
    if column in members:
        return members[column]
    path = ColumnPath.of(column)
    bounds = members[path.column]
    for step in path.steps:
        bounds = _members(record, bounds[0])[step]
    return bounds


def _members(record: str, at: int) -> dict[str, tuple[int, int]]:
    def after_white(at: int) -> int:
        return _WHITE.match(record, at).end()  # type: ignore[union-attr]  # it matches everywhere

    members, at = dict[str, tuple[int, int]](), after_white(at + 1)
    while record[at] != "}":
        name, at = _JSON.raw_decode(record, at)
        at = after_white(after_white(at) + 1)
        _, end = _JSON.raw_decode(record, at)
        members[name] = at, end
        at = after_white(end)
        at = after_white(at + 1) if record[at] == "," else at
    return members


def without(text: str, parts: Sequence[tuple[int, int]]) -> str:
    """Return a text without some parts, which ascend.

    Examples
    --------
    >>> without("It was so", [(0, 3), (6, 9)])
    'was'
    """
    ends = [0, *(end for _, end in parts)]
    return "".join(text[a:b] for a, b in zip(ends, [*(start for start, _ in parts), len(text)], strict=True))
