"""Tables for other programs: CSV, TSV, JSON Lines or Parquet, according to the file name."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from nearkin.errors import ParameterError
from nearkin.formats import parquet
from nearkin.formats.delimited import SheetWriter
from nearkin.runs.files import published

if TYPE_CHECKING:
    from nearkin.collection.conflicts.by_group import Conflicts

_FORMATS = (".csv", ".tsv", ".jsonl", ".parquet")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_ROWS_AT_A_TIME = 1 << 14


def check_format(out: Path, option: str = "out") -> None:
    """Refuse a file name without a known format, before any work is done.

    Raises
    ------
    ParameterError
    """
    if out.suffix.lower() not in _FORMATS:
        raise ParameterError.of(option, "nearkin", f"a file that ends in {', '.join(_FORMATS)}", str(out))


def write_table(table: pa.Table, out: Path) -> None:
    """Write a table, completely or not at all."""
    write_batches(table.schema, table.to_batches(max_chunksize=_ROWS_AT_A_TIME), out)


def write_batches(schema: pa.Schema, batches: Iterable[pa.RecordBatch], out: Path) -> None:
    """Write a table that comes in batches, completely or not at all."""
    from nearkin.workflows.collection.overlays import replacing_overlay  # slow to import

    with replacing_overlay(out), published(out) as aside:
        if out.suffix.lower() == ".parquet":
            with parquet.table_writer(aside, schema) as into:
                for batch in batches:
                    into.write_batch(batch)
            return
        with open(aside, "w", encoding="utf-8", newline="") as file:
            delimiter = _DELIMITERS.get(out.suffix.lower())
            writer = SheetWriter(file, delimiter=delimiter or ",")
            if delimiter:
                writer.write(schema.names)
            for batch in batches:
                if delimiter:
                    writer.write_all(zip(*(column.to_pylist() for column in batch.columns), strict=True))
                else:
                    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())


def table_of_conflicts(found: Conflicts, label_column: str) -> pa.Table:
    """Return a row for each conflict, by group, with the name of the column of the labels."""
    named = pa.array([label_column] * len(found.table), pa.large_string())
    return found.table.add_column(found.table.schema.get_field_index("is_letters_only"), "label_column", named)
