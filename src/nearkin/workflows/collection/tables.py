"""Tables for other programs: CSV, TSV, JSON Lines or Parquet, according to the file name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from nearkin.formats.by_suffix import check_suffix, table_writer
from nearkin.runs.files import published

if TYPE_CHECKING:
    from nearkin.collection.conflicts.by_group import Conflicts

_ROWS_AT_A_TIME = 1 << 14


def check_format(out: Path, option: str = "out") -> None:
    """Refuse a file name without a known format, before any work is done.

    Raises
    ------
    ParameterError
    """
    check_suffix(out, option)


def write_table(table: pa.Table, out: Path) -> None:
    """Write a table, completely or not at all."""
    write_batches(table.schema, table.to_batches(max_chunksize=_ROWS_AT_A_TIME), out)


def write_batches(schema: pa.Schema, batches: Iterable[pa.RecordBatch], out: Path) -> None:
    """Write a table that comes in batches, completely or not at all."""
    from nearkin.workflows.collection.overlays import replacing_overlay  # commands that write no table start faster

    with replacing_overlay(out), published(out) as aside, table_writer(aside, schema, out.suffix) as write:
        for batch in batches:
            write(batch)


def table_of_conflicts(found: Conflicts, label_column: str) -> pa.Table:
    """Return a row for each conflict, by group, with the name of the column of the labels."""
    named = pa.array([label_column] * len(found.table), pa.large_string())
    return found.table.add_column(found.table.schema.get_field_index("is_letters_only"), "label_column", named)
