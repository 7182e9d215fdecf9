"""Compound files (OLE), the container of Word 97, Excel 97, PowerPoint 97 and Outlook messages, read by olefile."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

CUT_OFF = "the file is truncated or damaged: text or attachments may be missing"
_FREE = 0xFFFFFFFF


class OleError(ValueError):
    """The compound file is damaged."""


@dataclass(frozen=True, slots=True)
class OleEntry:
    """A stream or storage: the names from the root to it, and its size in bytes."""

    path: tuple[str, ...]
    is_stream: bool
    size: int


class OleFile:
    """A compound file in memory. Raises OleError if its header or its tables are damaged."""

    def __init__(self, data: bytes) -> None:
        import olefile

        self._n_bytes = len(data)
        try:
            self._file = olefile.OleFileIO(io.BytesIO(data))
            self.entries = tuple(_walk(self._file.root))
        except (OSError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError, struct.error) as error:
            raise OleError(f"not a compound file, or damaged: {error}") from error
        """All streams and storages, parents before their children."""
        n_sectors = next((at + 1 for at in range(len(self._file.fat) - 1, -1, -1) if self._file.fat[at] != _FREE), 0)
        self.are_tables_whole = n_sectors * self._file.sectorsize < len(data)
        """Whether the file has all sectors that its table calls used; the last one may be short."""

    def names(self) -> set[str]:
        """Return the names in the root, in lower case."""
        return {entry.path[0].lower() for entry in self.entries if len(entry.path) == 1}

    def stream(self, *path: str) -> bytes | None:
        """Return the content of a stream, ignoring the case of its names; None if there is none. Raises OleError."""
        wanted = [name.lower() for name in path]
        for entry in self.entries:
            if entry.is_stream and [name.lower() for name in entry.path] == wanted:
                content = self.available(entry)
                if len(content) < entry.size:
                    raise OleError(CUT_OFF)
                return content
        return None

    def available(self, entry: OleEntry) -> bytes:
        """Return the bytes of a stream up to the first that is missing."""
        if entry.size > self._n_bytes:  # else as many sectors would be asked for
            return b""
        try:
            content: bytes = self._file.openstream(list(entry.path)).read()
        except (OSError, ValueError, TypeError, LookupError, ArithmeticError, struct.error):
            return b""
        return content

    @cached_property
    def is_whole(self) -> bool:
        """Whether all bytes of all streams are there."""
        streams = [entry for entry in self.entries if entry.is_stream]
        if not self.are_tables_whole or sum(entry.size for entry in streams) > self._n_bytes:
            return False  # nor is each stream read that thousands of entries claim
        return all(len(self.available(entry)) == entry.size for entry in streams)


def _walk(root: Any) -> Iterator[OleEntry]:
    waiting: list[tuple[tuple[str, ...], Any]] = [((), root)]
    while waiting:
        path, above = waiting.pop()
        for kid in above.kids:
            is_stream = kid.entry_type == 2
            yield OleEntry((*path, kid.name), is_stream, kid.size)
            if not is_stream:
                waiting.append(((*path, kid.name), kid))
