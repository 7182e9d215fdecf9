"""A mail: its headers as fields, its body as the text, its attachments as documents inside it."""

from __future__ import annotations

import re
import string
from binascii import a2b_base64
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from email import message_from_bytes
from email.errors import CloseBoundaryNotFoundDefect, NoBoundaryInMultipartDefect, StartBoundaryNotFoundDefect
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import compat32
from functools import partial
from typing import Any, BinaryIO, TypeVar

from nearkin.stages.documents.extraction.plain import decoded, decoded_page, text_of_html
from nearkin.stages.documents.extraction.reading import Blob, DocumentRead, Given, Member, safe_name
from nearkin.stages.documents.mail.headers import decoded_header, headers_of
from nearkin.stages.documents.rules import ExtractionLimits, RecordFault

_Value = TypeVar("_Value")
_FROM_LINE = re.compile(rb"From [^\r\n]*\r?\n")
_BASE64 = f"{string.ascii_letters}{string.digits}+/".encode()
_NO_BASE64 = bytes(set(range(256)).difference(_BASE64))
_UNENDED = "the mail ends in its headers or without its closing boundary: text or attachments may be missing"
_DAMAGED = "its base64 is damaged, or may be cut off: something is missing or wrong"
_UNENDED_DEFECTS = CloseBoundaryNotFoundDefect, StartBoundaryNotFoundDefect, NoBoundaryInMultipartDefect
_BEFORE_HEADERS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?=From |[!-9;-~]+:[ \t\r\n])")
"""Byte order mark and blank lines, if headers come after them."""
_EMLX_COUNT = re.compile(rb"\d{1,12} *\r?\n")


def read_mail(given: Given) -> DocumentRead:
    """Return the body of a mail, with its headers and its attachments."""
    data = given.data
    if (count := _EMLX_COUNT.match(data)) is not None:  # of Apple Mail: the size of the mail, and a list behind it
        data = data[count.end() : count.end() + int(count[0])]
    for before in (_BEFORE_HEADERS, _FROM_LINE):
        if (occurrence := before.match(data)) is not None:
            data = data[occurrence.end() :]
    return document_of(parsed_mail(data), given, data)


def document_of(message: Message, given: Given, data: bytes = b"") -> DocumentRead:
    """Return the body of a parsed mail, or of what was made one, with its headers and its attachments."""
    headers = headers_of(message)
    if message.get_content_type() == "multipart/encrypted":
        return DocumentRead(fault=RecordFault("encrypted", "an encrypted mail"), mail=headers)
    kinds = {type(defect) for defect in message.defects}
    *_, last = message.walk()
    is_in_a_line = last is message and not data.endswith((b"\n", b"\r"))
    # without the boundary, a whole mail and a cut one look alike: more parts may have followed
    is_cut = is_in_a_line or CloseBoundaryNotFoundDefect in kinds
    damage_of = partial(_damage_of, cut_off=last if is_cut else None)
    text_of = partial(_text, given=given)
    body, attached = _sorted(message, text_of)
    texts = [text for part in body if (text := text_of(part)).strip()]
    read = DocumentRead(
        text="\n\n".join(text.strip("\r\n") for text in texts),
        mail=headers,
        members=partial(_members, attached, damage_of, given.limits) if attached else None,
    )
    if not texts and any(part.get_content_type() == "application/ms-tnef" for part in attached):
        read = read.lacking("unsupported", "its text is in TNEF (winmail.dat), which is not supported")
    if (damage := next(filter(None, map(damage_of, body)), None)) is not None:
        return read.lacking(damage.reason, damage.sentence)
    is_whole = message.is_multipart() or end_of_headers(data) is not None
    return read if is_whole and kinds.isdisjoint(_UNENDED_DEFECTS) else read.lacking("damaged", _UNENDED)


def _damage_of(part: Message, cut_off: Message | None) -> RecordFault | None:
    """Return the fault of a part whose base64 has no end, or other signs than white space."""
    if not _is_base64(part):
        return None
    letters = b"".join(_raw(part).split())
    is_cut = part is cut_off and letters and not letters.endswith(b"=")
    is_damaged = is_cut or len(letters) % 4 or letters.translate(None, _BASE64).strip(b"=")
    return RecordFault("damaged", _DAMAGED) if is_damaged else None


