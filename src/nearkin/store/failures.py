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

from nearkin import errors
from nearkin.paths import has_limit_on_files, why
from nearkin.store.damage import damaged_collection, unrepairable
from nearkin.store.place import Place

PERMISSION_DENIED = "42501"
"""SQLSTATE of PostgreSQL's error."""
_NOTHING_STORED = "The transaction that failed stored nothing; what earlier ones stored is kept."
_TAKE_READ_ONLY = " To only read (similar, list, or check without --store), add --read-only."
_REFUSED = "FATAL: "
_FOR_A_TIME = re.compile("the database system is|too many|connection slots|terminating connection")
_READ_ONLY = "the file system is read-only"
_BUSY_IN_POSTGRESQL = {"40001", "40P01", "55P03"}
"""Serialization failure, deadlock, lock not available: another process was faster, and nothing is damaged."""


def reason_of(error: errors.NearkinError) -> str:
    """Return why something could not be stored, without the advice for a command that failed."""
    if code_of(error) == PERMISSION_DENIED:
        return _message_of(_of_driver(error))
    return str(error).rstrip(".")


def code_of(error: BaseException) -> str:
    """Return the name of SQLite's error, or PostgreSQL's SQLSTATE, behind an error; empty if none."""
    driver_error = _of_driver(error)
    return str(getattr(driver_error, "sqlite_errorname", None) or getattr(driver_error, "sqlstate", None) or "")


def _of_driver(error: BaseException) -> BaseException | None:
    cause = error if isinstance(error, DBAPIError) else error.__cause__
    return cause.orig if isinstance(cause, DBAPIError) else cause


def _message_of(error: Any) -> str:
    return str(error.diag.message_primary or str(error).partition("\n")[0]).rstrip(".")


def busy(place: Place) -> errors.CollectionBusyError:
    """Return the error for a store that another process is writing to."""
    return errors.CollectionBusyError(f"Another command or request is writing to {place}.")


def damaged_file(place: Place, fault: str) -> errors.CollectionError:
    """Return the error for an SQLite file that is damaged."""
    return errors.CollectionError(
        f"{unrepairable(fault, place)} To recover what is still readable: sqlite3 nearkin.sqlite .recover"
    )


@contextlib.contextmanager
def database_errors(place: Place, *, is_writing: bool = False) -> Iterator[None]:
    """Convert database errors raised inside the block to Nearkin's; if it was writing, they say what is stored."""
    try:
        with _in_words(place, is_writing=is_writing):
            yield
    except (errors.CollectionError, errors.OutputError) as error:
        if is_writing and error.__cause__ is not None and not isinstance(error, errors.CollectionBusyError):
            error.args = (f"{error.message} {_NOTHING_STORED}",)
        raise


@contextlib.contextmanager
def _in_words(place: Place, *, is_writing: bool) -> Iterator[None]:
    try:
        yield
    except errors.NearkinError:
        raise
    except ModuleNotFoundError as error:
        if error.name != "psycopg":
            raise
        raise errors.MissingExtraError.of("PostgreSQL", "postgresql") from error
    except DBAPIError as error:
        cause = error.orig
        if isinstance(cause, sqlite3.Error):
            raise _of_sqlite(place, cause) from error
        raise _of_postgresql(place, cause, is_writing=is_writing) from error
    except sqlite3.Error as error:
        raise _of_sqlite(place, error) from error
    except UnicodeDecodeError as error:  # the driver cannot decode SQLite's error message
        raise damaged_file(place, f"the names of its tables are not text ({error})") from error
    except SQLAlchemyError as error:
        raise errors.CollectionError(f"{place}: {error}") from error
    except Exception as error:  # the driver's own, not wrapped by SQLAlchemy: from COPY
        if not type(error).__module__.startswith("psycopg"):
            raise
        raise _of_postgresql(place, error, is_writing=is_writing) from error


def _of_sqlite(place: Place, error: sqlite3.Error) -> errors.NearkinError:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return busy(place)
    is_full = name == "SQLITE_FULL" or "disk is full" in str(error)
    if is_full or name.startswith("SQLITE_IOERR"):
        reason = _reason(place, errno.ENOSPC if is_full or name.startswith("SQLITE_IOERR_WRITE") else None)
        if reason is not None:
            return errors.OutputError(f"Cannot write to {place}: {reason}.")
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR")):
        reason = _reason(place, None) or f"{error}. Check the permissions of the directory and of its files"
        return errors.CollectionError(f"{place} cannot be opened for reading and writing: {reason}.{_TAKE_READ_ONLY}")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return damaged_file(place, f"SQLite reports: {error}")
    if "decode to UTF-8" in str(error):  # the driver has no error code for it
        return damaged_collection(str(error), place)
    return unrepairable(str(error), place) if "no such" in str(error) else errors.CollectionError(f"{place}: {error}.")


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


def _of_postgresql(place: Place, error: Any, *, is_writing: bool) -> errors.NearkinError:
    from psycopg import OperationalError

    code, message = error.sqlstate or "", _message_of(error)
    if code in _BUSY_IN_POSTGRESQL:
        return busy(place)
    if code == "42P01" and '"facts"' in message:  # it was found, but the search path skips a schema without USAGE
        code, message = PERMISSION_DENIED, f"permission denied for schema {place.schema}"
    if code == PERMISSION_DENIED:
        denied = message if message.startswith("permission denied") else f"permission denied, {message}"
        advice = "The owner of the schema grants what the user needs; see docs/guides/sql-and-postgresql.md"
        return errors.CollectionError(f"{place}: {denied}. {advice}.{_TAKE_READ_ONLY * is_writing}")
    if code == "53100":
        return errors.OutputError(f"{place}: its disk is full ({message}).")
    if code in ("42P01", "42703"):  # a table or a column was dropped
        return unrepairable(message, place)
    if not isinstance(error, OperationalError):
        return errors.CollectionError(f"{place}: {message} ({code or type(error).__name__}).")
    # an answer to a connection has no code
    if _REFUSED in message and not _FOR_A_TIME.search(message):
        return errors.CollectionError(f"{place} refuses the connection: {message.rpartition(_REFUSED)[2].strip()}.")
    return errors.UnavailableCollectionError(f"{place} does not answer: {message}.")
