"""A mailbox of Outlook (PST, OST), read by libpff (extra ``pst``): each message is a mail, named after its folder."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import UTC
from email import message_from_string, policy
from email.message import Message
from email.utils import format_datetime
from typing import Any

from nearkin.nouns import counted
from nearkin.stages.documents.extraction.msg import mail_part
from nearkin.stages.documents.extraction.office import rtf_text
from nearkin.stages.documents.extraction.reading import (
    Blob,
    DocumentRead,
    ExtractionError,
    Given,
    Member,
    first_line,
    safe_name,
    too_big,
)

_MAX_FOLDER_LEVELS = 40
_MAX_MESSAGE_LEVELS = 8
_HEADER_BYTES, _UNICODE = 512, 23
_OF_THE_CONTENT = ("content-type", "content-transfer-encoding", "mime-version", "content-disposition")


def read_mailbox(given: Given) -> DocumentRead:
    """Return a mailbox of Outlook."""
    return DocumentRead(members=_OutlookMailbox(given).members)


class _OutlookMailbox:
    """The folders of a mailbox."""

    def __init__(self, given: Given) -> None:
        self._given = given

    def members(self) -> Iterator[Member]:
        """Yield the messages of all folders, folder by folder."""
        try:
            import pypff
        except ImportError as error:
            sentence = "a mailbox of Outlook needs an extra: pip install 'nearkin[pst]'"
            raise ExtractionError("unsupported", sentence) from error
        mailbox = pypff.file()
        with self._given.blob.opened() as raw:
            try:
                mailbox.open_file_object(raw)
            except OSError as error:
                raise ExtractionError("damaged", f"the mailbox of Outlook is damaged: {first_line(error)}") from error
            try:
                yield from self._in_folder(mailbox.get_root_folder(), "", 0)
            finally:
                mailbox.close()
        if (size := _told_size(self._given.blob.head)) > self._given.blob.size:
            sentence = f"the mailbox is truncated: {self._given.blob.size:,} of {counted(size, 'byte')}"
            raise ExtractionError("damaged", f"{sentence}; messages may be missing")

    def _in_folder(self, folder: Any, path: str, level: int) -> Iterator[Member]:
        """Yield the messages of a folder, then those of its subfolders; a damaged message affects no other message."""
        for index in range(_number(folder, "sub_messages")):
            name = f"{path}{index + 1}"
            try:
                mail = self._mail(folder.get_sub_message(index), 0)
                yield Member(name=name, blob=Blob(mail.as_bytes(policy=policy.compat32)), kind="eml")
            except ExtractionError as error:
                yield Member.failed(name, error.exception, error.sentence)
            except (OSError, ValueError, TypeError, LookupError) as error:
                yield Member.failed(name, "damaged", f"the message is damaged: {first_line(error)}")
        if level >= _MAX_FOLDER_LEVELS:
            raise ExtractionError("too large", f"more than {_MAX_FOLDER_LEVELS} levels of folders")
        for index in range(_number(folder, "sub_folders")):
            try:
                inner = folder.get_sub_folder(index)
                own = safe_name((inner.get_name() or f"#{index + 1}").replace("/", "_"))
            except OSError as error:
                name = f"{path}folder {index + 1}"
                yield Member.failed(name, "damaged", f"the folder is damaged: {first_line(error)}")
                continue
            yield from self._in_folder(inner, f"{path}{own}/", level + 1)

    def _mail(self, message: Any, level: int) -> Message:
        """Return a message as a mail."""
        headers = (_told(message, "transport_headers") or "").replace("\r\n", "\n").split("\n\n", 1)[0]
        mail = message_from_string(headers.rstrip() + "\n\n", policy=policy.compat32)
        for name in _OF_THE_CONTENT:
            del mail[name]
        sent = _told(message, "client_submit_time") or _told(message, "delivery_time")
        own = {
            "Subject": _told(message, "subject"), "From": _told(message, "sender_name"),
            "Date": None if sent is None else format_datetime(sent.replace(tzinfo=UTC)),
        }  # fmt: skip
        for name, value in own.items():
            if value and name not in mail:
                mail[name] = " ".join(str(value).split())
        mail.add_header("Content-Type", "multipart/mixed")
        mail.set_boundary(f"=_{level}_nearkin_=")
        mail.set_payload([])
        if (body := self._body(message)) is not None:
            mail.attach(body)
        for index in range(_number(message, "attachments")):
            mail.attach(self._attachment(message.get_attachment(index), level))
        return mail

    def _body(self, message: Any) -> Message | None:
        """Return the body: plain text, else HTML, else RTF."""
        for name, kind in (("plain_text_body", "text/plain"), ("html_body", "text/html")):
            if (data := _told(message, name)) and data.strip(b"\0 \r\n\t"):
                is_utf8 = kind == "text/plain"
                return mail_part(kind, data.rstrip(b"\0"), "utf-8" if is_utf8 else None)
        if rtf := _told(message, "rtf_body"):
            return mail_part("text/plain", rtf_text(rtf, self._given).encode(), "utf-8")
        return None

    def _attachment(self, attachment: Any, level: int) -> Message:
        """Return an attachment as a part of a mail."""
        name = _told(attachment, "name")
        inner = attachment.get_sub_item(0) if not attachment.get_size() and _number(attachment, "sub_items") else None
        if inner is not None and level < _MAX_MESSAGE_LEVELS:
            part = Message(policy=policy.compat32)
            part.add_header("Content-Type", "message/rfc822")
            part.set_payload([self._mail(inner, level + 1)])
        else:
            size = attachment.get_size()
            if size > self._given.limits.output_bytes:
                raise ExtractionError("too large", f"an attachment is {too_big(size, self._given.limits.output_bytes)}")
            part = mail_part("application/octet-stream", attachment.read_buffer(size) if size else b"", None)
        part.add_header("Content-Disposition", "attachment", **({"filename": ("utf-8", "", name)} if name else {}))
        return part


def _told_size(head: bytes) -> int:
    """Return the size of a mailbox by its header; 0 if the header is too short.

    Source: Microsoft, [MS-PST], HEADER: wVer, and ibFileEof of ROOT.
    """
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
    """Return a property; None if the item does not have it, or it cannot be read."""
    try:
        return getattr(item, f"get_{name}")()
    except (OSError, AttributeError, ValueError):
        return None
