"""The users file: it is read only if nobody else can read it, replaced as a whole, and read again after that."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

import msgspec

from nearkin.errors import CollectionError, NearkinError
from nearkin.paths import why
from nearkin.runs.files import locked, published, writing
from nearkin.store.environment import usual_configuration
from nearkin.store.place import Place
from nearkin.web.users.records import VERSION, Users

_PRIVATE, _ROOT = 0o600, 0
_Signature = tuple[int, ...]


def usual_users_file(place: Place, collection: str) -> Path:
    """Return the users file of a collection: in ``XDG_CONFIG_HOME``, if that is absolute, else in ``~/.config``.

    A restored copy of a database has the id of its original but users of its own, so the name has its address as it is
    written. A directory keeps its users when it is moved.
    """
    name = collection if place.directory is not None else place.name_outside(collection)
    return usual_configuration() / "users" / f"{name}.json"


def read_users(path: Path) -> Users:
    """Return the users in a file; nobody if there is none."""
    return _read(path)[0]


def change_users(path: Path, change: Callable[[Users], Users]) -> Users:
    """Replace the users in a file by the result of ``change``, and return them."""
    with writing(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_open_folders(path)
    with locked(path.with_name(f".{path.name}.lock"), other="another --users-file"):
        users = change(read_users(path))
        with published(path) as aside:
            handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
            with open(handle, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(users), indent=2) + b"\n")
    return users


class CurrentUsers:
    """Users of a running service, as they are currently in the file.

    Parameters
    ----------
    say
        Receives why the file cannot be used, once for each reason.
    """

    def __init__(self, path: Path, say: Callable[[str], None]) -> None:
        self._path, self._say = path, say
        self._users, self._said = Users(), ""
        self._seen: _Signature | None = None

    def now(self) -> Users:
        """Return the users."""
        try:
            seen = _signature(os.stat(self._path))
            if seen != self._seen:
                self._users, self._seen = _read(self._path)
                self._said = ""
        except OSError as error:
            self._refuse(f"{self._path}: {why(error)}.")
        except NearkinError as error:
            self._refuse(str(error))
        return self._users

    def _refuse(self, reason: str) -> None:
        self._users, self._seen = Users(), None
        if reason != self._said:
            self._said = reason
            self._say(f"Nobody can sign in: {reason}")


def _read(path: Path) -> tuple[Users, _Signature | None]:
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            content = file.read()
    except FileNotFoundError:
        return Users(), None
    except OSError as error:
        raise CollectionError(f"{path}: {why(error)}.") from error
    _refuse_others(path, found)
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        users = msgspec.json.decode(content, type=Users)
        if users.version != VERSION:
            raise CollectionError(f"{path} was written by a newer version of Nearkin. Use that version.")
        return users, _signature(found)
    raise CollectionError(
        f"{path} is not a users file, or is damaged. Restore it, or remove it and add the users again."
    )


def _refuse_others(path: Path, found: os.stat_result) -> None:
    """Refuse a file that another user of the machine can read, change or replace, as ssh does with its keys."""
    if found.st_mode & 0o077:
        raise CollectionError(
            f"{path}: other users of this machine may read or change this file. Run: chmod 600 {path}"
        )
    _refuse_owner(path, found)
    _refuse_open_folders(path)


def _refuse_open_folders(path: Path) -> None:
    """Refuse a file in a folder in which another user could put another file in its place."""
    for folder in dict.fromkeys((path.absolute().parent, path.resolve().parent)):  # of a link, and of its target
        found = os.stat(folder)
        _refuse_owner(folder, found)
        if found.st_mode & (stat.S_IWOTH | stat.S_IWGRP) and not found.st_mode & stat.S_ISVTX:
            raise CollectionError(
                f"{path}: other users of this machine may replace this file, because they may write to its folder. "
                f"Run: chmod go-w {folder}"
            )


def _refuse_owner(path: Path, found: os.stat_result) -> None:
    if found.st_uid not in (os.geteuid(), _ROOT):
        raise CollectionError(
            f"{path} belongs to another user of this machine, who can therefore change who may sign in. Make the user "
            "that runs nearkin its owner."
        )


def _signature(found: os.stat_result) -> _Signature:
    return found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns
