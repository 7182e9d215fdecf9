"""Upkeep of a database: its own integrity check, and files rewritten without deleted data."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from sqlalchemy import Connection, Engine, text

from nearkin.errors import CollectionError
from nearkin.store.connections import BETWEEN_TRIES_S, lock_timeout_ms
from nearkin.store.failures import busy
from nearkin.store.place import Place

_WITH_TEXTS = (
    "contents",
    "check_keys",
    "checked_contents",
    "origins",
    "search_words",
    "relations",
    "passage_places",
)


def refuse_unless_owner(connection: Connection, place: Place) -> None:
    """Refuse to purge unless the user owns the tables: only the owner can rewrite their files."""
    if connection.dialect.name != "postgresql":
        return
    owns = "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('contents')"
    if connection.exec_driver_sql(owns).scalar() is False:
        raise CollectionError(f"{place}: permission denied: only the owner of the collection can run nearkin purge.")


def rewriting_needs(connection: Connection, place: Place) -> str:
    """Say what `erase_freed` needs."""
    if connection.dialect.name == "postgresql":
        largest = "SELECT max(pg_total_relation_size(to_regclass(name))) FROM unnest(CAST(:names AS text[])) AS name"
        size = connection.execute(text(largest), {"names": list(_WITH_TEXTS)}).scalar_one()
        return (
            f"a purge rewrites the tables with texts one after another: it needs {size / 1e6:,.0f} MB of free space "
            "on the server, and for each table a time in which nobody reads or writes it"
        )
    pages = connection.exec_driver_sql("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
    return (
        f"a purge rewrites {place}: it needs {2 * pages.scalar_one() / 1e6:,.0f} MB of free space, half of it in the "
        "temporary directory, and a time in which nobody reads or writes"
    )


def erase_freed(engine: Engine, place: Place, patience_s: float) -> None:
    """Rewrite the tables that hold, or are derived from, texts.

    PostgreSQL's own log of writes and its backups are out of reach: the server recycles the log.
    """
    with engine.connect().execution_options(is_one_transaction=False) as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SET lock_timeout = {lock_timeout_ms(patience_s)}")
            has_shingles = connection.exec_driver_sql("SELECT to_regclass('shingles')").scalar() is not None
            for table in (*_WITH_TEXTS, *(["shingles"] if has_shingles else [])):
                connection.exec_driver_sql(f"VACUUM FULL {table}")
            connection.exec_driver_sql("RESET lock_timeout")
            return
        driver = connection.connection.driver_connection
        if driver is None:
            raise busy(place)
        # a transaction of SQLAlchemy would begin first, in which VACUUM is refused
        driver.execute("PRAGMA secure_delete = ON")
        driver.execute("VACUUM")
        until = time.monotonic() + patience_s
        while driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:  # it waits for readers, not for its like
            if time.monotonic() > until:
                raise busy(place)
            time.sleep(BETWEEN_TRIES_S)


_MAX_FAULTS = 20


def database_faults(connection: Connection) -> Iterator[str]:
    """Yield what SQLite's check of its file and of references finds."""
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
