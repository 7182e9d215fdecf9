"""Order of text that is the same in every database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, collate


def by_bytes(connection: Connection, column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the column compared by its bytes, as in SQLite, whatever the collation of a PostgreSQL database."""
    return collate(column, "C") if connection.dialect.name == "postgresql" else column
