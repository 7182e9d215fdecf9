"""SQLite's file while it is open: whether its path still leads to it.

An open file stays readable and writable after it was deleted, or replaced by a copy. SQLite, with a write-ahead log,
does not notice; what it stores then is lost with the last connection.
"""

from __future__ import annotations

import os
from pathlib import Path

from sqlalchemy import Connection

from nearkin.errors import ReplacedCollectionError
from nearkin.store.place import Place

_FileId = tuple[int, int]
"""Device and inode."""
_LOG = "nearkin log"


class OpenedFile:
    """The file of a collection's database, as it was when the first connection opened it.

    Parameters
    ----------
    place : Place
    path : Path
        The file; the first connection may still create it.
    """

    def __init__(self, place: Place, path: Path) -> None:
        self._place = place
        self._path = os.path.abspath(path)  # the process may change its directory later
        self._log = f"{self._path}-wal"
        self._id: _FileId | None = None

    def before_connecting(self) -> None:
        """Refuse another connection if the file is not the same: SQLite would make a new one where it is missing.

        Raises
        ------
        ReplacedCollectionError
        """
        if self._id is not None:
            self.check()

    def connected(self) -> None:
        """Remember the file of the first connection; see `before_connecting`."""
        if self._id is None:
            self._id = _id_of(self._path)
        self.check()

    def check(self) -> None:
        """Refuse a transaction if the path does not lead to the file that is open.

        Raises
        ------
        ReplacedCollectionError
        """
        if self._id is None or _id_of(self._path) != self._id:
            raise replaced(self._place, self._path)

    def check_log(self, connection: Connection) -> None:
        """Refuse to write if the log is not that of the connection: it holds what the file does not contain yet.

        SQLite keeps one log while any connection is open, and does not rename or replace it.

        Raises
        ------
        ReplacedCollectionError
        """
        now = _id_of(self._log)
        if now is None or connection.info.setdefault(_LOG, now) != now:
            raise replaced(self._place, self._log)


def replaced(place: Place, what: str) -> ReplacedCollectionError:
    """Return the error for a collection of which a part is not there any more, or is another one's."""
    return ReplacedCollectionError(
        f"{place} is no longer the collection that was opened: {what} was deleted, moved or replaced. Nothing more is "
        "read from it or stored in it. Open the collection again; if nearkin serve has it open, restart it."
    )


def _id_of(path: str) -> _FileId | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
