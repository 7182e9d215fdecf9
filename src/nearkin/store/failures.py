"""What a database says when something fails → words that help."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
import tempfile
from collections.abc import Iterator

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from nearkin.errors import CollectionBusyError, CollectionError, MissingExtraError, NearkinError, OutputError
from nearkin.paths import has_limit_on_files, why
from nearkin.store.place import Place

_NOTHING_STORED = "Nothing of this command was stored; what was there before is as it was."
_OF_POSTGRESQL = {
    "28": "it refuses this user and password",
    "3D": "there is no such database; make one: createdb NAME",
    "42501": "this user may not do that; who makes a collection needs the right to create a schema, or one that it "
    "owns, and who writes the right to write its tables",
    "53100": "its disk is full",
    "57P": "it was shut down",
}
_BUSY_IN_POSTGRESQL = {"40001", "40P01", "55P03"}
"""Serialization failure, deadlock, lock not available: somebody else was faster, and nothing is wrong."""


def busy(place: Place) -> CollectionBusyError:
    """Another process is writing."""
    return CollectionBusyError(f"Another process is writing to {place}. Wait until it has finished, and try again.")


def damaged(place: Place, reason: str) -> CollectionError:
    """SQLite's file is not what was written."""
    return CollectionError(
        f"{place} is damaged: {reason}. Restore it from a backup; to save what can still be read: sqlite3 "
        "nearkin.sqlite .recover"
    )


@contextlib.contextmanager
def told(place: Place, *, is_writing: bool = False) -> Iterator[None]:
    """Turn what a database raises inside the block into errors of Nearkin; one that writes stored nothing then."""
    try:
        with _in_words(place):
            yield
    except (CollectionError, OutputError) as error:
        if is_writing and error.__cause__ is not None and not isinstance(error, CollectionBusyError):
            raise type(error)(f"{error} {_NOTHING_STORED}") from error.__cause__
        raise


@contextlib.contextmanager
def _in_words(place: Place) -> Iterator[None]:
    try:
        yield
    except NearkinError:
        raise
    except ModuleNotFoundError as error:
        if error.name != "pg8000":
            raise
        raise MissingExtraError.of("PostgreSQL", "postgresql") from error
    except DBAPIError as error:
        cause = error.orig
        raise _of_sqlite(place, cause) if isinstance(cause, sqlite3.Error) else _of_postgresql(place, cause) from error
    except sqlite3.Error as error:
        raise _of_sqlite(place, error) from error
    except SQLAlchemyError as error:
        raise CollectionError(f"{place}: {error}") from error
    except Exception as error:  # a driver's own, outside of SQLAlchemy's: while a connection breaks, say
        if not type(error).__module__.startswith("pg8000"):
            raise
        raise _of_postgresql(place, error) from error


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
        reason = _reason(place, None) or f"{error}. Check the permissions of the directory"
        return CollectionError(f"{place} cannot be opened for reading and writing: {reason}.")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return damaged(place, f"SQLite says that {error}")
    if "decode to UTF-8" in str(error):  # the driver has no name for it
        return damaged(place, f"{error}. nearkin verify names the row and repairs it if it can")
    return CollectionError(f"{place}: {error}.")


def _reason(place: Place, otherwise: int | None) -> str | None:
    """Why the system refuses to write: SQLite does not tell, so a small file is tried beside its own.

    Parameters
    ----------
    place : Place
    otherwise : int or None
        The system's number for what SQLite says, if nothing else is found.
    """
    directory = place.directory
    if directory is None:
        return None
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(b"0")
    except OSError as error:
        return why(error)
    if has_limit_on_files():
        otherwise = errno.EFBIG
    return None if otherwise is None else why(OSError(otherwise, ""))


def _of_postgresql(place: Place, error: BaseException | None) -> NearkinError:
    fields = error.args[0] if error is not None and error.args and isinstance(error.args[0], dict) else {}
    code, message = str(fields.get("C", "")), str(fields.get("M", error))
    if code in _BUSY_IN_POSTGRESQL:
        return busy(place)
    reason = next((words for start, words in _OF_POSTGRESQL.items() if code.startswith(start)), None)
    kind = OutputError if code == "53100" else CollectionError
    if reason is not None:
        return kind(f"{place}: {reason} ({message}).")
    if not code:
        return CollectionError(f"{place} does not answer: {message}.")
    return CollectionError(f"{place}: {message} ({code}).")
