"""A message of Outlook (MSG): its properties are made into a mail, which is then read like any other mail.

Source: Microsoft, [MS-OXMSG], Outlook Item (.msg) File Format, and [MS-OXRTFCP], RTF Compression Algorithm.
"""

from __future__ import annotations

import base64
import struct
from datetime import UTC, datetime, timedelta
from email import message_from_string, policy
from email.message import Message
from email.utils import format_datetime

from nearkin.stages.documents.extraction.mail import MailReading
from nearkin.stages.documents.extraction.office import rtf_text
from nearkin.stages.documents.extraction.ole import CUT_OFF, OleEntry, OleError, OleFile
from nearkin.stages.documents.extraction.plain import decoded
from nearkin.stages.documents.extraction.reading import DocumentRead, ExtractionError, Given

_TOP_HEADER, _NESTED_HEADER, _PART_HEADER = 32, 24, 8
_SUBJECT, _BODY, _HTML, _RTF, _HEADERS = "0037", "1000", "1013", "1009", "007D"
_SENDER_NAME, _SENDER_ADDRESS, _SENDER_SMTP, _TO, _CC = "0C1A", "0C1F", "5D01", "0E04", "0E03"
_MESSAGE_ID, _REPLY_TO, _REFERENCES = "1035", "1042", "1039"
_LONG_NAME, _SHORT_NAME, _SHOWN_NAME, _DATA, _MIME = "3707", "3704", "3001", "3701", "370E"
_SUBMITTED, _DELIVERED, _CODE_PAGE, _INTERNET_CODE_PAGE, _RECIPIENT_TYPE = 0x0039, 0x0E06, 0x3FFD, 0x3FDE, 0x0C15
_RECIPIENT_NAME, _RECIPIENT_SMTP, _RECIPIENT_ADDRESS = "3001", "39FE", "3003"
_TYPES = {1: "to", 2: "cc"}
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_MAX_LEVELS = 12
_RTF_BEGINNING = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans "
    rb"SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0" + b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)


def read_message(given: Given) -> DocumentRead:
    """Return the body of a message of Outlook, with its headers and its attachments."""
    try:
        reader = _MessageReader(OleFile(given.data), given)
        message = reader.message((), _TOP_HEADER, 0)
    except (OleError, struct.error) as error:
        raise ExtractionError("damaged", f"the message of Outlook is damaged: {error}") from error
    read = MailReading(message, given, damage=dict.fromkeys(reader.cut_off, CUT_OFF)).document()
    return read if reader.is_whole else read.lacking("damaged", CUT_OFF)


