"""Files of an attempt at a task of a cluster, which appear together when the attempt has succeeded.

Until then they are in a hidden folder, which a killed process leaves behind. The next attempt removes it, unless the
process may still be running: the system releases a lock when its process ends. Locks of some shared file systems are
seen by one machine only, so that the folder of another machine must also be unchanged for some time.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

from nearkin.runs.files import writing

_LOCK = ".lock"
"""Locked file in the folder of an attempt; it contains the name of the machine."""
_QUIET_S = 900


@contextlib.contextmanager
def published_together(folder: Path, name: str) -> Iterator[Path]:
    """Yield a new folder to write files to; after the block they are in ``folder``, or nowhere if the block failed.

    They appear one after another, sorted by name, each complete. A file that marks the others as complete therefore
    needs the last name.

    Parameters
    ----------
    folder : Path
    name : str
        Name of the task: folders that killed attempts at it left are removed.

    Raises
    ------
    OutputError
        The disk is full or not writable.
    """
    aside = folder / f".{name}.{os.getpid()}-{secrets.token_hex(4)}.part"
    with writing(aside):
        aside.mkdir()
    try:
        with _locked(aside):
            _remove_left_by_others(aside, name)
            yield aside
            for path in sorted(path for path in aside.iterdir() if path.name != _LOCK):
                with writing(folder / path.name):
                    os.replace(path, folder / path.name)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def remove_unpublished(folder: Path) -> None:
    """Remove what killed attempts left, or attempts that are no longer needed: no task of the folder is awaited."""
    for left in folder.glob(".*.part"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)


@contextlib.contextmanager
def _locked(aside: Path) -> Iterator[None]:
    """Hold a lock in a folder, if the file system has locks; the lock file appears only when it is locked."""
    with writing(aside):
        file = open(aside / f"{_LOCK}.part", "w", encoding="utf-8")  # noqa: SIM115 (closed below)
    with file:
        with writing(aside):
            file.write(socket.gethostname())
            file.flush()
        if _takes_lock(file.fileno()):
            with writing(aside):
                os.replace(aside / f"{_LOCK}.part", aside / _LOCK)
        else:
            (aside / f"{_LOCK}.part").unlink(missing_ok=True)
        yield


def _remove_left_by_others(own: Path, name: str) -> None:
    for other in own.parent.glob(f".{name}.*.part"):
        if other != own and other.is_dir() and _is_left(other, now_s=own.stat().st_mtime):
            shutil.rmtree(other, ignore_errors=True)


def _is_left(aside: Path, now_s: float) -> bool:
    """Whether the process that wrote a folder has ended; ``now_s`` is the time in its file system."""
    try:
        with open(aside / _LOCK, "r+", encoding="utf-8") as file:
            is_released = _takes_lock(file.fileno())
            is_of_this_machine = file.read() == socket.gethostname()
    except OSError:  # removed meanwhile, or not locked yet, or in a file system without locks
        is_released, is_of_this_machine = True, False
    return is_released and (is_of_this_machine or now_s - _changed_s(aside) > _QUIET_S)


def _changed_s(aside: Path) -> float:
    """Return the time of the last change in a folder."""
    times = [aside.stat().st_mtime]
    for path in aside.iterdir():
        with contextlib.suppress(OSError):
            times.append(path.stat().st_mtime)
    return max(times)


def _takes_lock(descriptor: int) -> bool:
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):  # Windows, or another process has it
        return False
    return True
