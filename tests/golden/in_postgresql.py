"""A stored SQLite collection of any schema, copied table by table to PostgreSQL, as that version would have made it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from places import SomePlace

_TYPES = {" BLOB": " BYTEA", " WITHOUT ROWID": ""}


def copy_to_postgresql(stored: Path, place: SomePlace) -> None:
    """Make the tables, views and indexes of a store in the schema of a place, and insert all rows."""
    assert place.server is not None
    with closing(sqlite3.connect(stored / "nearkin.sqlite")) as source:
        made = source.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
        ).fetchall()
        with closing(place.server.connection()) as target, closing(target.cursor()) as cursor:
            cursor.execute(f"CREATE SCHEMA {place.schema}")
            cursor.execute(f"SET search_path TO {place.schema}")
            for kind, name, statement in made:
                for word, other in _TYPES.items():
                    statement = statement.replace(word, other)
                cursor.execute(statement)
                if kind == "table":
                    _copy_rows(source, cursor, name)
            target.commit()


def _copy_rows(source: sqlite3.Connection, cursor: object, table: str) -> None:
    columns = source.execute(f'PRAGMA table_info("{table}")').fetchall()
    are_bools = [kind == "BOOLEAN" for _, _, kind, *_ in columns]
    values = ", ".join(["%s"] * len(columns))
    for row in source.execute(f'SELECT * FROM "{table}"'):
        given = [bool(one) if is_bool else one for one, is_bool in zip(row, are_bools, strict=True)]
        cursor.execute(f'INSERT INTO "{table}" VALUES ({values})', given)  # type: ignore[attr-defined]