def _members(
    attached: Sequence[Message], damage_of: Callable[[Message], RecordFault | None], limits: ExtractionLimits
) -> Iterator[Member]:
    for part in attached:
        kind, name = part.get_content_type(), safe_name(_file_name(part) or "") or None
        member = Member.of(name, partial(_content, part), limits)
        if member.blob is not None:
            own_kind = technical_kind(kind, name or "", member.blob.head)
            if part.is_multipart():  # a mail, or the report of a delivery
                own_kind = "eml" if kind == "message/rfc822" else "text"
            member = replace(member, kind=own_kind, fault=damage_of(part))
        yield member


def _content(part: Message) -> Blob:
    inner = part.get_payload() if part.is_multipart() else []
    return Blob(b"\n".join(map(_as_bytes, inner)) if inner else _payload(part))


def _text(part: Message, given: Given) -> str:
    data, charset = _payload(part), _tried(part.get_content_charset) or None
    if part.get_content_subtype() == "html":
        return text_of_html(decoded_page(data, charset, given.encoding))
    return decoded(data, charset, given.encoding).replace("\r\n", "\n").replace("\0", "")


_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_SIGNED = (b"0\x80", b"0\x81", b"0\x82", b"0\x83", b"-----BEGIN ")
"""Beginnings of a signature in DER and in PEM."""
_PGP, _REPLY = b"-----BEGIN PGP SIGNATURE-----", re.compile(rb"^METHOD:REPLY\b", re.MULTILINE | re.IGNORECASE)


def technical_kind(media_type: str, name: str, head: bytes) -> str | None:
    r"""Return the kind of an attachment that mail programs add, one of `.plain.TECHNICAL`; None for any other.

    Examples
    --------
    >>> technical_kind("text/plain", "smime.p7s", b"0\x82"), technical_kind("text/vcard", "a.vcf", b"Dear")
    ('signature', None)
    """
    suffix = name.lower()[-4:]
    if head.startswith(_PGP) or (head.startswith(_SIGNED) and (media_type in _SIGNATURES or suffix == ".p7s")):
        return "signature"
    if head.lstrip(b"\xef\xbb\xbf \r\n")[:11].upper() == b"BEGIN:VCARD":
        return "vcard"
    is_calendar = media_type == "text/calendar" or suffix == ".ics"
    return "calendar reply" if is_calendar and _REPLY.search(head) else None


def _sorted(message: Message, text_of: Callable[[Message], str]) -> tuple[list[Message], list[Message]]:
    body: list[Message] = []
    attached: list[Message] = []
    waiting = [(message, False, True)]
    while waiting:
        part, is_related, is_wanted = waiting.pop()
        kind = part.get_content_type()
        parts = [child for child in part.get_payload() if isinstance(child, Message)] if part.is_multipart() else []
        if kind.startswith("multipart/") and parts:
            chosen = _chosen(parts, text_of) if kind == "multipart/alternative" else None
            for child in reversed(parts):
                waiting.append((child, kind == "multipart/related", is_wanted and chosen in (None, child)))
        elif kind in ("text/plain", "text/html") and not (_is_attached(part) or _file_name(part)):
            body += [part] if is_wanted else []
        elif not (is_related and kind.startswith("image/") and part.get("content-id") and not _is_attached(part)):
            attached.append(part)
    return body, attached


_STUB = 4
"""Plain text says only that a mail has a page if the text of the page is more than so many times as long."""


def _chosen(parts: list[Message], text_of: Callable[[Message], str]) -> Message:
    """Return the alternative whose text is read: plain text that is no stub, else the last one with a text."""
    plain = [part for part in parts if part.get_content_type() == "text/plain" and _payload(part).strip()]
    others = [part for part in parts if part.get_content_type() == "text/html" or part.is_multipart()]
    inner = (part for other in reversed(others) for part in other.walk())
    page = next((part for part in inner if part.get_content_type() == "text/html"), None)
    if plain and page is not None and len(_payload(page)) > _STUB * len(_payload(plain[0])):
        plain = plain if len(text_of(page)) <= _STUB * len(text_of(plain[0])) else []
    return (plain[:1] or others[-1:] or parts[-1:])[0]


def _is_attached(part: Message) -> bool:
    return part.get_content_disposition() == "attachment"


def _tried(read: Callable[..., _Value], **arguments: Any) -> _Value | None:
    try:
        return read(**arguments)
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError):
        return None


def _as_bytes(message: Any) -> bytes:
    return _tried(message.as_bytes, policy=compat32) or b""


def _file_name(part: Message) -> str | None:
    return _tried(lambda: decoded_header(part.get_filename() or "")) or None


def _is_base64(part: Message) -> bool:
    return str(part.get("content-transfer-encoding", "")).strip().lower() == "base64"


