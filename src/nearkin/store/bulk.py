"""Bulk inserts, and conditions, each in the way that suits the database."""

from __future__ import annotations

import contextlib
import re
import struct
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    BigInteger,
    BindParameter,
    Column,
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Table,
    bindparam,
    collate,
    func,
    select,
)

from nearkin.errors import CollectionError

MAX_NAMED = 4_096
"""Values bound in one statement; PostgreSQL allows at most 65,535, SQLite 32,766."""
Columns = Sequence[Sequence[Any]]

_HEADER, _TRAILER = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0), b"\xff\xff"


def insert_rows(connection: Connection, table: Table, columns: Columns) -> None:
    """Insert rows column by column: as tuples into SQLite, by a binary COPY into PostgreSQL."""
    if not columns or not len(columns[0]):
        return
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(columns))
        connection.exec_driver_sql(f"INSERT INTO {table.name} VALUES ({marks})", list(zip(*columns, strict=True)))
        return
    with _copying_into(connection, table) as copy:
        copy.set_types([column.type.compile(connection.dialect).lower() for column in table.columns])
        for row in zip(*columns, strict=True):
            copy.write_row(row)


@contextlib.contextmanager
def _copying_into(connection: Connection, table: Table) -> Iterator[Any]:
    driver = connection.connection.driver_connection
    if driver is None:
        raise CollectionError("The connection was closed before its rows were stored.")
    with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} FROM STDIN WITH (FORMAT binary)") as copy:
        yield copy


def number_after_last(connection: Connection, column: Column[int]) -> int:
    """Return one more than the highest number in a column; 0 if empty."""
    last = connection.execute(select(func.max(column))).scalar()
    return 0 if last is None else last + 1


def n_rows(connection: Connection, source: FromClause, *conditions: ColumnElement[bool]) -> int:
    """Count the rows of a table, or of a join, that meet all conditions."""
    return int(connection.execute(select(func.count()).select_from(source).where(*conditions)).scalar_one())


def in_slices(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield the values in slices that fit one statement."""
    for start in range(0, len(values), MAX_NAMED):
        yield values[start : start + MAX_NAMED]


def among(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition for one of the ``values`` of a statement that is made once, which saves most of its time."""
    return column.in_(bindparam("values", expanding=True))


def written_out(numbers: Collection[int]) -> BindParameter[int]:
    """Return integers for a condition with ``in_`` that cannot be sliced; any number fits.

    Examples
    --------
    >>> from sqlalchemy import column
    >>> print(column("number").not_in(written_out([7, 3])).compile(compile_kwargs={"literal_binds": True}))
    (number NOT IN (3, 7))
    """
    return bindparam(None, sorted(numbers), Integer(), unique=True, expanding=True, literal_execute=True)


def is_storable(text: str) -> bool:
    r"""Whether both databases can store a text and compare with it."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def is_name(text: str) -> bool:
    r"""Whether both databases can store a text, and it is one line, as an id must be.

    Examples
    --------
    >>> is_name("née"), is_name("a\nb"), is_name("a\x1bb")
    (True, False, False)
    """
    return is_storable(text) and not _CONTROL.search(text)


def as_name(text: str) -> str:
    """Return a text as an index can have it: a mark for each control character, and cut if it is too long.

    Examples
    --------
    >>> len(as_name("a" * 2_000)), len(as_name("a" * 2_001))
    (2000, 451)
    """
    name = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
    return name if len(name.encode()) <= 2_000 else f"{name[:450]}…"


def insert_integers(connection: Connection, table: Table, columns: Sequence[NDArray[np.int64]]) -> None:
    """Insert rows into BIGINT and INTEGER columns, without a Python object per number where possible."""
    if not len(columns[0]):
        return
    if connection.dialect.name == "sqlite":
        insert_rows(connection, table, [column.tolist() for column in columns])
        return
    sizes = [8 if isinstance(column.type, BigInteger) else 4 for column in table.columns]
    fields = [field for i, size in enumerate(sizes) for field in ((f"size_{i}", ">i4"), (f"value_{i}", f">i{size}"))]
    rows = np.zeros(len(columns[0]), np.dtype([("width", ">i2"), *fields]))
    rows["width"] = len(columns)
    for i, (size, column) in enumerate(zip(sizes, columns, strict=True)):
        rows[f"size_{i}"], rows[f"value_{i}"] = size, column
    with _copying_into(connection, table) as copy:
        copy.write(b"".join((_HEADER, rows.tobytes(), _TRAILER)))


def by_bytes(connection: Connection, column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the column compared by its bytes, as in SQLite, whatever the collation of a PostgreSQL database."""
    return collate(column, "C") if connection.dialect.name == "postgresql" else column
