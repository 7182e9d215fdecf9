"""Private directories of extraction workers: removed with the worker, or by a later run if that run was killed.

A directory is locked as long as its owner lives: the kernel releases the lock of a killed process. A process id in the
name would not be enough: ids are reused, and containers that share /tmp count ids separately.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from functools import lru_cache

_PREFIX = "nearkin-worker-"


class PrivateDirectory:
    """A new, empty directory of this user and this process.

    Attributes
    ----------
    path : str
    """

    def __init__(self) -> None:
        while True:
            self.path = tempfile.mkdtemp(prefix=_PREFIX)
            try:
                self._descriptor = _locked(self.path, waits=True)
            except FileNotFoundError:
                continue
            if os.path.exists(self.path):
                return
            os.close(self._descriptor)  # another process took it for abandoned before it was locked

    def remove(self) -> None:
        """Remove the directory and everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._descriptor)


@lru_cache(maxsize=1)  # once in a process
def remove_abandoned() -> None:
    """Remove the directories of this user whose processes were killed."""
    place, names = tempfile.gettempdir(), list[str]()
    with contextlib.suppress(OSError):  # it may be written, but not listed
        names = [one for one in os.listdir(place) if one.startswith(_PREFIX)]
    for path in (os.path.join(place, one) for one in names):
        try:
            descriptor = _locked(path, waits=False)
        except OSError:  # in use, a link, of another user, or removed by now
            continue
        if os.fstat(descriptor).st_uid == os.geteuid():
            shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


def _locked(path: str, *, waits: bool) -> int:
    """Lock a directory and return its descriptor. Raises OSError at once if another process holds the lock."""
    import fcntl  # Windows has none, and its tables are read without workers

    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
