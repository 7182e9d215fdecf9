"""Files of a database, rewritten without deleted data: freed pages, old versions of rows, the write-ahead log."""

from __future__ import annotations

from sqlalchemy import Connection, Engine

from nearkin.errors import CollectionError
from nearkin.store.failures import busy
from nearkin.store.place import Place

_WAIT_MS = 2_000
_WITH_TEXTS = ("contents", "profiles", "check_keys", "checked_contents", "origins", "problems")


def refuse_unless_owner(connection: Connection, place: Place) -> None:
    """Refuse to purge if the user does not own the tables: only the owner can rewrite their files.

    Raises
    ------
    CollectionError
    """
    if connection.dialect.name != "postgresql":
        return
    owns = "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('contents')"
    if connection.exec_driver_sql(owns).scalar() is False:
        raise CollectionError(f"{place}: permission denied: only the owner of the collection can run nearkin purge.")


def erase_freed(engine: Engine, place: Place) -> None:
    """Rewrite the tables that hold, or are derived from, texts.

    PostgreSQL's own log of writes and its backups are out of reach: the server recycles the log.

    Raises
    ------
    CollectionBusyError
        Another process reads or writes.
    """
    with engine.connect().execution_options(is_one_transaction=False) as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SET lock_timeout = {_WAIT_MS}")
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
        (is_busy, _, _) = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if is_busy:
            raise busy(place)
