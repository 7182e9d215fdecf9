"""Tables for other programs: CSV, TSV, JSON Lines or Parquet, according to the file name."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from nearkin.collection.conflicts import Conflicts
from nearkin.errors import ParameterError
from nearkin.formats import parquet
from nearkin.formats.delimited import SheetWriter
from nearkin.runs.files import published

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
    with published(out) as aside:
        if out.suffix.lower() == ".parquet":
            parquet.write_table(table, aside)
            return
        with open(aside, "w", encoding="utf-8", newline="") as file:
            delimiter = _DELIMITERS.get(out.suffix.lower())
            writer = SheetWriter(file, delimiter=delimiter or ",")
            if delimiter:
                writer.write(table.column_names)
            for batch in table.to_batches(max_chunksize=_ROWS_AT_A_TIME):
                if delimiter:
                    writer.write_all(zip(*(column.to_pylist() for column in batch.columns), strict=True))
                else:
                    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())


def table_of_conflicts(found: Conflicts, label_column: str) -> pa.Table:
    """Return a row for each conflict, the worst first, with the name of the column of the labels."""
    fields = [("id_a", pa.large_string()), ("label_a", pa.large_string()), ("id_b", pa.large_string())]
    fields += [("label_b", pa.large_string()), ("relative_distance", pa.float64()), ("edit_similarity", pa.float64())]
    fields += [("jaccard", pa.float64()), ("passage", pa.large_string()), ("label_column", pa.large_string())]
    rows = [{**one.to_dict(), "label_column": label_column} for one in found.conflicts]
    return pa.Table.from_pylist(rows, pa.schema(fields))
