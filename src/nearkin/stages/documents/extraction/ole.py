"""Compound files (OLE), the container of Word 97, Excel 97, PowerPoint 97 and Outlook messages: names and streams.

Only the directory and the streams are read; other modules interpret the bytes of the streams. Source: Microsoft,
[MS-CFB], Compound File Binary File Format.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from nearkin.stages.documents.foreign import COMPOUND_FILE

_END, _FREE, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFF
_MAX_ENTRIES = 1 << 16
_MINI_BYTES = 64
CUT_OFF = "the file is truncated or damaged: text or attachments may be missing"
_STORAGE, _STREAM, _ROOT = 1, 2, 5


class OleError(ValueError):
    """The compound file is damaged."""


@dataclass(frozen=True, slots=True)
class OleEntry:
    """A stream or storage.

    Parameters
    ----------
    path : tuple of str
        Names from the root to the entry.
    is_stream : bool
    start, size : int
        Number of the first sector, and size in bytes.
    """

    path: tuple[str, ...]
    is_stream: bool
    start: int
    size: int


class OleFile:
    """A compound file in memory.

    Parameters
    ----------
    data : bytes

    Raises
    ------
    OleError
        The header, the allocation table or the directory is damaged.
    """

    def __init__(self, data: bytes) -> None:
        if not data.startswith(COMPOUND_FILE) or len(data) < 512:
            raise OleError("not a compound file")
        self._data = data
        shift, mini_shift = struct.unpack_from("<HH", data, 30)
        if shift not in (9, 12) or mini_shift != 6:
            raise OleError("the sector size is wrong")
        self._sector = 1 << shift
        first_directory, self._cutoff, first_mini = struct.unpack_from("<I4xII", data, 48)
        self._fat = self._allocation()
        directory = self._chain(first_directory)
        mini_fat = self._chain(first_mini) if first_mini < _END else b""
        self._mini_fat = _numbers(mini_fat)
        self.are_tables_whole = (len(directory) + len(mini_fat)) % self._sector == 0
        """Whether the directory and the table of the short streams end with a whole sector, as they must."""
        self.entries = tuple(self._walk(directory))
        """All streams and storages, parents before their children."""
        self._root = _entry(directory, 0)

    def names(self) -> set[str]:
        """Return the names in the root, in lower case."""
        return {one.path[0].lower() for one in self.entries if len(one.path) == 1}

    def stream(self, *path: str) -> bytes | None:
        """Return the content of a stream, ignoring the case of its names; None if there is no such stream."""
        wanted = tuple(name.lower() for name in path)
        for one in self.entries:
            if one.is_stream and tuple(name.lower() for name in one.path) == wanted:
                return self.content(one)
        return None

    def content(self, entry: OleEntry) -> bytes:
        """Return the bytes of a stream. Raises OleError if some of them are missing."""
        found = self.available(entry)
        if len(found) < entry.size:
            raise OleError(CUT_OFF)
        return found

    def available(self, entry: OleEntry) -> bytes:
        """Return the bytes of a stream up to the first that is missing."""
        if entry.size >= self._cutoff:
            return self._chain(entry.start, entry.size, is_whole=False)[: entry.size]
        pieces: list[bytes] = []
        at, most = entry.start, min(entry.size, len(self._data))
        while at < _END and len(pieces) * _MINI_BYTES < most:
            pieces.append(self._mini[at * _MINI_BYTES : (at + 1) * _MINI_BYTES])
            at = self._mini_fat[at] if at < len(self._mini_fat) and len(pieces[-1]) == _MINI_BYTES else _END
        return b"".join(pieces)[: entry.size]

    @cached_property
    def is_whole(self) -> bool:
        """Whether the tables of the file, and all bytes of all streams, are there."""
        streams = [one for one in self.entries if one.is_stream]
        if not self.are_tables_whole or sum(one.size for one in streams) > len(self._data):
            return False  # nor is each stream read that thousands of entries claim
        return all(len(self.available(one)) == one.size for one in streams)

    @cached_property
    def _mini(self) -> bytes:
        """The stream that contains the short streams, as far as it is there."""
        return self._chain(self._root[3], is_whole=False)

    def _allocation(self) -> list[int]:
        """Return the table that chains the sectors."""
        data = self._data
        first, n_more = struct.unpack_from("<II", data, 68)
        sectors = [one for one in struct.unpack_from("<109I", data, 76) if one < _END]
        for _ in range(min(n_more, len(data) // self._sector)):
            if first >= _END:
                break
            *more, first = _numbers(self._read(first))
            sectors += [one for one in more if one < _END]
        if len(sectors) > len(data) // self._sector + 1:
            raise OleError("the allocation table is larger than the file")
        return [number for one in sectors for number in _numbers(self._read(one))]

    def _read(self, sector: int) -> bytes:
        start = (sector + 1) * self._sector
        if start >= len(self._data):
            raise OleError("the file is truncated: a sector is outside of it")
        return self._data[start : start + self._sector]

    def _chain(self, start: int, size: int | None = None, *, is_whole: bool = True) -> bytes:
        """Return the sectors of a chain. Raises OleError if it has a cycle, or if it must be whole and is not."""
        pieces: list[bytes] = []
        at, most = start, len(self._data) // self._sector + 1
        while at < _END and (size is None or len(pieces) * self._sector < size):
            if len(pieces) > most:
                raise OleError("a chain of sectors has no end")
            if not is_whole and (at + 1) * self._sector >= len(self._data):
                break
            pieces.append(self._read(at))
            at = self._fat[at] if at < len(self._fat) else _END
        return b"".join(pieces)

    def _walk(self, directory: bytes) -> Iterator[OleEntry]:
        """Yield the entries below the root, each once."""
        n_entries = min(len(directory) // 128, _MAX_ENTRIES)
        waiting: list[tuple[int, tuple[str, ...]]] = [(_entry(directory, 0)[2], ())] if n_entries else []
        seen: set[int] = set()
        while waiting:
            number, above = waiting.pop()
            if number >= n_entries or number in seen:
                continue
            seen.add(number)
            name, kind, child, start, size, left, right = _entry(directory, number)
            waiting += [(right, above), (left, above)]
            if kind in (_STORAGE, _STREAM):
                yield OleEntry((*above, name), kind == _STREAM, start, size)
            if kind == _STORAGE:
                waiting.append((child, (*above, name)))


def _numbers(data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4]))


def _entry(directory: bytes, number: int) -> tuple[str, int, int, int, int, int, int]:
    """Return the fields of an entry in the directory: name, kind, first child, first sector, size, left and right."""
    raw = directory[number * 128 : number * 128 + 128]
    if len(raw) < 128:
        raise OleError("the directory is truncated")
    n_name, kind = struct.unpack_from("<HB", raw, 64)
    left, right, child = struct.unpack_from("<III", raw, 68)
    start, size = struct.unpack_from("<II", raw, 116)
    name = raw[: max(0, min(n_name, 64) - 2)].decode("utf-16-le", "replace")
    return name, kind, child, start, size, left, right
