"""Compound files (OLE), the container of Word 97, Excel 97, PowerPoint 97 and Outlook messages, read by olefile."""

from __future__ import annotations

import io
import struct
from functools import cached_property

CUT_OFF = "the file is truncated or damaged: text or attachments may be missing"
_FREE = 0xFFFFFFFF
_FAULTS = (OSError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError, struct.error)
Path = tuple[str, ...]


class OleError(ValueError):
    """The compound file is damaged."""


class OleFile:
    """A compound file in memory, by paths in lower case; OleError if its header or its tables are damaged."""

    def __init__(self, data: bytes) -> None:
        import olefile

        self._n_bytes = len(data)
        try:
            self._file = olefile.OleFileIO(io.BytesIO(data))
            self.sizes = {_lower(path): int(self._file.get_size(path)) for path in self._file.listdir()}
            self.storages = [_lower(path) for path in self._file.listdir(streams=False, storages=True)]
        except _FAULTS as error:
            raise OleError(f"not a compound file, or damaged: {error}") from error
        n_sectors = next((at + 1 for at in range(len(self._file.fat) - 1, -1, -1) if self._file.fat[at] != _FREE), 0)
        self.are_tables_whole = n_sectors * self._file.sectorsize < len(data)
        """Whether the file has all sectors that its table calls used; the last one may be short."""

    @property
    def paths(self) -> set[str]:
        """The paths of streams and storages, with slashes."""
        return {"/".join(path) for path in (*self.sizes, *self.storages)}

    def stream(self, name: str) -> bytes | None:
        """Return the content of a stream in the root; None if there is none."""
        path = (name.lower(),)
        if path in self.sizes and len(self.available(path)) < self.sizes[path]:
            raise OleError(CUT_OFF)
        return self.available(path) if path in self.sizes else None

    def available(self, path: Path) -> bytes:
        """Return the bytes of a stream up to the first that is missing."""
        if self.sizes.get(path, 0) > self._n_bytes:  # else as many sectors would be asked for
            return b""
        try:
            content: bytes = self._file.openstream(list(path)).read()
        except _FAULTS:
            return b""
        return content

    @cached_property
    def is_whole(self) -> bool:
        """Whether all bytes of all streams are there."""
        if not self.are_tables_whole or sum(self.sizes.values()) > self._n_bytes:
            return False  # nor is each stream read that thousands of entries claim
        return all(len(self.available(path)) == size for path, size in self.sizes.items())


def _lower(path: list[str]) -> Path:
    return tuple(name.lower() for name in path)
