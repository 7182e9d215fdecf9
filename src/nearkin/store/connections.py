"""Connections to a collection's database and their transactions."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.pool import QueuePool

from nearkin.errors import CollectionError, ReplacedCollectionError
from nearkin.store.failures import busy
from nearkin.store.place import FILE, Place

BUSY_S = 2.0
"""Default time that a writer waits for another writer."""
BETWEEN_TRIES_S = 0.05
_HAS_LOG, _LOG, _CACHE = "nearkin has log", "nearkin log", "nearkin cache"
_READING_KIB, _WRITING_KIB = 1 << 13, 1 << 18
"""Maximum sizes of SQLite's page cache. Two indexes of a million documents fill 150 MB, and new rows fall anywhere in
them: with a smaller cache each page is written to the log again and again. For a reader the system has the pages."""
_MAX_IDLE = 16
"""Connections that stay open: the threads of a service, each with its prepared statements."""
logging.getLogger("sqlalchemy").addHandler(logging.NullHandler())  # lost connections are reported by our own errors


def engine_of(place: Place, wait_s: float, file: ReadOnlyFile | None = None) -> Engine:
    """Return an engine for the kind of database; ``file`` is SQLite's, if only read."""
    if place.directory is None:
        return _postgresql_engine(place, wait_s)
    return _sqlite_engine(place, wait_s, file, OpenedFile(place, place.directory / FILE))


def _sqlite_engine(place: Place, wait_s: float, file: ReadOnlyFile | None, opened: OpenedFile) -> Engine:
    if file is None:
        engine = create_engine(place.url, pool_size=_MAX_IDLE, poolclass=QueuePool, connect_args={"timeout": wait_s})
    else:
        engine = create_engine(
            place.url, pool_size=_MAX_IDLE, poolclass=QueuePool, creator=lambda: file.connect(wait_s)
        )

    def set_up(connection: Any, record: Any) -> None:
        record.info[_HAS_LOG] = _set_up_sqlite(connection, is_read_only=file is not None)
        opened.connected()

    def begin(connection: Connection) -> None:
        _begin_sqlite(connection)
        opened.check()
        before_commit(connection)

    def before_commit(connection: Connection) -> None:
        if _is_writing(connection):
            opened.check()
            if connection.info[_HAS_LOG]:
                opened.check_log(connection)

    event.listen(engine, "do_connect", lambda *_: opened.before_connecting())
    event.listen(engine, "connect", set_up)
    event.listen(engine, "begin", begin)
    event.listen(engine, "commit", before_commit)
    return engine


@contextlib.contextmanager
def transaction(engine: Engine, *, is_writing: bool, wait_s: float | None = None) -> Iterator[Connection]:
    """Open a transaction that sees one state of the database; SQLite waits for another writer, by default as usual."""
    with engine.connect().execution_options(is_writing=is_writing, wait_s=wait_s) as connection, connection.begin():
        yield connection


def lock(connection: Connection, place: Place, wait_s: float, collection: str | None = None) -> None:
    """Become the only writer until the transaction ends; SQLite's write transactions are exclusive already."""
    if place.schema is None:
        return
    fact = "NULL" if collection is None else "(SELECT value FROM facts WHERE name = 'collection')"
    key = text(f"SELECT pg_try_advisory_xact_lock(hashtext('nearkin'), hashtext(:name)), {fact}")
    given_up_at = time.monotonic() + wait_s
    while not (row := connection.execute(key, {"name": place.schema}).one())[0]:
        if time.monotonic() > given_up_at:
            raise busy(place)
        time.sleep(BETWEEN_TRIES_S)
    if row[1] != collection:
        raise replaced(place, f"the schema {place.schema}")


def _set_up_sqlite(connection: Any, *, is_read_only: bool) -> bool:
    """Configure a connection; return whether it writes to a log beside the file."""
    connection.isolation_level = None  # we begin transactions ourselves instead of the driver
    # SQLite's own knows only a to z
    connection.create_function("lower", 1, lambda text: text and str(text).lower(), deterministic=True)
    if is_read_only:
        return False
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    return bool(mode == "wal")


def _is_writing(connection: Connection) -> bool:
    return bool(connection.get_execution_options().get("is_writing", False))


