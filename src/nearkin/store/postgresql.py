"""Connections to PostgreSQL: encrypted and verified as requested, with few round trips."""

from __future__ import annotations

import contextlib
import socket
import ssl
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DisconnectionError

from nearkin.errors import CollectionError, UnavailableCollectionError
from nearkin.paths import why
from nearkin.store.place import Place
from nearkin.store.server_settings import ServerSettings

_REFUSES_TLS = "Server refuses SSL"


def postgresql_engine(place: Place, wait_s: float) -> Engine:
    """Return an engine for a schema of a PostgreSQL database; a statement waits ``wait_s`` for locks of others."""
    engine = create_engine(place.url)
    server = _Server(place)
    event.listen(engine, "checkout", _check_is_there)
    event.listen(engine, "handle_error", lambda context: _failed(context, place), retval=True)
    event.listen(engine, "do_connect", lambda dialect, record, arguments, options: server.connect())
    event.listen(engine, "connect", lambda connection, _: _set_up(connection, place))
    event.listen(engine, "begin", lambda connection: _begin(connection, wait_s))
    return engine


class _Server:
    """The server of a place, with the properties found at the first connection."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._settings: ServerSettings | None = None
        self._tls: ssl.SSLContext | None = None

    def connect(self) -> Any:
        """Return a new connection."""
        if self._settings is None:
            settings = self._place.settings()
            self._tls = settings.tls()
            self._settings = settings
        settings = self._settings
        try:
            return self._encrypted_or_not(settings)
        except ssl.SSLCertVerificationError as error:
            raise CollectionError(
                f"{self._place} is not trusted: {error.verify_message} (sslmode={settings.sslmode}, sslrootcert="
                f"{settings.sslrootcert}). Nothing was sent to it."
            ) from error
        except OSError as error:
            raise _silent(self._place, settings, error) from error
        except AttributeError as error:  # all that the driver raises here
            if settings.password is not None:
                raise
            notes = "".join(f" {note}." for note in settings.notes)
            raise CollectionError(
                f"{self._place} requires a password, but none is in the URL, the service, PGPASSWORD or the password "
                f"file: postgresql://USER:PASSWORD@HOST/DATABASE{'.' if notes else ''}{notes}"
            ) from error

    def _encrypted_or_not(self, settings: ServerSettings) -> Any:
        """Connect with encryption if the server supports it; without, only if that is allowed."""
        from pg8000.exceptions import InterfaceError

        from nearkin.store.pipelined import PipelinedConnection

        host = settings.host if settings.socket is None else None

        def connect(context: ssl.SSLContext | None) -> Any:
            return PipelinedConnection(
                settings.user,
                host=host,
                port=settings.port,
                unix_sock=settings.socket,
                database=settings.database,
                password=settings.password,
                timeout=settings.connect_timeout_s,
                application_name=settings.application_name,
                ssl_context=context or False,
            )

        try:
            return connect(self._tls)
        except InterfaceError as error:
            if isinstance(error.__cause__, OSError):  # the message of the driver has its arguments
                raise _silent(self._place, settings, error.__cause__) from error
            if error.args != (_REFUSES_TLS,):
                raise
            if settings.sslmode not in ("allow", "prefer"):
                raise CollectionError(
                    f"{self._place} does not offer encryption, but sslmode={settings.sslmode} requires it."
                ) from error
        self._tls = None
        return connect(None)


def _silent(place: Place, settings: ServerSettings, error: OSError) -> UnavailableCollectionError:
    """Return the error for a server that cannot be reached, with its address, which the URL need not have."""
    address = f"host {settings.host}, port {settings.port}" if settings.socket is None else f"socket {settings.socket}"
    return UnavailableCollectionError(f"{place} does not answer ({address}): {why(error)}.")


def _set_up(connection: Any, place: Place) -> None:
    """Prepare a new connection."""
    with contextlib.suppress(AttributeError, OSError):
        connection._usock.settimeout(None)  # a statement may take any time
        # otherwise each COPY waits 40 ms for an acknowledgement
        connection._usock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.autocommit = True  # we begin transactions ourselves instead of the driver
    cursor = connection.cursor()
    cursor.execute(f'SET search_path TO "{place.schema}"')
    cursor.close()


def _begin(connection: Connection, wait_s: float) -> None:
    """Begin a transaction, in one round trip with its isolation level and its timeout, unless none is wanted."""
    if not connection.get_execution_options().get("is_one_transaction", True):
        return
    is_writing = connection.get_execution_options().get("is_writing", False)
    level = "READ COMMITTED READ WRITE" if is_writing else "REPEATABLE READ READ ONLY"
    patience = f"SET LOCAL lock_timeout = {min(max(1, round(1000 * wait_s)), 2**31 - 1)}"  # 0 would mean for ever
    connection.exec_driver_sql(f"BEGIN ISOLATION LEVEL {level}; {patience}")


def _failed(context: Any, place: Place) -> CollectionError | None:
    """Discard the connection after an error that is not the server's answer: its state is unknown."""
    error = context.original_exception
    has_answered = bool(error.args) and isinstance(error.args[0], dict)
    if not has_answered:
        context.is_disconnect = True
    return UnavailableCollectionError(f"{place} does not answer: {error}.") if isinstance(error, OSError) else None


def _check_is_there(connection: Any, _record: object, _proxy: object) -> None:
    """Test a pooled connection on which something arrived: most likely that the server ended it."""
    if connection.is_quiet():
        return
    try:
        cursor = connection.cursor()
        cursor.execute("SELECT 1")
        cursor.close()
    except Exception as error:
        raise DisconnectionError from error
