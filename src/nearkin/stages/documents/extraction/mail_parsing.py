"""Mails as `email` parses them, in less time: `email` goes line by line, and through all headers to find one."""

from __future__ import annotations

import re
from email import message_from_bytes
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import compat32
from functools import lru_cache
from typing import Any

_BLANK_LINE = re.compile(rb"\n(?:\r\n?|\n)|\r(?:\n(?:\r\n?|\n)|\r\n?)")
"""Two line ends, each of them CR LF, LF or CR: the two halves of one CR LF are no blank line."""
_HEADERS = re.compile(r"(?:[!-9;-~]+:[^\r\n]*\r?\n(?:[ \t][^\r\n]*\r?\n)*+)++")
_HEADER = re.compile(r"[^\n]*\n(?:[ \t][^\n]*\n)*")
_LINE = re.compile(r"[^\n]*\n")
_MAX_SHARED = 200
"""Length of a header value up to which its parameters are remembered: long ones hardly come twice."""
_MAX_PARSED = 1 << 14
"""Length of a header value up to which parameters are looked for: `email` copies the rest of it for each of them."""


class ParsedMail(Message):
    """A mail or a part of one, with a table of its headers."""

    _table: dict[str, tuple[str, Any]] | None = None
    _kind: str | None = None

    def get(self, name: str, failobj: Any = None) -> Any:
        """Return the first header of a name."""
        found = self._first_headers().get(name.lower())
        return failobj if found is None else self.policy.header_fetch_parse(*found)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._first_headers()

    def get_content_type(self) -> str:
        """Return the type, in lower case."""
        if "content-type" not in self._first_headers():
            return super().get_content_type()
        if self._kind is None:
            self._kind = super().get_content_type()
        return self._kind

    def __setitem__(self, name: str, value: Any) -> None:
        self._table = None
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        self._table = None
        super().__delitem__(name)

    def set_raw(self, name: str, value: Any) -> None:
        """Add a header without looking at it."""
        self._table = None
        super().set_raw(name, value)

    def replace_header(self, _name: str, _value: Any) -> None:
        """Replace the first header of a name."""
        self._table = None
        super().replace_header(_name, _value)

    def set_boundary(self, boundary: str) -> None:
        """Set the parameter of Content-Type."""
        super().set_boundary(boundary)
        self._table = None

    def _first_headers(self) -> dict[str, tuple[str, Any]]:
        """Return the first header of each name, in lower case."""
        if self._table is None:
            self._table, self._kind = {}, None
            for header in self.raw_items():
                self._table.setdefault(header[0].lower(), header)
        return self._table

    def get_param(self, param: str, failobj: Any = None, header: str = "content-type", unquote: bool = True) -> Any:
        """Return a parameter of a header; charset, boundary and file name are asked for by it."""
        value = self.get(header)
        if not isinstance(value, str):
            return super().get_param(param, failobj, header, unquote)
        find = _shared_parameter if len(value) <= _MAX_SHARED else _parameter
        found = find(value[:_MAX_PARSED], param, unquote)
        return failobj if found is None else found


def _parameter(value: str, param: str, unquote: bool) -> Any:
    """Return a parameter of the value of a header; None if it has none of this name."""
    holder = Message()
    holder["Content-Type"] = value
    return holder.get_param(param, None, unquote=unquote)


_shared_parameter = lru_cache(maxsize=256)(_parameter)
"""The same, remembered: "text/plain; charset=us-ascii" comes with every other mail."""


def end_of_headers(data: bytes) -> int | None:
    r"""Return where the blank line behind the headers ends; None if there is none.

    Examples
    --------
    >>> end_of_headers(b"A: b\n\nc"), end_of_headers(b"A: b\r\n\r\nc"), end_of_headers(b"A: b\r\nC: d\r\n")
    (6, 8, None)
    """
    if b"\r" not in data:
        return None if (at := data.find(b"\n\n")) < 0 else at + 2
    found = _BLANK_LINE.search(data)
    return None if found is None else found.end()


def parsed_mail(data: bytes) -> Message:
    r"""Return a mail as `email.message_from_bytes` parses it.

    The parser takes a body line by line, also where it does not look into it: that of a mail without parts is taken at
    once.

    Examples
    --------
    >>> parsed_mail(b"Subject: x\r\n\r\nGood\r\nday").get_payload()
    'Good\r\nday'
    """
    if (end := end_of_headers(data)) is not None:
        message = _of_headers(data[:end])
        is_one_part = message.get_content_maintype() not in ("multipart", "message")
        if is_one_part and not message.defects and message.get_payload() == "":  # else the body begins before
            message.set_payload(data[end:].decode("ascii", "surrogateescape"))
            return message
    return message_from_bytes(data, _class=ParsedMail, policy=compat32)


def _of_headers(data: bytes) -> Message:
    """Return a mail without its body; `data` ends with a blank line."""
    text = data.decode("ascii", "surrogateescape")
    headers = text[:-2] if text.endswith("\r\n") else text[:-1]
    if _HEADERS.fullmatch(headers) is None:
        return BytesHeaderParser(ParsedMail, policy=compat32).parsebytes(data)
    message = ParsedMail(policy=compat32)
    for header in _HEADER.findall(headers):
        lines = [header] if header.find("\n") == len(header) - 1 else _LINE.findall(header)
        message.set_raw(*compat32.header_source_parse(lines))
    message.set_payload("")
    return message