def _raw(part: Message) -> bytes:
    as_it_is = copy(part)
    del as_it_is["content-transfer-encoding"]  # else signs of 8 bits would be decoded by its charset
    raw = as_it_is.get_payload(decode=True)
    return raw if isinstance(raw, bytes) else b""


def _payload(part: Message) -> bytes:
    if _is_base64(part):  # `email` decodes nothing of what is one letter too long
        letters = _raw(part).partition(b"=")[0].translate(None, _NO_BASE64)
        return a2b_base64(letters[: len(letters) - (len(letters) % 4 == 1)] + b"==")
    data = _tried(part.get_payload, decode=True)
    return data if isinstance(data, bytes) else _raw(part)


_BLANK_LINE = re.compile(rb"\n(?:\r\n?|\n)|\r(?:\n(?:\r\n?|\n)|\r\n?)")
"""Two line ends, each of them CR LF, LF or CR: the two halves of one CR LF are no blank line."""


def end_of_headers(data: bytes) -> int | None:
    r"""Return where the blank line behind the headers ends; None if there is none.

    Examples
    --------
    >>> end_of_headers(b"A: b\n\nc"), end_of_headers(b"A: b\r\n\r\nc"), end_of_headers(b"A: b\r\nC: d\r\n")
    (6, 8, None)
    """
    if b"\r" not in data:
        return None if (at := data.find(b"\n\n")) < 0 else at + 2
    occurrence = _BLANK_LINE.search(data)
    return None if occurrence is None else occurrence.end()


def parsed_mail(data: bytes) -> Message:
    """Return a mail as `email.message_from_bytes` parses it."""
    if (end := end_of_headers(data)) is not None:
        message = BytesHeaderParser(policy=compat32).parsebytes(data[:end])
        is_one_part = message.get_content_maintype() not in ("multipart", "message")
        if is_one_part and not message.defects and message.get_payload() == "":  # else the body begins before
            message.set_payload(data[end:].decode("ascii", "surrogateescape"))
            return message
    return message_from_bytes(data, policy=compat32)


_PIECE_BYTES = 1 << 16
_SEPARATOR = re.compile(rb"From \S[^\r\n]*\d:\d\d[^\r\n]*\r?\n")
_QUOTED = re.compile(rb">+From ")
_MAILBOX_CUT_OFF = "the mailbox ends in the middle of a line: this mail may be cut off"
_BLANK = (b"\n", b"\r\n")


def mails_in(given: Given) -> Iterator[Member]:
    """Yield the mails of a mailbox."""
    with given.blob.opened() as file:
        for _, data, is_cut in mails_of(file, given.limits.size):
            if data is None:
                yield Member(name=None, fault=given.limits.exceeded("size"))
            else:
                fault = RecordFault("damaged", _MAILBOX_CUT_OFF) if is_cut else None
                yield Member(name=None, blob=Blob(data), kind="eml", fault=fault)


def is_single(blob: Blob) -> bool:
    """Whether a mailbox is one mail that was saved with a "From " line."""
    with blob.opened() as file:
        mails = mails_of(file, 0)
        next(mails, None)
        return next(mails, None) is None


def mails_of(file: BinaryIO, max_bytes: int) -> Iterator[tuple[int, bytes | None, bool]]:
    """Yield for each mail its size, its bytes (none beyond ``max_bytes``), and whether it may be truncated.

    A mail begins with a line with "From " and a time, at the beginning of the file or after a blank line. Text before
    the first such line is a mail of its own.
    """
    held: list[bytes] = []
    size, blank, is_begun = 0, b"\n", False  # a blank line is only known to belong to a mail when another line follows
    at_start, is_first = True, True  # the first separator needs no blank line before it
    if file.read(len(BOM_UTF8)) != BOM_UTF8:
        file.seek(0)
    while line := file.readline(_PIECE_BYTES):
        if at_start and (blank or is_first) and _SEPARATOR.match(line):
            if is_begun:
                yield size, b"".join(held) if size <= max_bytes else None, False
            held, size, blank, is_begun, is_first = [], 0, b"", True, False
            continue
        if blank and is_begun:
            size += len(blank)
            held.append(blank)
        elif not is_begun and line.strip():
            is_begun = True
        blank = line if at_start and line in _BLANK else b""
        if not blank:
            line = line[1:] if at_start and _QUOTED.match(line) else line
            size += len(line)
            if size <= max_bytes:
                held.append(line)
            else:
                held.clear()
        at_start = line.endswith(b"\n")
    if is_begun:
        yield size, b"".join(held) if size <= max_bytes else None, not at_start
