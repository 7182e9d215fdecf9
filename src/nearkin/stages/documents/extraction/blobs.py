"""Bytes of a file, or of one inside it: on the disk as an open descriptor, or in memory."""

from __future__ import annotations

import hashlib
import io
import os
import struct
import zipfile
from functools import cached_property
from typing import BinaryIO

HEAD_BYTES = 1 << 16
_PIECE_BYTES = 1 << 20
_LOCAL, _LOCAL_MARK = struct.Struct("<4sHxxH16xH2x"), b"PK\3\4"
_METHODS = frozenset((0, 8, 9, 12, 14, 93, 95, 98, 99))
"""Methods of compression in use: stored, deflate, deflate64, bzip2, LZMA, Zstandard, XZ, PPMd, and AES around one."""
_MAX_VERSION, _MAX_NAME_BYTES = 63, 4096
CUT_ARCHIVE = "its list of files, at its end, does not list the first of them: it is truncated, or there are several"
ARCHIVE_FAULTS = (
    zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError, struct.error,
)  # fmt: skip
"""Errors of a ZIP archive that is damaged."""


class TooBigError(Exception):
    """More bytes than one document may have."""


class Blob:
    """Bytes with a size, readable as often as needed.

    Parameters
    ----------
    data : bytes or None
        In memory; None for a descriptor.
    descriptor : int
        Open file.
    """

    def __init__(self, data: bytes | None = None, descriptor: int = -1) -> None:
        self._data = data
        self._descriptor = descriptor

    @cached_property
    def size(self) -> int:
        """Number of bytes."""
        return os.fstat(self._descriptor).st_size if self._data is None else len(self._data)

    @cached_property
    def head(self) -> bytes:
        """The first `HEAD_BYTES`; a file that is no longer is held, so that it is read once."""
        if self._data is not None:
            return self._data[:HEAD_BYTES]
        head = os.pread(self._descriptor, min(self.size, HEAD_BYTES) or HEAD_BYTES, 0)
        if len(head) == self.size:
            self._data = head
        return head

    @cached_property
    def archive(self) -> zipfile.ZipFile:
        """The ZIP archive in these bytes; its directory is read once. Raises one of `ARCHIVE_FAULTS`.

        If one of the last files of a cut archive is an archive itself, `zipfile` takes that one for the whole.
        """
        archive = zipfile.ZipFile(self.opened())
        first = _first_entry(self.head)
        if first is not None and all(entry.header_offset > first for entry in archive.infolist()):
            raise zipfile.BadZipFile(CUT_ARCHIVE)
        return archive

    def opened(self) -> BinaryIO:
        """Return a seekable file at the beginning of the bytes."""
        if self._data is not None:
            return io.BytesIO(self._data)
        return io.BufferedReader(_Positioned(self._descriptor, self.size), _PIECE_BYTES)  # type: ignore[type-var]  # its buffer

    def held(self, max_bytes: int) -> bytes:
        """Return all bytes.

        Raises
        ------
        TooBigError
            There are more than ``max_bytes``.
        """
        if self.size > max_bytes:
            raise TooBigError
        if self._data is None:
            with self.opened() as file:
                self._data = file.read()
        return self._data

    @cached_property
    def sha256(self) -> str:
        """Digest of the bytes, in hexadecimal."""
        if self._data is not None:
            return hashlib.sha256(self._data).hexdigest()
        with self.opened() as file:
            return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]  # it reads buffered files


class _Positioned(io.RawIOBase):
    """A descriptor read at a position of its own, so that several readers share it."""

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor = descriptor
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise io.UnsupportedOperation("the position is negative")
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, room: bytearray) -> int:  # type: ignore[override]  # the type of the buffer is wider
        n_read = os.preadv(self._descriptor, [room], self._at)
        self._at += n_read
        return n_read


def _first_entry(head: bytes) -> int | None:
    """Return where the first entry in a file begins; a program before it may hold the mark of one by chance."""
    at = -1
    while (at := head.find(_LOCAL_MARK, at + 1)) >= 0:
        if at + _LOCAL.size > len(head):
            return None
        _, version, method, n_name = _LOCAL.unpack_from(head, at)
        if (at == 0 or method in _METHODS) and version <= _MAX_VERSION and 0 < n_name <= _MAX_NAME_BYTES:
            return at
    return None
