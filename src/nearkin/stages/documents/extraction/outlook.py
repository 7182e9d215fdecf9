"""Messages (MSG) and mailboxes (PST, OST) of Outlook: their properties are made into mails, which are read like others.

Sources: Microsoft, [MS-OXMSG], Outlook Item (.msg) File Format, and [MS-PST], Outlook Personal Folders File Format.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email import message_from_string, policy
from email.message import Message
from email.utils import format_datetime
from functools import partial
from typing import Any

from nearkin.nouns import counted
from nearkin.stages.documents.extraction.mail import document_of
from nearkin.stages.documents.extraction.office import rtf_text
from nearkin.stages.documents.extraction.ole import CUT_OFF, OleFile, Path
from nearkin.stages.documents.extraction.plain import decoded
from nearkin.stages.documents.extraction.reading import Blob, DocumentRead, Given, Member, fault_of, safe_name
from nearkin.stages.documents.rules import RecordFault

_OF_THE_CONTENT = ("content-type", "content-transfer-encoding", "mime-version", "content-disposition")
_MAX_LEVELS = 12


def _composed(head: str, headers: Mapping[str, str | None], parts: Sequence[Message], level: int) -> Message:
    """Return a mail of transport headers, fields that these may lack, and parts: the body and attachments."""
    head = head.replace("\r\n", "\n").split("\n\n", 1)[0].rstrip()
    mail = message_from_string(f"{head}\n\n", policy=policy.compat32)
    for name in _OF_THE_CONTENT:
        del mail[name]
    for name, value in headers.items():
        if value and name not in mail:
            mail[name] = " ".join(value.split())
    mail.add_header("Content-Type", "multipart/mixed")
    mail.set_boundary(f"=_{level}_nearkin_=")
    mail.set_payload(list(parts))
    return mail


def _part(kind: str, content: bytes | Message, charset: str | None = None) -> Message:
    part = Message(policy=policy.compat32)
    if isinstance(content, Message):
        part.add_header("Content-Type", "message/rfc822")
        part.set_payload([content])
        return part
    part.add_header("Content-Type", kind if "/" in kind else "application/octet-stream")
    if charset is not None:
        part.set_param("charset", charset)
    part.add_header("Content-Transfer-Encoding", "base64")
    part.set_payload(base64.encodebytes(content).decode("ascii"))
    return part


def _attachment(name: str | None, content: bytes | Message, kind: str | None = None) -> Message:
    part = _part(kind or "application/octet-stream", content)
    file_name = {"filename": ("utf-8", "", name.rstrip("\0"))} if name else {}
    part.add_header("Content-Disposition", "attachment", **file_name)
    return part


_TOP_HEADER, _NESTED_HEADER, _PART_HEADER = 32, 24, 8
_SUBJECT, _BODY, _HTML, _RTF, _HEADERS = "0037", "1000", "1013", "1009", "007D"
_SENDER_NAME, _SENDER_ADDRESS, _SENDER_SMTP, _TO, _CC, _BCC = "0C1A", "0C1F", "5D01", "0E04", "0E03", "0E02"
_TOPIC, _CONVERSATION = "0070", "0071"
_MESSAGE_ID, _REPLY_TO, _REFERENCES = "1035", "1042", "1039"
_FILE_NAMES, _DATA, _MIME = ("3707", "3704", "3001"), "3701", "370E"
_SUBMITTED, _DELIVERED, _CODE_PAGE, _INTERNET_CODE_PAGE, _RECIPIENT_TYPE = 0x0039, 0x0E06, 0x3FFD, 0x3FDE, 0x0C15
_RECIPIENT_NAME, _RECIPIENT_SMTP, _RECIPIENT_ADDRESS = "3001", "39FE", "3003"
_TYPES = {1: "To", 2: "Cc", 3: "Bcc"}
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)


def read_message(given: Given) -> DocumentRead:
    """Return the body of a message, with its headers and its attachments."""
    reader = _MessageReader(given)
    read = document_of(reader.mail((), _TOP_HEADER, 0), given)
    return read if reader.file.is_whole else read.lacking("damaged", CUT_OFF)


class _MessageReader:
    def __init__(self, given: Given) -> None:
        self.file = OleFile(given.data)
        self._given = given
        self._code_page = "cp1252"

    def mail(self, place: Path, n_header: int, level: int) -> Message:
        numbers = self._numbers(place, n_header)
        if page := (numbers.get(_CODE_PAGE) or numbers.get(_INTERNET_CODE_PAGE) or 0) & 0xFFFF:
            self._code_page = "utf-8" if page == 65001 else f"cp{page}"
        head = self._text(place, _HEADERS) or ""
        headers = {
            "Subject": self._text(place, _SUBJECT),
            "From": self._person(place, _SENDER_NAME, _SENDER_SMTP, _SENDER_ADDRESS),
            "Message-ID": self._text(place, _MESSAGE_ID), "In-Reply-To": self._text(place, _REPLY_TO),
            "References": self._text(place, _REFERENCES), "Thread-Topic": self._text(place, _TOPIC),
            "Thread-Index": base64.b64encode(self._bytes(place, _CONVERSATION, "0102") or b"").decode(),
            "Date": _date(numbers.get(_SUBMITTED) or numbers.get(_DELIVERED)), **self._recipients(place),
        }  # fmt: skip
        parts = self._body(place)
        parts += [part for path in self._inside(place, "attach") if (part := self._attached(path, level)) is not None]
        return _composed(head, headers, parts, level)

    def _person(self, place: Path, name_code: str, *address_codes: str) -> str | None:
        name = self._text(place, name_code)
        address = next(filter(None, (self._text(place, code) for code in address_codes)), None)
        return f"{name} <{address}>" if name and address and "@" in address else name or address

    def _recipients(self, place: Path) -> dict[str, str | None]:
        shown: dict[str, list[str]] = {"To": [], "Cc": [], "Bcc": []}
        for path in self._inside(place, "recip"):
            person = self._person(path, _RECIPIENT_NAME, _RECIPIENT_SMTP, _RECIPIENT_ADDRESS)
            field = _TYPES.get(self._numbers(path, _PART_HEADER).get(_RECIPIENT_TYPE, 1) & 0xF)
            if field is not None and person:
                shown[field].append(person.replace(",", " ") if "<" not in person else person)
        codes = {"To": _TO, "Cc": _CC, "Bcc": _BCC}
        return {field: ", ".join(people) or self._text(place, codes[field]) for field, people in shown.items()}

    def _body(self, place: Path) -> list[Message]:
        if (text := self._text(place, _BODY)) is not None and text.strip():
            return [_part("text/plain", text.encode("utf-8", "replace"), "utf-8")]
        if (page := self._bytes(place, _HTML, "0102")) is not None:
            return [_part("text/html", page)]
        if (text := self._text(place, _HTML)) is not None:
            return [_part("text/html", text.encode("utf-8", "replace"), "utf-8")]
        if (packed := self._bytes(place, _RTF, "0102")) is not None:
            import compressed_rtf

            return [_part("text/plain", rtf_text(compressed_rtf.decompress(packed), self._given).encode(), "utf-8")]
        return []

    def _attached(self, path: Path, level: int) -> Message | None:
        inner = (*path, f"__substg1.0_{_DATA}000d")
        name = next(filter(None, (self._text(path, code) for code in _FILE_NAMES)), None)
        if (data := self._bytes(path, _DATA, "0102")) is not None:
            return _attachment(name, data, self._text(path, _MIME))
        if level < _MAX_LEVELS and inner in self.file.storages:
            return _attachment(name, self.mail(inner, _NESTED_HEADER, level + 1))
        return None

    def _inside(self, place: Path, kind: str) -> list[Path]:
        prefix = f"__{kind}_version1.0_#"
        return sorted(path for path in self.file.storages if path[:-1] == place and path[-1].startswith(prefix))

    def _bytes(self, place: Path, code: str, kind: str) -> bytes | None:
        path = (*place, f"__substg1.0_{code}{kind}".lower())
        return self.file.available(path) if path in self.file.sizes else None

    def _text(self, place: Path, code: str) -> str | None:
        if (wide := self._bytes(place, code, "001F")) is not None:
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self._bytes(place, code, "001E")
        return None if narrow is None else decoded(narrow, self._code_page).rstrip("\0")

    def _numbers(self, place: Path, n_header: int) -> dict[int, int]:
        table = self.file.available((*place, "__properties_version1.0"))[n_header:]
        return {number: value for _, number, _, value in struct.iter_unpack("<HHIQ", table[: len(table) // 16 * 16])}


def _date(file_time: int | None) -> str | None:
    try:
        return None if not file_time else format_datetime(_EPOCH + timedelta(microseconds=file_time // 10))
    except (OverflowError, ValueError):
        return None


_MAX_FOLDER_LEVELS = 40
_HEADER_BYTES, _UNICODE = 512, 23


def messages_in(given: Given) -> Iterator[Member]:
    """Yield the messages of a mailbox."""
    import pypff

    mailbox = pypff.file()
    with given.blob.opened() as raw:
        mailbox.open_file_object(raw)
        yield from _in_folder(mailbox.get_root_folder(), "", 0, given)
    if (size := _told_size(given.blob.head)) > given.blob.size:
        sentence = f"the mailbox is truncated: {given.blob.size:,} of {counted(size, 'byte')}; messages may be missing"
        raise RecordFault("damaged", sentence)


def _in_folder(folder: Any, path: str, level: int, given: Given) -> Iterator[Member]:
    """Yield the messages of a folder and its subfolders; a damaged one affects no other."""
    for index in range(_number(folder, "sub_messages")):
        read = partial(_message_in, folder, index, given)
        yield Member.of(f"{path}{index + 1}", read, given.limits, kind="eml")
    if level >= _MAX_FOLDER_LEVELS:
        raise RecordFault("too large", f"more than {_MAX_FOLDER_LEVELS} levels of folders")
    for index in range(_number(folder, "sub_folders")):
        try:
            inner = folder.get_sub_folder(index)
            name = safe_name((inner.get_name() or f"#{index + 1}").replace("/", "_"))
        except OSError as error:
            yield Member(name=f"{path}folder {index + 1}", fault=fault_of(error, given.limits))
        else:
            yield from _in_folder(inner, f"{path}{name}/", level + 1, given)


def _message_in(folder: Any, index: int, given: Given) -> Blob:
    return Blob(_mail_of(folder.get_sub_message(index), 0, given).as_bytes(policy=policy.compat32))


def _mail_of(message: Any, level: int, given: Given) -> Message:
    sent = _told(message, "client_submit_time") or _told(message, "delivery_time")
    headers = {
        "Subject": _told(message, "subject"), "From": _told(message, "sender_name"),
        "Date": None if sent is None else format_datetime(sent.replace(tzinfo=UTC)),
    }  # fmt: skip
    parts = _body_of(message, given)
    for index in range(_number(message, "attachments")):
        attachment = message.get_attachment(index)
        size, n_inside = attachment.get_size(), _number(attachment, "sub_items")
        content: bytes | Message
        if not size and n_inside and level < _MAX_LEVELS:
            content = _mail_of(attachment.get_sub_item(0), level + 1, given)
        elif size > given.limits.size:
            raise given.limits.exceeded("size")
        else:
            content = attachment.read_buffer(size) if size else b""
        parts.append(_attachment(_told(attachment, "name"), content))
    return _composed(_told(message, "transport_headers") or "", headers, parts, level)


def _body_of(message: Any, given: Given) -> list[Message]:
    for name, kind, charset in (("plain_text_body", "text/plain", "utf-8"), ("html_body", "text/html", None)):
        if (data := _told(message, name)) and data.strip(b"\0 \r\n\t"):
            return [_part(kind, data.rstrip(b"\0"), charset)]
    rtf = _told(message, "rtf_body")
    return [_part("text/plain", rtf_text(rtf, given).encode(), "utf-8")] if rtf else []


def _told_size(head: bytes) -> int:
    """Return the size of a mailbox by its header (wVer, and ibFileEof of ROOT)."""
    if len(head) < _HEADER_BYTES:
        return 0
    (version,) = struct.unpack_from("<H", head, 10)
    (size,) = struct.unpack_from("<I", head, 168) if version < _UNICODE else struct.unpack_from("<Q", head, 184)
    return int(size)


def _number(item: Any, what: str) -> int:
    try:
        return int(getattr(item, f"get_number_of_{what}")())
    except (OSError, AttributeError):
        return 0


def _told(item: Any, name: str) -> Any:
    try:
        return getattr(item, f"get_{name}")()
    except (OSError, AttributeError, ValueError):
        return None
