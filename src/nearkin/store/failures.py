"""Translation of database errors into errors of Nearkin that say what to do."""

from __future__ import annotations

import contextlib
import errno
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from typing import Any

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from nearkin.errors import (
    CollectionBusyError,
    CollectionError,
    MissingExtraError,
    NearkinError,
    OutputError,
    UnavailableCollectionError,
)
from nearkin.paths import has_limit_on_files, why
from nearkin.store.damage import damaged_collection, unrepairable
from nearkin.store.place import Place

PERMISSION_DENIED = "42501"
"""SQLSTATE of PostgreSQL's error."""
_NOTHING_STORED = "Nothing of this command was stored; the collection is unchanged."
_NO_MORE_STORED = "The transaction that failed stored nothing; what earlier ones stored is kept."
_TAKE_READ_ONLY = " To only read (similar, list, or check without --store), add --read-only."
_PERMISSIONS = {
    "for database": "to create a collection, the user must own the schema, or have CREATE on the database",
    "for schema": "its owner grants what the user needs: USAGE, and SELECT on the tables",
    "must be owner": "only the owner of the collection can run this command",
    "": "its owner grants what the user needs: SELECT for commands with --read-only, more for others",
}
"""Advice where nothing was to be written yet, by a part of PostgreSQL's message."""
_PERMISSIONS_TO_WRITE = {
    "for schema": "This command must create tables or functions here: let the owner of the schema run it",
    "must be owner": "Only the owner of the collection can do this",
    "": "To write, ask the owner of the schema for more privileges; see docs/guides/postgresql.md",
}
"""Advice where something was to be written, which a command that only reads may do, too."""
_MISSING_IN_SQLITE = re.compile(r"no such (table|column): (?:main\.)?([^ ]+)")
_MISSING_IN_POSTGRESQL = re.compile(r'(?:relation|column) "?(?P<name>[^" ]+)"? ')
_REFUSED = "FATAL: "
_FOR_A_TIME = re.compile("the database system is|too many|connection slots|terminating connection")
_READ_ONLY = "the file system is read-only"
_BUSY_IN_POSTGRESQL = {"40001", "40P01", "55P03"}
"""Serialization failure, deadlock, lock not available: another process was faster, and nothing is damaged."""


def reason_of(error: NearkinError) -> str:
    """Return why something could not be stored, without the advice for a command that failed."""
    if code_of(error) == PERMISSION_DENIED:
        return _message_of(_of_driver(error))
    return str(error).rstrip(".")


def unrepaired(place: Place, error: CollectionError) -> CollectionError:
    """Return the error for damage that the user of the database may not repair; another error as it is."""
    if code_of(error) != PERMISSION_DENIED or _TAKE_READ_ONLY not in str(error):  # it was not to be written
        return error
    return CollectionError(
        f"{place}: damage was found that this user may not repair ({reason_of(error)}). Let the owner of the schema "
        "run nearkin fsck. To list the damage: nearkin fsck COLLECTION --read-only"
    )


def code_of(error: BaseException) -> str:
    """Return the name of SQLite's error, or the SQLSTATE of PostgreSQL's, that is behind another; empty if none is."""
    found = _of_driver(error)
    return str(getattr(found, "sqlite_errorname", None) or getattr(found, "sqlstate", None) or "")


def _of_driver(error: BaseException) -> BaseException | None:
    """Return the error of the database's driver that is behind another."""
    cause = error if isinstance(error, DBAPIError) else error.__cause__
    return cause.orig if isinstance(cause, DBAPIError) else cause


def _message_of(error: Any) -> str:
    """Return the server's message, or the first line of libpq's."""
    return str(error.diag.message_primary or str(error).partition("\n")[0]).rstrip(".")


def busy(place: Place) -> CollectionBusyError:
    """Return the error for a store that another process is writing to."""
    return CollectionBusyError(f"Another command or request is writing to {place}.")


def damaged_file(place: Place, fault: str) -> CollectionError:
    """Return the error for an SQLite file that is damaged."""
    return CollectionError(
        f"{unrepairable(fault, place)} To recover what is still readable: sqlite3 nearkin.sqlite .recover"
    )


@contextlib.contextmanager
def database_errors(place: Place, *, is_writing: bool = False, has_stored: bool = False) -> Iterator[None]:
    """Convert database errors raised inside the block to Nearkin's; if it was writing, they say what is stored.

    ``has_stored``: whether earlier transactions of the same store may belong to the same command.
    """
    try:
        with _in_words(place, is_writing=is_writing):
            yield
    except (CollectionError, OutputError) as error:
        if is_writing and error.__cause__ is not None and not isinstance(error, CollectionBusyError):
            stored = _NO_MORE_STORED if has_stored else _NOTHING_STORED
            error.args = (f"{error.message} {stored}",)
        raise


