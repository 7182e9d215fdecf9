"""Bytes of a file, or of one inside it: on the disk as an open descriptor, or in memory."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from functools import cached_property
from typing import BinaryIO, Literal

from nearkin.stages.documents.extraction.zip_names import archive_alone, before, usual_names

HEAD_BYTES = 1 << 16
_PIECE_BYTES = 1 << 20
_ENCRYPTED = 1
_HELD_ARCHIVE_BYTES = 8 << 20
"""Size up to which an archive is read at once: most are office files, whose bytes are needed anyway."""


CUT_ARCHIVE = "it is truncated, so the list of its files, at its end, is missing"

ANOTHER_BEFORE = "the file holds several ZIP archives, one behind the other; only the last was read"


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
        """The ZIP archive in these bytes; its directory is read once.

        Raises
        ------
        BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError, struct.error
            It is damaged.
        """
        if self.before_archive == "part":
            raise zipfile.BadZipFile(CUT_ARCHIVE)
        return zipfile.ZipFile(self.opened())

    @cached_property
    def before_archive(self) -> Literal["", "part", "archive"]:
        """Kind of what lies before the ZIP archive that is read in these bytes, as `zip_names.before` returns it."""
        if self._usual_names is not None:
            return ""
        with self.opened() as file:
            return before(file, self.size)

    @cached_property
    def names_in_archive(self) -> list[str]:
        """Names in the ZIP archive in these bytes, in the order of its directory; errors as of `archive`."""
        return self.archive.namelist() if self._usual_names is None else self._usual_names

    @cached_property
    def n_encrypted(self) -> int:
        """Number of encrypted entries in the ZIP archive in these bytes; errors as of `archive`."""
        if self._usual_names is not None:
            return 0
        return sum(entry.flag_bits & _ENCRYPTED for entry in self.archive.infolist())

    def archive_alone(self, max_bytes: int) -> bytes:
        """Return the ZIP archive in these bytes without what is around it; `TooBigError` as of `held`."""
        data = self.held(max_bytes)
        return data if self._usual_names is not None else archive_alone(data)

    @cached_property
    def _usual_names(self) -> list[str] | None:
        """Names in the ZIP archive in these bytes, if there is nothing unusual about it."""
        return usual_names(self.held(self.size)) if self.size <= _HELD_ARCHIVE_BYTES else None

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
