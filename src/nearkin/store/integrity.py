"""The integrity check of the database itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sqlalchemy import Connection

_MAX_FAULTS = 20


def database_faults(connection: Connection) -> Iterator[str]:
    """Yield what SQLite's check of its file and of references finds; PostgreSQL checks references when it writes."""
    if connection.dialect.name != "sqlite":
        return
    for (fault,) in connection.exec_driver_sql(f"PRAGMA integrity_check({_MAX_FAULTS})"):
        if fault != "ok":
            yield f"SQLite: {fault}"
    rows = connection.exec_driver_sql("PRAGMA foreign_key_check")
    for (table, referred), n_rows in Counter((table, referred) for table, _, referred, _ in rows).items():
        yield f"SQLite: {table}: {n_rows:,} without their row in {referred}"


def has_page_checksums(connection: Connection) -> bool | None:
    """Whether PostgreSQL compares a checksum of each page that it reads; None for SQLite, which has none."""
    if connection.dialect.name == "sqlite":
        return None
    return connection.exec_driver_sql("SHOW data_checksums").scalar() == "on"
