"""Names in the directory of a ZIP archive, where there is nothing unusual about it.

`zipfile` makes an object of many values for each entry, which takes a tenth of the time of a short presentation.
Source: PKWARE, APPNOTE.TXT, .ZIP File Format Specification, 4.3.12 and 4.3.16.
"""

from __future__ import annotations

import struct

_END = struct.Struct("<4s8xII2x")
_ENTRY = struct.Struct("<4s2xB21xHHH12x")
_END_MARK, _ENTRY_MARK, _ZIP64_MARK = b"PK\5\6", b"PK\1\2", b"PK\6\7"
_ZIP64_BYTES = 20
_MAX_VERSION = 63
"""Newest version of the format that `zipfile` reads."""


def usual_names(data: bytes) -> list[str] | None:
    """Return the names of all entries in the order of the directory, as `zipfile.ZipFile.namelist` does.

    Parameters
    ----------
    data : bytes
        The whole archive.

    Returns
    -------
    list of str or None
        None if only `zipfile` can judge: there is something before or behind the archive, an entry with an extra field,
        a name beyond ASCII, ZIP64, damage.

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
    mark, size, at = _END.unpack_from(data, end)
    is_plain = mark == _END_MARK and data.endswith(b"\0\0") and at + size == end
    if not is_plain or data.startswith(_ZIP64_MARK, max(0, end - _ZIP64_BYTES)):
        return None
    names: list[str] = []
    while at < end:
        if end - at < _ENTRY.size:
            return None
        mark, version, n_name, n_extra, n_comment = _ENTRY.unpack_from(data, at)
        at += _ENTRY.size
        name = data[at : at + n_name]
        at += n_name + n_comment
        if mark != _ENTRY_MARK or version > _MAX_VERSION or n_extra or at > end or b"\0" in name or not name.isascii():
            return None
        names.append(name.decode("ascii"))
    return names
