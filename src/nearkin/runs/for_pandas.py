"""Tables that pandas reads without turning integers into floating point."""

from __future__ import annotations

import json

import pyarrow as pa


def for_pandas(schema: pa.Schema) -> pa.Schema:
    """Return the schema with a note that makes pandas keep nullable integers and booleans.

    Without it, pandas converts an integer column that contains a null to float64, which cannot hold all integers above
    2**53 exactly. ``Table.to_pandas`` and ``pandas.read_parquet`` read the note. Fields declared without nulls stay
    unchanged. The type of a column depends on the schema alone, never on its values.

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
    """Return pandas' nullable type for such values; None if its usual type holds nulls."""
    if pa.types.is_boolean(type_):
        return "boolean"
    if not pa.types.is_integer(type_):
        return None
    sign = "Int" if pa.types.is_signed_integer(type_) else "UInt"
    return f"{sign}{type_.bit_width}"
