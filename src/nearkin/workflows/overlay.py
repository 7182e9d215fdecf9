"""Groups for review tools: a file with the field names of a tool, keyed on the control number."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from nearkin.errors import ParameterError
from nearkin.formats.delimited import SheetWriter
from nearkin.runs.files import published

KEY = "DOCID"
OVERLAY = pa.schema(
    [
        ("doc_id", pa.large_string()),
        ("group", pa.large_string()),  # id of the principal; null: in no group
        ("group_number", pa.int64()),
        ("is_principal", pa.bool_()),
        ("similarity", pa.float64()),  # to the principal, from 0 to 1
        ("copy_number", pa.int64()),  # of the set of exact copies, from 1; null: there is no copy
        ("measure", pa.large_string()),  # of the similarity, such as "jaccard words:5"
        ("reason", pa.large_string()),  # as in documents.parquet
    ]
)
"""A row for each document; null: no value."""
SUFFIXES = (".dat", ".csv")
_TEXTLESS = {"empty": "Empty", "numbers only": "Numbers Only", "ignored only": "Ignored Only"}
_KINDS = {"exact copy": "Exact", "near-duplicate": "Near"}
_ROWS_AT_A_TIME = 1 << 14

Row = Mapping[str, Any]
Value = Callable[[Row], str]


def _share(row: Row) -> str:
    """Return the similarity with at most six digits, rounded down."""
    return "" if row["similarity"] is None else f"{math.floor(1e6 * row['similarity'] + 1e-6) / 1e6:g}"


def _percent(row: Row) -> str:
    """Return the similarity in whole percent, rounded down: 100 means that all shingles are the same."""
    is_given = row["group"] is not None and row["similarity"] is not None
    return str(math.floor(100 * row["similarity"] + 1e-9)) if is_given else ""


def _principal(yes: str, no: str) -> Value:
    """Return the value for principals and for other documents; none for unreadable ones."""
    return lambda row: "" if row["reason"] == "unreadable" else yes if row["is_principal"] else no


def _given(column: str) -> Value:
    return lambda row: "" if row[column] is None else str(row[column])


def _percent_or_0(row: Row) -> str:
    return _percent(row) if row["group"] is not None or row["reason"] == "unreadable" else "0"


_PLAIN: Mapping[str, Value] = {
    "NEAR_DUP_GROUP": _given("group"),
    "NEAR_DUP_PRINCIPAL": _principal("Yes", "No"),
    "NEAR_DUP_SIMILARITY": _share,
    "NEAR_DUP_MEASURE": lambda row: row["measure"] if _share(row) else "",
    "NEAR_DUP_REASON": _given("reason"),
}
TOOLS: Mapping[str, Mapping[str, Value]] = {
    "relativity": {
        "Textual Near Duplicate Group": lambda row: row["group"] or _TEXTLESS.get(row["reason"], ""),
        "Textual Near Duplicate Principal": _principal("Yes", "No"),
        "Textual Near Duplicate Similarity": _percent_or_0,
    },
    "everlaw": _PLAIN,
    "reveal": {**_PLAIN, "DUPTYPE": lambda row: _KINDS.get(row["reason"], "")},
    "purview": {
        "ND_set": _given("group_number"),
        "Pivot_ID": _given("group"),
        "Marked_as_pivot": _principal("True", "False"),
        "Similarity_percent": _percent,
        "Duplicate_subset": _given("copy_number"),
    },
    "plain": _PLAIN,
}
"""Fields of each tool beside the control number; tools without fixed names for the groups of others get plain ones."""


def check_tool(tool: str) -> None:
    """Refuse a tool without field names."""
    if tool not in TOOLS:
        raise ParameterError.of("overlay", f"one of {', '.join(TOOLS)}", tool)


def write_overlay(table: pa.Table, tool: str, out: Path) -> None:
    """Write an overlay: a CSV in UTF-8, or a Concordance DAT in UTF-8 with a byte order mark, by its suffix.

    Parameters
    ----------
    table
        With the schema `OVERLAY`; further columns are text, and keep their names.
    """
    fields, is_dat = TOOLS[tool], out.suffix.lower() == ".dat"
    others = [name for name in table.column_names if name not in OVERLAY.names]
    with published(out) as aside, open(aside, "w", encoding="utf-8-sig" if is_dat else "utf-8", newline="") as file:
        writer = _DatWriter(file) if is_dat else SheetWriter(file, line_end="\r\n")
        writer.write([KEY, *fields, *others])
        for batch in table.to_batches(_ROWS_AT_A_TIME):
            for row in batch.to_pylist():
                writer.write(
                    [row["doc_id"], *(value(row) for value in fields.values()), *(row[name] or "" for name in others)]
                )


class _DatWriter:
    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, values: list[str]) -> None:
        self._file.write("\x14".join(f"þ{value.replace('þ', 'þþ')}þ" for value in values) + "\r\n")
