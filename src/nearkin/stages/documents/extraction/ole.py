"""Compound files (OLE), the container of Word 97, Excel 97, PowerPoint 97 and Outlook messages, read by olefile."""

from __future__ import annotations

import io
import struct
from functools import cached_property

CUT_OFF = "the file is truncated or damaged: text or attachments may be missing"
_FREE = 0xFFFFFFFF
_FAULTS = (OSError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError, struct.error)


class OleError(ValueError):
    """The compound file is damaged."""


class OleFile:
    """A compound file in memory, by paths in any case; OleError if its header or its tables are damaged."""

    def __init__(self, data: bytes) -> None:
        import olefile

        self._n_bytes = len(data)
        try:
            self._file = olefile.OleFileIO(io.BytesIO(data))
            self.streams = [tuple(path) for path in self._file.listdir()]
            self.storages = [tuple(path) for path in self._file.listdir(streams=False, storages=True)]
        except _FAULTS as error:
            raise OleError(f"not a compound file, or damaged: {error}") from error
        self._sizes = {_key(path): self._file.get_size(list(path)) for path in self.streams}
        n_sectors = next((at + 1 for at in range(len(self._file.fat) - 1, -1, -1) if self._file.fat[at] != _FREE), 0)
        self.are_tables_whole = n_sectors * self._file.sectorsize < len(data)
        """Whether the file has all sectors that its table calls used; the last one may be short."""

    @property
    def names(self) -> set[str]:
        """The names in the root, in lower case."""
        return {path[0].lower() for path in (*self.streams, *self.storages) if len(path) == 1}

    def is_storage(self, path: tuple[str, ...]) -> bool:
        """Whether there is a storage with this path."""
        return _key(path) in map(_key, self.storages)

    def size(self, path: tuple[str, ...]) -> int | None:
        """Return the size of a stream; None if there is none."""
        return self._sizes.get(_key(path))

    def stream(self, *path: str) -> bytes | None:
        """Return the content of a stream; None if there is none."""
        if (size := self.size(path)) is None:
            return None
        if len(content := self.available(path)) < size:
            raise OleError(CUT_OFF)
        return content

    def available(self, path: tuple[str, ...]) -> bytes:
        """Return the bytes of a stream up to the first that is missing."""
        if (self.size(path) or 0) > self._n_bytes:  # else as many sectors would be asked for
            return b""
        try:
            content: bytes = self._file.openstream(list(path)).read()
        except _FAULTS:
            return b""
        return content

    @cached_property
    def is_whole(self) -> bool:
        """Whether all bytes of all streams are there."""
        if not self.are_tables_whole or sum(self._sizes.values()) > self._n_bytes:
            return False  # nor is each stream read that thousands of entries claim
        return all(len(self.available(path)) == self.size(path) for path in self.streams)


def _key(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.lower() for name in path)