def _begin_sqlite(connection: Connection) -> None:
    is_writing = _is_writing(connection)
    size = _WRITING_KIB if is_writing else _READING_KIB
    if connection.info.get(_CACHE) != size:
        connection.exec_driver_sql(f"PRAGMA cache_size = -{size}")
        connection.info[_CACHE] = size
    if (wait_s := connection.get_execution_options().get("wait_s")) is not None:
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {lock_timeout_ms(wait_s)}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")


_FileId = tuple[int, int]
"""Device and inode."""


class OpenedFile:
    """The file of a collection's database when first opened; the first connection may create it."""

    def __init__(self, place: Place, path: Path) -> None:
        self._place = place
        self._path = os.path.abspath(path)  # the process may change its directory later
        self._id: _FileId | None = None

    def before_connecting(self) -> None:
        """Refuse another connection if the file is not the same: SQLite would make a new one where it is missing."""
        if self._id is not None:
            self.check()

    def connected(self) -> None:
        """Remember the file of the first connection; see `before_connecting`."""
        if self._id is None:
            self._id = _id_of(self._path)
        self.check()

    def check(self) -> None:
        """Refuse a transaction if the path does not lead to the file that is open."""
        if self._id is None or _id_of(self._path) != self._id:
            raise replaced(self._place, self._path)

    def check_log(self, connection: Connection) -> None:
        """Refuse to write if the log is not that of the connection: it holds what the file does not contain yet."""
        now = _id_of(f"{self._path}-wal")
        if now is None or connection.info.setdefault(_LOG, now) != now:
            raise replaced(self._place, f"{self._path}-wal")


def replaced(place: Place, what: str) -> ReplacedCollectionError:
    """Return the error for a collection of which a part is missing or is another one's."""
    return ReplacedCollectionError(
        f"{place} is no longer the collection that was opened: {what} was deleted, moved or replaced. Nothing more is "
        "read from it or stored in it. Open the collection again; if nearkin serve has it open, restart it."
    )


def _id_of(path: str) -> _FileId | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class ReadOnlyFile:
    """The file of a collection that is only read."""

    def __init__(self, place: Place, file: Path) -> None:
        self._place, self._file = place, file
        log, index = (file.with_name(f"{file.name}-{suffix}") for suffix in ("wal", "shm"))
        self._has_log = index.exists() or (log.exists() and log.stat().st_size > 0)
        self._state = self._now()

    def connect(self, timeout_s: float) -> sqlite3.Connection:
        """Return a connection that cannot write."""
        how = "mode=ro" if self._has_log else "mode=ro&immutable=1"
        address = f"file:{quote(str(self._file.absolute()))}?{how}"
        return sqlite3.connect(address, uri=True, timeout=timeout_s, check_same_thread=False)

    def check_unchanged(self) -> None:
        """Refuse an answer that was read without locks while somebody wrote."""
        if not self._has_log and self._now() != self._state:
            raise CollectionError(
                f"{self._place} was changed while it was opened read-only. Run the command again, or omit --read-only."
            )

    def _now(self) -> tuple[int, int, int] | None:
        try:
            status = os.stat(self._file)
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns


def _postgresql_engine(place: Place, wait_s: float) -> Engine:
    # a prepared statement breaks when its table is made anew
    settings = {"fallback_application_name": "nearkin", "prepare_threshold": None}
    engine = create_engine(
        place.url, connect_args=settings, use_native_hstore=False, pool_pre_ping=True, pool_size=_MAX_IDLE
    )
    event.listen(engine, "connect", lambda connection, _: _set_up(connection, place))
    event.listen(engine, "begin", lambda connection: _begin(connection, wait_s))
    return engine


def _set_up(connection: Any, place: Place) -> None:
    connection.autocommit = True  # we begin transactions ourselves instead of the driver
    connection.execute(f'SET search_path TO "{place.schema}"')


def lock_timeout_ms(wait_s: float) -> int:
    """PostgreSQL's `lock_timeout` for a time to wait: 0 would mean for ever."""
    return min(max(1, round(1000 * wait_s)), 2**31 - 1)


def _begin(connection: Connection, wait_s: float) -> None:
    """Begin a transaction, in one round trip with its isolation level and its timeout."""
    if not connection.get_execution_options().get("is_one_transaction", True):
        return
    is_writing = connection.get_execution_options().get("is_writing", False)
    level = "READ COMMITTED READ WRITE" if is_writing else "REPEATABLE READ READ ONLY"
    patience = f"SET LOCAL lock_timeout = {lock_timeout_ms(wait_s)}"
    connection.exec_driver_sql(f"BEGIN ISOLATION LEVEL {level}; {patience}")
