"""Tables of results: published whole, and read by pandas without turning integers into floating point."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from nearkin.formats import parquet
from nearkin.runs.files import published

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_ROWS_AT_ONCE = 1 << 14


@contextlib.contextmanager
def published_table(path: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """Yield a writer of a Parquet file, which appears when it is complete."""
    with published(path) as aside, parquet.table_writer(aside, for_pandas(schema)) as writer:
        yield writer


def write_rows(path: Path, schema: pa.Schema, rows: Iterable[Sequence[object]]) -> None:
    """Write a Parquet file of rows that come one after another, with row groups of fixed size."""
    coming = iter(rows)
    with published_table(path, schema) as writer:
        while block := list(islice(coming, _ROWS_AT_ONCE)):
            columns = zip(zip(*block, strict=True), schema.types, strict=True)
            writer.write_table(pa.Table.from_arrays([pa.array(*column) for column in columns], schema=schema))


def for_pandas(schema: pa.Schema) -> pa.Schema:
    """Return the schema with a note that makes pandas keep nullable integers and booleans.

    Otherwise pandas converts an integer column with a null to float64.

    Examples
    --------
    >>> table = pa.table({"id": [9007199254740993, None]})
    >>> table.cast(for_pandas(table.schema)).to_pandas()["id"].tolist()
    [9007199254740993, <NA>]
    """
    columns = [
        {"name": field.name, "field_name": field.name, "pandas_type": str(field.type), "numpy_type": name,
         "metadata": None}
        for field in schema
        if field.nullable and (name := _nullable_name(field.type)) is not None
    ]  # fmt: skip
    note = {"index_columns": [], "column_indexes": [], "columns": columns}
    return schema.with_metadata({**(schema.metadata or {}), b"pandas": json.dumps(note).encode()})


def _nullable_name(type_: pa.DataType) -> str | None:
    if pa.types.is_boolean(type_):
        return "boolean"
    if not pa.types.is_integer(type_):
        return None
    sign = "Int" if pa.types.is_signed_integer(type_) else "UInt"
    return f"{sign}{type_.bit_width}"
