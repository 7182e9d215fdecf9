"""Directory of a ZIP archive: its names where nothing is unusual about it, and the archive without what is around it.

`zipfile` makes an object of many values for each entry, which takes a tenth of the time of a short presentation.
Source: PKWARE, APPNOTE.TXT, .ZIP File Format Specification, 4.3.12 and 4.3.16.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from typing import BinaryIO, Literal

_HEAD_BYTES = 1 << 16
_LOCAL = struct.Struct("<4sHxxH16xH2x")
_METHODS = frozenset((0, 8, 9, 12, 14, 93, 95, 98, 99))
"""Methods of compression in use: stored, deflate, deflate64, bzip2, LZMA, Zstandard, XZ, PPMd, and AES around one."""
_MAX_NAME_BYTES = 4096
_END = struct.Struct("<4s4xHHII2x")
_ENTRY = struct.Struct("<4s2xBxB19xHHH12x")
_END_MARK, _ENTRY_MARK, _LOCAL_MARK = b"PK\5\6", b"PK\1\2", b"PK\3\4"
_ZIP64_MARK, _ZIP64_END_MARK = b"PK\6\7", b"PK\6\6"
_ZIP64_BYTES = 20
_ZIP64_END = struct.Struct("<4s36xQQ")
_MAX_VERSION = 63
"""Newest version of the format that `zipfile` reads."""
_ENCRYPTED = 1
_MAX_COMMENT_BYTES = 1 << 16
_TAIL_BYTES = _MAX_COMMENT_BYTES + _END.size + _ZIP64_BYTES + _ZIP64_END.size
"""Number of bytes at the end of a file in which the record at the end of an archive lies, with that of ZIP64."""
_MANY = (1 << 16) - 1
"""Number of entries from which on the directory has a record of ZIP64."""


def usual_names(data: bytes) -> list[str] | None:
    """Return the names of all entries in the order of the directory, as `zipfile.ZipFile.namelist` does.

    Parameters
    ----------
    data : bytes
        The whole archive.

    Returns
    -------
    list of str or None
        None if only `zipfile` can judge: there is something before or behind the archive, an encrypted entry, one with
        an extra field, a name beyond ASCII, ZIP64, another number of entries, damage.

    Examples
    --------
    >>> import io, zipfile
    >>> held = io.BytesIO()
    >>> with zipfile.ZipFile(held, "w") as archive:
    ...     archive.writestr("word/document.xml", "It was.")
    >>> usual_names(held.getvalue()), usual_names(held.getvalue()[:-1])
    (['word/document.xml'], None)
    """
    end = len(data) - _END.size
    if end < 0:
        return None
    mark, _, n_entries, size, at = _END.unpack_from(data, end)
    is_plain = mark == _END_MARK and data.endswith(b"\0\0") and at + size == end
    if not is_plain or data.startswith(_ZIP64_MARK, max(0, end - _ZIP64_BYTES)):
        return None
    names: list[str] = []
    while at < end:
        if end - at < _ENTRY.size:
            return None
        mark, version, flags, n_name, n_extra, n_comment = _ENTRY.unpack_from(data, at)
        at += _ENTRY.size
        name = data[at : at + n_name]
        at += n_name + n_comment
        is_usual = mark == _ENTRY_MARK and version <= _MAX_VERSION and not (flags & _ENCRYPTED or n_extra)
        if not is_usual or at > end or b"\0" in name or not name.isascii():
            return None
        names.append(name.decode("ascii"))
    return names if len(names) == n_entries else None


def archive_alone(data: bytes) -> bytes:
    """Return a ZIP archive without the bytes before and behind it, and with the number of entries of its directory.

    Which archive that is, if there are several, is what `zipfile` says: the one whose record comes last. It counts the
    entries itself; others read as many as the record says, or refuse the archive.

    Parameters
    ----------
    data : bytes
        An archive that `zipfile` reads.

    Examples
    --------
    >>> import io, zipfile
    >>> held = io.BytesIO()
    >>> with zipfile.ZipFile(held, "w") as archive:
    ...     archive.writestr("word/document.xml", "It was.")
    >>> archive_alone(b"#!/bin/sh" + held.getvalue() + b"more") == held.getvalue()
    True
    """
    end = _end_record(data)
    if end is None or data.startswith(_ZIP64_MARK, max(0, end - _ZIP64_BYTES)):
        return data
    _, *told, size, offset = _END.unpack_from(data, end)
    begin = end - size - offset
    n_entries = _n_entries(data, end - size, end)
    if begin < 0 or n_entries >= _MANY:
        return data
    if begin == 0 and told == [n_entries] * 2 and end + _END.size == len(data):
        return data
    return data[begin:end] + _END.pack(_END_MARK, n_entries, n_entries, size, offset)


def before(file: BinaryIO, n_bytes: int) -> Literal["", "part", "archive"]:
    """Return what precedes the archive that `zipfile` finds in a file.

    An archive that was cut has no directory. If one of its last entries is an archive itself, stored as it is, readers
    take that one for the whole. A program that unpacks itself, or a mark, may come before the first entry.

    Parameters
    ----------
    file : binary file
    n_bytes : int
        Its size.

    Returns
    -------
    str
        "part" if the file begins with entries whose directory is missing, whether an archive is behind them or not;
        "archive" if a whole one is before the one that is read; else "".

    Examples
    --------
    >>> import io, zipfile
    >>> inner, outer = io.BytesIO(), io.BytesIO()
    >>> for held, name in ((inner, "offer.txt"), (outer, "inner.zip")):
    ...     with zipfile.ZipFile(held, "w") as archive:
    ...         archive.writestr(name, inner.getvalue() or "It was.")
    >>> whole, cut = outer.getvalue(), outer.getvalue()[:-22]
    >>> zipfile.ZipFile(io.BytesIO(cut)).namelist()
    ['offer.txt']
    >>> [before(io.BytesIO(data), len(data)) for data in (whole, cut, whole + whole)]
    ['', 'part', 'archive']
    """
    first = first_entry(file.read(_HEAD_BYTES))
    if first is None:
        return ""
    file.seek(max(0, n_bytes - _TAIL_BYTES))
    tail = file.read()
    end = _end_record(tail)
    if end is None:
        return "part"
    end, size, offset = _directory_before(tail, end)
    begin = n_bytes - (len(tail) - end) - size - offset
    if begin <= first:
        return ""
    file.seek(max(0, begin - _TAIL_BYTES))
    return "archive" if _ends_an_archive(file.read(min(begin, _TAIL_BYTES))) else "part"


def first_entry(head: bytes) -> int | None:
    """Return where the first entry in a file begins; a program before it may hold the mark of one by chance."""
    at = -1
    while (at := head.find(_LOCAL_MARK, at + 1)) >= 0:
        if at + _LOCAL.size > len(head):
            return None
        _, version, method, n_name = _LOCAL.unpack_from(head, at)
        if (at == 0 or method in _METHODS) and version <= _MAX_VERSION and 0 < n_name <= _MAX_NAME_BYTES:
            return at
    return None


def _ends_an_archive(data: bytes) -> bool:
    """Whether the last record at the end of an archive has its directory before it, and no entry behind it."""
    at = data.rfind(_END_MARK)
    if at < 0 or at + _END.size > len(data) or _LOCAL_MARK in data[at:]:
        return False
    at, size, _ = _directory_before(data, at)
    return size > at or not size or data.startswith(_ENTRY_MARK, at - size)


def _directory_before(data: bytes, end: int) -> tuple[int, int, int]:
    """Return where the directory before an end record ends, its size, and the offset that the record gives."""
    *_, size, offset = _END.unpack_from(data, end)
    at_64 = end - _ZIP64_BYTES - _ZIP64_END.size
    if at_64 >= 0 and data.startswith(_ZIP64_MARK, end - _ZIP64_BYTES) and data.startswith(_ZIP64_END_MARK, at_64):
        end, (_, size, offset) = at_64, _ZIP64_END.unpack_from(data, at_64)
    return end, size, offset


def _end_record(data: bytes) -> int | None:
    """Return where the record at the end of an archive begins, as `zipfile` finds it."""
    end = len(data) - _END.size
    if end >= 0 and data.startswith(_END_MARK, end) and data.endswith(b"\0\0"):
        return end
    at = data.rfind(_END_MARK, max(0, end - _MAX_COMMENT_BYTES))
    return at if 0 <= at <= end else None


def _n_entries(data: bytes, at: int, end: int) -> int:
    """Return the number of entries in a directory."""
    n_entries, at = 0, max(0, at)  # a damaged record may place the directory before the file
    while end - at >= _ENTRY.size:
        _, _, _, n_name, n_extra, n_comment = _ENTRY.unpack_from(data, at)
        at += _ENTRY.size + n_name + n_extra + n_comment
        n_entries += 1
    return n_entries


_DRIVE = re.compile(r"^(?:[A-Za-z]:(?=[\\/]))+")
_MAX_CHARACTERS = 1000
_CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")


def safe_name(name: str) -> str:
    r"""Return a relative name with slashes, without "..", drives and control characters.

    Examples
    --------
    >>> safe_name("../../etc/passwd"), safe_name("C:\\Users\\a.doc"), safe_name("/a//b/./c"), safe_name("a\nb")
    ('etc/passwd', 'Users/a.doc', 'a/b/c', 'a%0Ab')
    >>> safe_name(r"\\server\share\x.doc"), safe_name("..")
    ('server/share/x.doc', '')
    """
    shown = "".join(one if unicodedata.category(one) not in _CONTROLS else _escaped(one) for one in name)
    parts = [part for part in shown.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    while parts and _DRIVE.match(f"{parts[0]}/"):
        del parts[0]
    return "/".join(parts)[:_MAX_CHARACTERS].rstrip("/")


def _escaped(one: str) -> str:
    return "".join(f"%{byte:02X}" for byte in one.encode("utf-8", "surrogatepass"))
