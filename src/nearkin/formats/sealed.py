"""Files and JSON objects that end with a checksum of their content, so that a changed bit is detected.

CRC-32 detects every single changed bit, and every burst of up to 32.
"""

from __future__ import annotations

import functools
import json
import os
import stat
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from nearkin.errors import RunError

_SEAL = struct.Struct("<8sQI")
_MAGIC = b"nk-seal1"
_BLOCK_BYTES = 1 << 20
_CHECKSUM = "checksum"


class Sealing:
    """Binary file that computes the checksum of what is written through it, and ends with its seal."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._length = 0
        self._crc = 0
        self.closed = False

    def write(self, data: bytes | memoryview) -> int:
        """Write bytes, like a file."""
        part = memoryview(data).cast("B")
        self._crc = zlib.crc32(part, self._crc)
        self._length += len(part)
        left = part
        while len(left):  # a full disk, or a signal, may let a part of it through
            left = left[self._file.write(left) :]
        return len(part)

    def tell(self) -> int:
        """Return the position, as a file does."""
        return self._length

    def flush(self) -> None:
        """Flush the buffer, like a file."""
        self._file.flush()

    def close(self) -> None:
        """Do nothing: the caller closes the file, after `seal`."""

    def seal(self) -> None:
        """Write the seal: nothing can be added."""
        self._file.write(_SEAL.pack(_MAGIC, self._length, self._crc))
        self.closed = True


def seal_file(path: Path) -> None:
    """Append the seal to a complete file that was written by other means."""
    crc = 0
    with open(path, "rb+", buffering=0) as file:
        while block := file.read(_BLOCK_BYTES):
            crc = zlib.crc32(block, crc)
        file.write(_SEAL.pack(_MAGIC, file.tell(), crc))


def sealed_length(path: Path) -> int:
    """Return the number of bytes before the seal of a file, once verified; RunError if damaged."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise missing_file(path) from error
    if not stat.S_ISREG(status.st_mode):
        raise damaged_file(path)
    return _checked(str(path), status.st_ino, status.st_size, status.st_mtime_ns)


@functools.lru_cache(maxsize=1 << 16)
def _checked(path: str, inode: int, size: int, changed_ns: int) -> int:
    crc, left = 0, size - _SEAL.size
    if left < 0:
        raise damaged_file(path)
    with open(path, "rb", buffering=0) as file:
        while left:
            block = file.read(min(left, _BLOCK_BYTES))
            if not block:
                raise damaged_file(path)
            crc = zlib.crc32(block, crc)
            left -= len(block)
        seal = file.read(_SEAL.size)
    length = size - _SEAL.size
    if seal != _SEAL.pack(_MAGIC, length, crc):
        raise damaged_file(path)
    return length


def damaged_file(path: str | Path) -> RunError:
    """Return the error for a damaged file of a run."""
    return RunError(f"{path} is damaged: it is not what the run wrote. Run the command again with --overwrite.")


def missing_file(path: str | Path) -> RunError:
    """Return the error for a file that a run wrote and that is no longer there."""
    return RunError(
        f"{path} is damaged: the run wrote this file, and it is missing. Run the command again with --overwrite."
    )


def with_checksum(value: Mapping[str, object]) -> dict[str, object]:
    """Add a checksum of its content to a JSON object."""
    as_stored = json.loads(json.dumps(value))  # names that are numbers become strings, and are sorted as such
    return {**value, _CHECKSUM: _checksum_of(as_stored)}


def has_right_checksum(value: object) -> bool:
    """Whether an object is the result of `with_checksum`.

    Examples
    --------
    >>> stored = with_checksum({"n": 3})
    >>> has_right_checksum(stored), has_right_checksum(stored | {"n": 2})
    (True, False)
    """
    if not isinstance(value, dict):
        return True  # what it should be is for its reader to say
    return value.get(_CHECKSUM) == _checksum_of({name: member for name, member in value.items() if name != _CHECKSUM})


def _checksum_of(value: Mapping[str, object]) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return f"crc32:{zlib.crc32(text.encode()):08x}"
