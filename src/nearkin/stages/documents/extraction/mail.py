"""A mail: its headers as fields, its body as the text, its attachments as documents inside it."""

from __future__ import annotations

import email.policy
import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from functools import cached_property

from nearkin.stages.documents.extraction.blobs import Blob
from nearkin.stages.documents.extraction.charsets import decoded
from nearkin.stages.documents.extraction.html import decoded_page, text_of_html
from nearkin.stages.documents.extraction.reading import DocumentRead, Given, Member
from nearkin.stages.documents.mail.encoded_words import decoded_header
from nearkin.stages.documents.mail.headers import headers_of

NAME = "nearkin mail 1"
_FROM_LINE = re.compile(rb"From [^\r\n]*\r?\n")
_EMLX_COUNT = re.compile(rb"\d{1,12} *\r?\n")


class Mail:
    """A mail in a file."""

    name = NAME
    is_container = False

    def __init__(self, given: Given) -> None:
        self._given = given
        self._warnings: list[str] = []

    @cached_property
    def _message(self) -> Message:
        """The parsed mail; the parser never refuses one."""
        data = self._given.blob.held(self._given.limits["output_bytes"])
        if (count := _EMLX_COUNT.match(data)) is not None:  # of Apple Mail: the size of the mail, and a list behind it
            size = int(count[0])
            data = data[count.end() : count.end() + size]
        if (line := _FROM_LINE.match(data)) is not None:
            data = data[line.end() :]
        return message_from_bytes(data, policy=email.policy.compat32)

    @cached_property
    def _parts(self) -> tuple[list[Message], list[Message], int]:
        """Parts of the body, attachments, and the number of images inside a page."""
        return _sorted(self._message)

    def document(self) -> DocumentRead:
        """Return the body, with the headers."""
        body, _, n_inline = self._parts
        texts = [text for part in body if (text := self._text(part)).strip()]
        headers = headers_of(self._message)
        if n_inline:
            self._warnings.append(f"{n_inline} {'image' if n_inline == 1 else 'images'} in the body not read")
        return DocumentRead(
            text="\n\n".join(text.strip("\r\n") for text in texts),
            extractor=NAME,
            warnings=tuple(dict.fromkeys(self._warnings)),
            mail=headers,
        )

    def has_members(self) -> bool:
        """Whether it has attachments."""
        return bool(self._parts[1])

    def members(self) -> Iterator[Member]:
        """Yield the attachments."""
        for part in self._parts[1]:
            kind = part.get_content_type()
            if kind == "message/rfc822" and part.is_multipart():
                yield Member(name=_file_name(part), blob=Blob(_as_bytes(part.get_payload(0))), kind="eml")
            elif part.is_multipart():  # the report of a delivery
                pieces = [_as_bytes(one) for one in part.get_payload() if isinstance(one, Message)]
                yield Member(name=_file_name(part), blob=Blob(b"\n".join(pieces)), kind="text")
            else:
                yield Member(name=_file_name(part), blob=Blob(_payload(part)))

    def _text(self, part: Message) -> str:
        """Return the text of a part of the body."""
        data, declared = _payload(part), _charset(part)
        if part.get_content_subtype() == "html":
            found = decoded_page(data, declared, self._given.encoding)
            self._warnings += found.warnings
            return text_of_html(found.text)
        found = decoded(data, declared, self._given.encoding)
        self._warnings += found.warnings
        return found.text.replace("\r\n", "\n").replace("\0", "")


def _sorted(message: Message) -> tuple[list[Message], list[Message], int]:
    """Sort the parts of a mail into its body and its attachments, in their order; count images inside of pages."""
    body: list[Message] = []
    attached: list[Message] = []
    n_inline = 0
    waiting = [(message, False, True)]
    while waiting:
        part, is_related, is_wanted = waiting.pop()
        kind, own = part.get_content_type(), _has_name(part)
        parts = [one for one in part.get_payload() if isinstance(one, Message)] if part.is_multipart() else []
        if kind.startswith("multipart/") and parts:
            chosen = _chosen(parts) if kind == "multipart/alternative" else None
            for one in reversed(parts):
                waiting.append((one, kind == "multipart/related", is_wanted and chosen in (None, one)))
        elif kind in ("text/plain", "text/html") and not own:
            body += [part] if is_wanted else []
        elif is_related and kind.startswith("image/") and part.get("content-id") and not _is_attached(part):
            n_inline += 1
        else:
            attached.append(part)
    return body, attached, n_inline


def _chosen(parts: list[Message]) -> Message:
    """Return of alternatives the one whose text is read: plain text, else the last one with a text."""
    plain = [one for one in parts if one.get_content_type() == "text/plain" and _payload(one).strip()]
    others = [one for one in parts if one.get_content_type() == "text/html" or one.is_multipart()]
    return (plain[:1] or others[-1:] or parts[-1:])[0]


def _is_attached(part: Message) -> bool:
    return part.get_content_disposition() == "attachment"


def _has_name(part: Message) -> bool:
    """Whether a part is a file for itself."""
    return _is_attached(part) or bool(_file_name(part))


def _as_bytes(message: object) -> bytes:
    """Return a mail inside a mail as bytes; one that the parser took apart too badly has none."""
    try:
        return message.as_bytes(policy=email.policy.compat32) if isinstance(message, Message) else b""
    except (ValueError, LookupError, TypeError, AttributeError):
        return b""


def _file_name(part: Message) -> str | None:
    """Return the name of an attachment, decoded."""
    try:
        name = part.get_filename()
    except (ValueError, LookupError, TypeError):
        return None
    return None if name is None else decoded_header(name) or None


def _payload(part: Message) -> bytes:
    """Return the bytes of a part, without their encoding for transport."""
    try:
        data = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError):
        data = None
    if isinstance(data, bytes):
        return data
    raw = part.get_payload()
    return raw.encode("ascii", "surrogateescape") if isinstance(raw, str) else b""


def _charset(part: Message) -> str | None:
    try:
        found = part.get_content_charset()
    except (ValueError, LookupError, TypeError):
        return None
    return found or None
