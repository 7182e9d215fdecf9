"""Where the tests keep their temporary files: in memory, on a machine that has plenty of it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import psutil

_IN_MEMORY, _CONTAINER = Path("/dev/shm"), Path("/sys/fs/cgroup")
_ROOM, _MEMORY = 6 << 30, 14 << 30  # of the file system, and of what the machine has left; the tests fill 3 GiB


def keep_in_memory() -> None:
    """Have temporary files in memory, unless a folder for them is named already.

    The files are small and many, and live for seconds. On a disk they cost a tenth of the time of all tests.
    """
    if "TMPDIR" not in os.environ and _has_room():
        os.environ["TMPDIR"] = tempfile.tempdir = str(_IN_MEMORY)


def _has_room() -> bool:
    try:
        found = os.statvfs(_IN_MEMORY)
    except OSError:
        return False
    is_usable = not found.f_flag & (os.ST_NOEXEC | os.ST_RDONLY) and os.access(_IN_MEMORY, os.W_OK | os.X_OK)
    return is_usable and found.f_bavail * found.f_frsize > _ROOM and _memory_left() > _MEMORY


def _memory_left() -> int:
    """What the machine has left, or the container if that is less."""
    left = int(psutil.virtual_memory().available)
    try:
        limit, used = ((_CONTAINER / name).read_text().strip() for name in ("memory.max", "memory.current"))
    except OSError:
        return left
    return left if limit == "max" else min(left, int(limit) - int(used))
