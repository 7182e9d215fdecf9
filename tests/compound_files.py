"""Compound files (OLE) for tests: streams and storages, small streams in the mini stream as the format demands."""

from __future__ import annotations

import struct
from collections.abc import Mapping

_SECTOR, _MINI, _CUTOFF = 512, 64, 4096
_END, _FREE, _FAT, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF


def compound_file(streams: Mapping[tuple[str, ...], bytes]) -> bytes:
    """A compound file with these streams; their storages are made as needed."""
    paths: list[tuple[str, ...]] = []
    for path in streams:
        paths += [path[:n] for n in range(1, len(path) + 1) if path[:n] not in paths]
    fat: list[int] = []
    body = b""

    def chained(data: bytes) -> int:
        nonlocal body
        if not data:
            return _END
        first, n = len(fat), -(-len(data) // _SECTOR)
        fat.extend([*range(first + 1, first + n), _END])
        body += data.ljust(n * _SECTOR, b"\0")
        return first

    mini, mini_fat, starts = b"", list[int](), dict[tuple[str, ...], int]()
    for path, data in streams.items():
        if len(data) >= _CUTOFF:
            starts[path] = chained(data)
        elif data:
            n = -(-len(data) // _MINI)
            starts[path] = len(mini_fat)
            mini_fat += [*range(len(mini_fat) + 1, len(mini_fat) + n), _END]
            mini += data.ljust(n * _MINI, b"\0")
        else:
            starts[path] = _END
    first_mini = chained(mini)
    first_mini_fat = chained(struct.pack(f"<{len(mini_fat)}I", *mini_fat) if mini_fat else b"")
    entries = [_entry("Root Entry", 5, _child(paths, ()), _NONE, first_mini, len(mini))]
    for path in paths:
        siblings = [one for one in paths if one[:-1] == path[:-1]]
        at = siblings.index(path)
        right = paths.index(siblings[at + 1]) + 1 if at + 1 < len(siblings) else _NONE
        is_stream = path in streams
        entries.append(
            _entry(
                path[-1], 2 if is_stream else 1, _child(paths, path), right, starts.get(path, 0),
                len(streams.get(path, b"")),
            )
        )  # fmt: skip
    first_directory = chained(b"".join(entries))
    n_fat = 1
    while (len(fat) + n_fat) * 4 > n_fat * _SECTOR:
        n_fat += 1
    places = list(range(len(fat), len(fat) + n_fat))
    fat += [_FAT] * n_fat
    table = struct.pack(f"<{len(fat)}I", *fat).ljust(n_fat * _SECTOR, b"\xff")
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<HHHHH6xII", 0x3E, 3, 0xFFFE, 9, 6, 0, n_fat)
    header += struct.pack("<IIIIIII", first_directory, 0, _CUTOFF, first_mini_fat, 1, _END, 0)
    return header + struct.pack("<109I", *places, *[_FREE] * (109 - n_fat)) + body + table


def _child(paths: list[tuple[str, ...]], path: tuple[str, ...]) -> int:
    return next((at + 1 for at, one in enumerate(paths) if one[:-1] == path), _NONE)


def _entry(name: str, kind: int, child: int, right: int, start: int, size: int) -> bytes:
    wide = name.encode("utf-16-le") + b"\0\0"
    told = wide.ljust(64, b"\0") + struct.pack("<HBB", len(wide), kind, 1)
    return told + struct.pack("<III", _NONE, right, child) + bytes(36) + struct.pack("<III", start, size, 0)


def message(
    properties: Mapping[str, str | bytes], *, fixed: Mapping[int, int] | None = None,
    inside: Mapping[str, Mapping[str, str | bytes]] | None = None,
) -> bytes:  # fmt: skip
    """A message of Outlook: strings in Unicode by their codes, and storages of attachments and recipients."""
    streams: dict[tuple[str, ...], bytes] = {("__properties_version1.0",): bytes(32) + _fixed(fixed or {})}
    streams |= {(name,): data for name, data in _properties(properties)}
    for storage, told in (inside or {}).items():
        streams[storage, "__properties_version1.0"] = bytes(8) + _fixed({0x0C15: 1})
        streams |= {(storage, name): data for name, data in _properties(told)}
    return compound_file(streams)


def _properties(told: Mapping[str, str | bytes]) -> list[tuple[str, bytes]]:
    return [
        (f"__substg1.0_{code}{'001F' if isinstance(value, str) else '0102'}",
         value.encode("utf-16-le") if isinstance(value, str) else value)
        for code, value in told.items()
    ]  # fmt: skip


def _fixed(told: Mapping[int, int]) -> bytes:
    return b"".join(struct.pack("<HHIQ", 0x40, number, 0, value) for number, value in told.items())
