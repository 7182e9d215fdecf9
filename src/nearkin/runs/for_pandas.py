"""Tables that pandas reads without turning integers into floating point."""

from __future__ import annotations

import json

import pyarrow as pa


def for_pandas(schema: pa.Schema) -> pa.Schema:
    """The schema, with a note by which pandas reads integers and truth values that may be null as they are.

    Without it pandas turns a column of integers with a null in it into float64, which holds no integer above 2**53
    exactly. Arrow reads the note in ``Table.to_pandas``, and so does ``pandas.read_parquet``. Fields that are declared
    without nulls stay as they are. What a column becomes follows from the schema alone, never from its values.

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
    """What pandas calls its type for such values with nulls; None where its usual type holds nulls."""
    if pa.types.is_boolean(type_):
        return "boolean"
    if not pa.types.is_integer(type_):
        return None
    sign = "Int" if pa.types.is_signed_integer(type_) else "UInt"
    return f"{sign}{type_.bit_width}"
