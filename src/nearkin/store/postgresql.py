"""Connections to PostgreSQL by psycopg: server, user, password and encryption are as libpq finds them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event

from nearkin.store.place import Place


def postgresql_engine(place: Place, wait_s: float) -> Engine:
    """Return an engine for a schema of a PostgreSQL database; a statement waits ``wait_s`` for locks of others."""
    # a prepared statement breaks when its table is made anew
    settings = {"fallback_application_name": "nearkin", "prepare_threshold": None}
    engine = create_engine(place.url, connect_args=settings, use_native_hstore=False)
    event.listen(engine, "connect", lambda connection, _: _set_up(connection, place))
    event.listen(engine, "begin", lambda connection: _begin(connection, wait_s))
    return engine


def _set_up(connection: Any, place: Place) -> None:
    """Prepare a new connection."""
    connection.autocommit = True  # we begin transactions ourselves instead of the driver
    connection.execute(f'SET search_path TO "{place.schema}"')


def _begin(connection: Connection, wait_s: float) -> None:
    """Begin a transaction, in one round trip with its isolation level and its timeout, unless none is wanted."""
    if not connection.get_execution_options().get("is_one_transaction", True):
        return
    is_writing = connection.get_execution_options().get("is_writing", False)
    level = "READ COMMITTED READ WRITE" if is_writing else "REPEATABLE READ READ ONLY"
    patience = f"SET LOCAL lock_timeout = {min(max(1, round(1000 * wait_s)), 2**31 - 1)}"  # 0 would mean for ever
    connection.exec_driver_sql(f"BEGIN ISOLATION LEVEL {level}; {patience}")