class _MessageReader:
    """Properties of a message, and of messages inside it."""

    def __init__(self, file: OleFile, given: Given) -> None:
        self.cut_off: set[int] = set()
        self._n_cut_off = 0
        self._given = given
        self._file = file
        self._streams = {tuple(name.lower() for name in one.path): one for one in file.entries if one.is_stream}
        self._storages = [one.path for one in file.entries if not one.is_stream]
        self._code_page = "cp1252"

    @property
    def is_whole(self) -> bool:
        """Whether all properties are there."""
        return self._file.is_whole

    def message(self, place: tuple[str, ...], n_header: int, level: int) -> Message:
        """Return the message in a storage of the compound file as a mail."""
        fixed = self._fixed(place, n_header)
        if page := (fixed.get(_CODE_PAGE) or fixed.get(_INTERNET_CODE_PAGE) or 0) & 0xFFFF:
            self._code_page = "utf-8" if page == 65001 else f"cp{page}"
        raw = self._text(place, _HEADERS) or ""
        mail = message_from_string(raw.split("\r\n\r\n", 1)[0].rstrip() + "\n\n", policy=policy.compat32)
        for name in ("content-type", "content-transfer-encoding", "mime-version", "content-disposition"):
            del mail[name]
        self._add_headers(mail, place, fixed)
        mail.add_header("Content-Type", "multipart/mixed")
        mail.set_payload([])
        if (body := self._body(place)) is not None:
            mail.attach(body)
        for path in self._inside(place, "__attach_version1.0_#"):
            if (part := self._attachment(path, level)) is not None:
                mail.attach(part)
        return mail

    def _add_headers(self, mail: Message, place: tuple[str, ...], fixed: dict[int, int]) -> None:
        """Add fields that the transport headers lack: a message that was never sent has no transport headers."""
        name = self._text(place, _SENDER_NAME)
        address = self._text(place, _SENDER_SMTP) or self._text(place, _SENDER_ADDRESS)
        sender = f"{name} <{address}>" if name and address and "@" in address else name or address
        told = {
            "Subject": self._text(place, _SUBJECT), "From": sender, "Message-ID": self._text(place, _MESSAGE_ID),
            "In-Reply-To": self._text(place, _REPLY_TO), "References": self._text(place, _REFERENCES),
            "Date": _date(fixed.get(_SUBMITTED) or fixed.get(_DELIVERED)), **self._recipients(place),
        }  # fmt: skip
        for header, value in told.items():
            if value and header not in mail:
                mail[header] = " ".join(value.split())

    def _recipients(self, place: tuple[str, ...]) -> dict[str, str | None]:
        """Return the names and addresses of the recipients; without addresses, the names that Outlook shows."""
        found: dict[str, list[str]] = {"to": [], "cc": []}
        for path in self._inside(place, "__recip_version1.0_#"):
            name = self._text(path, _RECIPIENT_NAME)
            address = self._text(path, _RECIPIENT_SMTP) or self._text(path, _RECIPIENT_ADDRESS)
            kind = _TYPES.get(self._fixed(path, _PART_HEADER).get(_RECIPIENT_TYPE, 1) & 0xF)
            shown = f"{name} <{address}>" if name and address and "@" in address else name or address
            if kind is not None and shown:
                found[kind].append(shown.replace(",", " ") if "<" not in shown else shown)
        return {
            "To": ", ".join(found["to"]) or self._text(place, _TO),
            "Cc": ", ".join(found["cc"]) or self._text(place, _CC),
        }

    def _body(self, place: tuple[str, ...]) -> Message | None:
        """Return the body: plain text, else HTML, else RTF."""
        if (text := self._text(place, _BODY)) is not None and text.strip():
            return mail_part("text/plain", text.encode("utf-8", "replace"), "utf-8")
        if (page := self._bytes(place, f"{_HTML}0102")) is not None:
            return mail_part("text/html", page, None)
        if (text := self._text(place, _HTML)) is not None:
            return mail_part("text/html", text.encode("utf-8", "replace"), "utf-8")
        if (packed := self._bytes(place, f"{_RTF}0102")) is not None:
            return mail_part("text/plain", rtf_text(unpacked_rtf(packed), self._given).encode(), "utf-8")
        return None

    def _attachment(self, path: tuple[str, ...], level: int) -> Message | None:
        """Return an attachment: a file, or a message inside this one."""
        name = next((one for code in (_LONG_NAME, _SHORT_NAME, _SHOWN_NAME) if (one := self._text(path, code))), None)
        n_before = self._n_cut_off
        data = self._bytes(path, f"{_DATA}0102")
        if data is None:
            inner = (*path, f"__substg1.0_{_DATA}000D")
            if level >= _MAX_LEVELS or not any(one[: len(inner)] == inner for one in self._storages):
                return None
            part = Message(policy=policy.compat32)
            part.add_header("Content-Type", "message/rfc822")
            part.set_payload([self.message(inner, _NESTED_HEADER, level + 1)])
        else:
            part = mail_part(self._text(path, _MIME) or "application/octet-stream", data, None)
        if name:
            part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", name.rstrip("\0")))
        else:
            part.add_header("Content-Disposition", "attachment")
        if self._n_cut_off > n_before:
            self.cut_off.add(id(part))
        return part

    def _inside(self, place: tuple[str, ...], prefix: str) -> list[tuple[str, ...]]:
        """Return the storages inside a storage whose names begin with a prefix, in the order of their numbers."""
        n = len(place)
        return sorted(
            one
            for one in self._storages
            if len(one) == n + 1 and one[:n] == place and one[n].lower().startswith(prefix)
        )

    def _entry(self, place: tuple[str, ...], name: str) -> OleEntry | None:
        return self._streams.get(tuple(one.lower() for one in (*place, name)))

    def _bytes(self, place: tuple[str, ...], tag: str) -> bytes | None:
        found = self._entry(place, f"__substg1.0_{tag}")
        return None if found is None else self._content(found)

    def _content(self, entry: OleEntry) -> bytes:
        """Return the bytes of a stream that are there; count it if some are missing."""
        content = self._file.available(entry)
        self._n_cut_off += len(content) < entry.size
        return content

    def _text(self, place: tuple[str, ...], code: str) -> str | None:
        """Return a property that is a string, in Unicode or in the code page of the message."""
        if (wide := self._bytes(place, f"{code}001F")) is not None:
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self._bytes(place, f"{code}001E")
        return None if narrow is None else decoded(narrow, self._code_page).text.rstrip("\0")

    def _fixed(self, place: tuple[str, ...], n_header: int) -> dict[int, int]:
        """Return the properties of fixed size, by their numbers."""
        found = self._entry(place, "__properties_version1.0")
        data = b"" if found is None else self._content(found)[n_header:]
        entries = struct.iter_unpack("<HHIQ", data[: len(data) // 16 * 16])
        return {number: value for _, number, _, value in entries}


def mail_part(kind: str, data: bytes, charset: str | None) -> Message:
    """Return a part of a mail that contains the bytes."""
    part = Message(policy=policy.compat32)
    part.add_header("Content-Type", kind if "/" in kind else "application/octet-stream")
    if charset is not None:
        part.set_param("charset", charset)
    part.add_header("Content-Transfer-Encoding", "base64")
    part.set_payload(base64.encodebytes(data).decode("ascii"))
    return part


def _date(file_time: int | None) -> str | None:
    """Return a time of Windows, in tenths of microseconds since 1601, as mails write it."""
    try:
        return None if not file_time else format_datetime(_EPOCH + timedelta(microseconds=file_time // 10))
    except (OverflowError, ValueError):
        return None


def unpacked_rtf(data: bytes) -> bytes:
    """Decompress RTF.

    Raises
    ------
    OleError
        It is damaged.
    """
    if len(data) < 16:
        raise OleError("the compressed text is truncated")
    _, size, mark, _ = struct.unpack_from("<IIII", data)
    if mark == 0x414C454D:
        return data[16 : 16 + size]
    if mark != 0x75465A4C:
        raise OleError("the text is compressed in an unknown way")
    window = bytearray(_RTF_BEGINNING.ljust(4096, b"\0"))
    at, write, out = 16, len(_RTF_BEGINNING), bytearray()
    while at < len(data) and len(out) <= size:
        control = data[at]
        at += 1
        for bit in range(8):
            if control >> bit & 1:
                if at + 2 > len(data):
                    return bytes(out[:size])
                told = data[at] << 8 | data[at + 1]
                at += 2
                read, length = told >> 4, (told & 0xF) + 2
                if read == write % 4096:
                    return bytes(out[:size])
                for i in range(length):  # what is copied may begin to be copied again
                    out.append(window[(read + i) % 4096])
                    window[write % 4096] = out[-1]
                    write += 1
            else:
                if at >= len(data):
                    return bytes(out[:size])
                window[write % 4096] = data[at]
                out.append(data[at])
                write += 1
                at += 1
    return bytes(out[:size])
