"""SQLite files that are only read, on any medium: no file beside them is made or changed."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from nearkin.errors import CollectionError
from nearkin.store.place import Place


class ReadOnlyFile:
    """The file of a collection that is only read.

    SQLite reads it without locks if no log is beside it, that is if nobody has it open; otherwise in the ordinary way,
    which needs the log's files but does not make them.

    Parameters
    ----------
    place : Place
    file : Path
    """

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
        """Refuse an answer that was read without locks while somebody wrote.

        Raises
        ------
        CollectionError
        """
        if not self._has_log and self._now() != self._state:
            raise CollectionError(
                f"{self._place} was changed while it was opened read-only. Run the command again, or omit --read-only."
            )

    def _now(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._file)
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns


def refused(place: Place) -> CollectionError:
    """Return the error for an attempt to write."""
    return CollectionError(f"{place} is opened read-only, and nothing can be stored in it.")