@contextlib.contextmanager
def _in_words(place: Place, *, is_writing: bool) -> Iterator[None]:
    try:
        yield
    except NearkinError:
        raise
    except ModuleNotFoundError as error:
        if error.name != "psycopg":
            raise
        raise MissingExtraError.of("PostgreSQL", "postgresql") from error
    except DBAPIError as error:
        cause = error.orig
        if isinstance(cause, sqlite3.Error):
            raise _of_sqlite(place, cause) from error
        raise _of_postgresql(place, cause, is_writing=is_writing) from error
    except sqlite3.Error as error:
        raise _of_sqlite(place, error) from error
    except SQLAlchemyError as error:
        raise CollectionError(f"{place}: {error}") from error
    except Exception as error:  # the driver's own, not wrapped by SQLAlchemy: from COPY
        if not type(error).__module__.startswith("psycopg"):
            raise
        raise _of_postgresql(place, error, is_writing=is_writing) from error


def _of_sqlite(place: Place, error: sqlite3.Error) -> NearkinError:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return busy(place)
    is_full = name == "SQLITE_FULL" or "disk is full" in str(error)
    if is_full or name.startswith("SQLITE_IOERR"):
        reason = _reason(place, errno.ENOSPC if is_full or name.startswith("SQLITE_IOERR_WRITE") else None)
        if reason is not None:
            return OutputError(f"Cannot write to {place}: {reason}.")
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR")):
        reason = _reason(place, None)
        if reason is not None:
            return CollectionError(f"{place} cannot be opened for reading and writing: {reason}.{_TAKE_READ_ONLY}")
        reason = f"{error}. Check the permissions of the directory and of its files"
        return CollectionError(f"{place} cannot be opened for reading and writing: {reason}.{_TAKE_READ_ONLY}")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return damaged_file(place, f"SQLite reports: {error}")
    if "decode to UTF-8" in str(error):  # the driver has no error code for it
        return damaged_collection(str(error), place)
    missing = _MISSING_IN_SQLITE.search(str(error))
    return _missing(place, *missing.groups()) if missing else CollectionError(f"{place}: {error}.")


def missing_table(place: Place, name: str) -> CollectionError:
    """Return the error for a table that somebody dropped."""
    return _missing(place, "table", name)


def _missing(place: Place, kind: str, name: str) -> CollectionError:
    """Return the error for a table or a column that somebody dropped."""
    return unrepairable(f"its {kind} {name} is missing", place)


def _reason(place: Place, otherwise: int | None) -> str | None:
    """Return why the system refuses to write. SQLite does not say: this tries to write a small file."""
    directory = place.directory
    if directory is None:
        return None
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(b"0")
    except OSError as error:
        return _READ_ONLY if error.errno == errno.EROFS else why(error)
    if has_limit_on_files():
        otherwise = errno.EFBIG
    return None if otherwise is None else why(OSError(otherwise, ""))


def _of_postgresql(place: Place, error: Any, *, is_writing: bool) -> NearkinError:
    from psycopg import OperationalError

    code, message = error.sqlstate or "", _message_of(error)
    if code in _BUSY_IN_POSTGRESQL:
        return busy(place)
    if code == "42P01" and '"facts"' in message:  # it was found, but the search path skips a schema without USAGE
        code, message = PERMISSION_DENIED, f"permission denied for schema {place.schema}"
    if code == PERMISSION_DENIED:
        table = _PERMISSIONS_TO_WRITE if is_writing else _PERMISSIONS
        advice = next(words for part, words in table.items() if part in message)
        denied = message if message.startswith("permission denied") else f"permission denied, {message}"
        if is_writing:
            return CollectionError(f"{place}: {denied}. {advice}.{_TAKE_READ_ONLY}")
        return CollectionError(f"{place}: {denied}; {advice}.")
    if code == "53100":
        return OutputError(f"{place}: its disk is full ({message}).")
    missing = _MISSING_IN_POSTGRESQL.search(message) if code in ("42P01", "42703") else None
    if missing:
        return _missing(place, "table" if code == "42P01" else "column", missing["name"])
    if not isinstance(error, OperationalError):
        return CollectionError(f"{place}: {message} ({code or type(error).__name__}).")
    # an answer to a connection has no code
    if _REFUSED in message and not _FOR_A_TIME.search(message):
        return CollectionError(f"{place} refuses the connection: {message.rpartition(_REFUSED)[2].strip()}.")
    return UnavailableCollectionError(f"{place} does not answer: {message}.")
