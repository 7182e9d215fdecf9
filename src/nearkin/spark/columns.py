"""Checks of a data frame: it has the requested columns, and Spark can send their types to Python."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING

import pyarrow as pa

from nearkin.errors import ParameterError
from nearkin.stages.documents.columns import listed_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def check_named(df: DataFrame, named: Sequence[tuple[str, str | None]], *, of: str, place: str) -> None:
    """Raise ParameterError unless the columns exist and the names of all columns differ.

    Parameters
    ----------
    df : DataFrame
    named : sequence of (str, str or None)
        Parameters of the function that the user called, and the columns that they name.
    of : str
        Function that the user called.
    place : str
        Name of the data frame in that function.
    """
    for name, value in named:
        if value is not None and value not in df.columns:
            raise ParameterError.of(name, f"a column of {place} ({listed_columns(df.columns)})", value)
    if repeated := sorted({name for name in df.columns if df.columns.count(name) > 1}):
        raise ParameterError(f"The column names of a data frame must be unique. Got {repeated[0]!r} twice.")


def arrow_schema(df: DataFrame, columns: Sequence[str] = ()) -> pa.Schema:
    """Return the Arrow schema in which Spark sends the rows to Python, for all or some columns.

    Raises
    ------
    ParameterError
        Spark cannot send a column of this type. Spark itself would report this only when the result is computed.
    """
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    # Spark 4.3 wants to be told the time zone of times, earlier releases take none
    is_asked = "timezone" in signature(to_arrow_schema).parameters
    converted = partial(to_arrow_schema, timezone="UTC") if is_asked else to_arrow_schema
    found = []
    for field in df.schema.fields:
        if columns and field.name not in columns:
            continue
        try:
            found += converted(StructType([field]))
        except PySparkTypeError as error:
            raise ParameterError(
                f"Column {field.name!r} has the type {field.dataType.simpleString()}, which Spark cannot send to "
                "Python, and rows go through Python. Drop the column, or cast it."
            ) from error
    return pa.schema(found)
