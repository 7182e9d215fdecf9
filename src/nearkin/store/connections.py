"""Connections to a collection's database and their transactions, set up as each kind of database needs it."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import ssl
import time
import weakref
from collections.abc import Iterator
from typing import Any, Literal

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import QueuePool

from nearkin.errors import CollectionError
from nearkin.store.failures import busy, damaged
from nearkin.store.place import Place

BUSY_S = 2.0
"""How long a writer waits for another one before it gives up."""
NO_TEXT = "its tables have names that are no text"
_BETWEEN_TRIES_S = 0.05
_CONNECT_S = 60
_PAGES_CACHED_KIB = 65_536
_REFUSES_TLS = "Server refuses SSL"
logging.getLogger("sqlalchemy").addHandler(logging.NullHandler())  # a connection that is gone is no news to users


def engine_of(place: Place) -> Engine:
    """With the connections set up as both kinds of databases need it."""
    engine = _sqlite_engine(place) if place.directory is not None else _postgresql_engine(place)
    if hasattr(os, "register_at_fork"):  # a child must not speak on its parent's connections
        forgotten = weakref.ref(engine)
        os.register_at_fork(after_in_child=lambda: _forget(forgotten()))
    return engine


def _sqlite_engine(place: Place) -> Engine:
    engine = create_engine(place.url, poolclass=QueuePool, connect_args={"timeout": BUSY_S})

    def unread(context: Any) -> CollectionError | None:
        """The driver itself fails at what SQLite says, where that is no text."""
        error = context.original_exception
        return damaged(place, f"{NO_TEXT} ({error})") if isinstance(error, UnicodeDecodeError) else None

    event.listen(engine, "connect", lambda connection, _: _set_up_sqlite(connection, place))
    event.listen(engine, "handle_error", unread, retval=True)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _postgresql_engine(place: Place) -> Engine:
    engine = create_engine(place.url, connect_args={"timeout": _CONNECT_S, "application_name": "nearkin"})
    schema_name = place.schema
    # the driver's own context reads every certificate of the machine for each connection, and looks at none of them
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    tls: ssl.SSLContext | Literal[False] = context

    def set_up(connection: Any, _record: object) -> None:
        with contextlib.suppress(AttributeError, OSError):
            connection._usock.settimeout(None)  # a statement may take as long as it takes
            # else each COPY waits 40 ms for an acknowledgement
            connection._usock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        cursor = connection.cursor()
        cursor.execute(f'SET search_path TO "{schema_name}"')
        cursor.close()
        connection.commit()

    def encrypted_or_not(dialect: Any, arguments: Any, options: Any) -> Any:
        """Encryption where the server has it."""
        nonlocal tls
        try:
            return dialect.connect(*arguments, **options, ssl_context=tls)
        except dialect.loaded_dbapi.InterfaceError as error:
            if error.args != (_REFUSES_TLS,):
                raise
        tls = False
        return dialect.connect(*arguments, **options, ssl_context=tls)

    def connect(dialect: Any, _record: object, arguments: Any, options: Any) -> Any:
        try:
            return encrypted_or_not(dialect, arguments, options)
        except OSError as error:
            raise CollectionError(f"{place} does not answer: {error}.") from error
        except AttributeError as error:  # the driver has no better word for it
            if place.url.password is not None:
                raise
            raise CollectionError(
                f"{place} asks for a password, and the URL has none: postgresql://USER:PASSWORD@HOST/DATABASE"
            ) from error

    def failed(context: Any) -> CollectionError | None:
        """What is not the server's own answer leaves a connection in the middle of something: it is given up."""
        error = context.original_exception
        has_answered = bool(error.args) and isinstance(error.args[0], dict)
        if not has_answered:
            context.is_disconnect = True
        return CollectionError(f"{place} does not answer: {error}.") if isinstance(error, OSError) else None

    event.listen(engine, "checkout", _check_is_there)
    event.listen(engine, "handle_error", failed, retval=True)
    event.listen(engine, "do_connect", connect)
    event.listen(engine, "connect", set_up)
    return engine


@contextlib.contextmanager
def transaction(engine: Engine, *, is_writing: bool) -> Iterator[Connection]:
    """A transaction that sees one state of the database."""
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection = connection.execution_options(
                isolation_level="READ COMMITTED" if is_writing else "REPEATABLE READ",
                postgresql_readonly=not is_writing,
            )
        else:
            connection = connection.execution_options(is_writing=is_writing)
        with connection.begin():
            yield connection


def lock(connection: Connection, place: Place) -> None:
    """Be the only writer until the transaction ends; SQLite's transactions that write are that by themselves."""
    if place.schema is None:
        return
    key = text("SELECT pg_try_advisory_xact_lock(hashtext('nearkin'), hashtext(:name))")
    given_up_at = time.monotonic() + BUSY_S
    while not connection.execute(key, {"name": place.schema}).scalar_one():
        if time.monotonic() > given_up_at:
            raise busy(place)
        time.sleep(_BETWEEN_TRIES_S)


def _check_is_there(connection: Any, _record: object, _proxy: object) -> None:
    """A connection that waited may be gone; SQLAlchemy does not know this driver's way to say so."""
    try:
        cursor = connection.cursor()
        cursor.execute("SELECT 1")
        cursor.close()
        connection.rollback()
    except Exception as error:
        raise DisconnectionError from error


def _forget(engine: Engine | None) -> None:
    if engine is not None:
        engine.dispose(close=False)


def _set_up_sqlite(connection: Any, place: Place) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where the driver guesses
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except UnicodeDecodeError as error:  # the driver fails at what SQLite says
        raise damaged(place, f"{NO_TEXT} ({error})") from error
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA cache_size = -{_PAGES_CACHED_KIB}")


def _begin_sqlite(connection: Connection) -> None:
    is_writing = connection.get_execution_options().get("is_writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")
