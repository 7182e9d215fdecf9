"""Header values as text: encoded words of RFC 2047, raw 8-bit characters, folded lines.

Damaged words stay readable: what cannot be decoded is kept as it stands. Source: Keith Moore, "MIME (Multipurpose
Internet Mail Extensions) Part Three: Message Header Extensions for Non-ASCII Text" (RFC 2047).
"""

from __future__ import annotations

import base64
import binascii
import re
from quopri import decodestring

_WORD = re.compile(r"=\?([!-)+->@-~]{1,75})(?:\*[!->@-~]{0,75})?\?([bBqQ])\?([^?\r\n]*)\?=")
_BETWEEN = re.compile(r"\s*")


def decoded_header(value: str) -> str:
    r"""Return a header value as text in one line.

    Parameters
    ----------
    value : str
        With unpaired surrogates for bytes that are not ASCII, as `email` gives them.

    Examples
    --------
    >>> decoded_header("=?utf-8?q?Z=C3=BCrich?= =?utf-8?b?IOKCrA==?=\r\n and  more")
    'Zürich € and more'
    >>> decoded_header("=?no-such-charset?q?a=20b?= caf\udce9")
    'a b café'
    """
    if "=?" not in value:
        return _in_one_line(_raw(value))
    pieces: list[str] = []
    pending, charset, end = b"", "", 0
    for found in _WORD.finditer(value):
        between = value[end : found.start()]
        is_joined = bool(end) and _BETWEEN.fullmatch(between) is not None
        data = _bytes_of(found[2], found[3])
        if data is None:
            continue  # it stays as it is, with what is around it
        if is_joined and found[1].lower() == charset:
            pending += data  # a character may be divided between two words
        else:
            pieces.append(_text(pending, charset))
            pieces.append("" if is_joined else _raw(between))
            pending, charset = data, found[1].lower()
        end = found.end()
    pieces += [_text(pending, charset), _raw(value[end:])]
    return _in_one_line("".join(pieces))


def _in_one_line(text: str) -> str:
    return " ".join(text.replace("\0", "").split())


def _bytes_of(encoding: str, data: str) -> bytes | None:
    """Return the bytes of an encoded word; None if it is damaged."""
    raw = data.encode("utf-8", "surrogateescape")
    if encoding in "qQ":
        return decodestring(raw.replace(b"_", b" "), header=True)
    try:
        return base64.b64decode(raw + b"=" * (-len(raw) % 4))
    except binascii.Error:
        return None


def _text(data: bytes, charset: str) -> str:
    try:
        return data.decode(charset) if charset else ""
    except (LookupError, UnicodeError):  # an unknown charset, or bytes that are not in it
        return _legible(data)


def _raw(value: str) -> str:
    """Return characters that are not in encoded words; raw bytes are decoded."""
    return value if value.isascii() else _legible(value.encode("utf-8", "surrogateescape"))


def _legible(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
