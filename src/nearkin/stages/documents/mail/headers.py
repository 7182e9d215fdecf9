"""Headers of a mail as fields; nothing in a damaged mail raises an error."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime

from nearkin.stages.documents.members import MailHeaders

_BETWEEN_ADDRESSES = re.compile(r"[\s<>()\[\],;:\"]+")
_X500_NAME = re.compile(r"/o=[^<>,;]+")
_ADDRESSED = ("from", "sender", "reply-to", "to", "cc")
_READ = frozenset(
    (*_ADDRESSED, "bcc", "message-id", "in-reply-to", "references", "subject", "date", "thread-index", "thread-topic")
)


def headers_of(message: Message) -> MailHeaders:
    r"""Return the headers of a mail, parsed with the policy `email.policy.compat32`, as fields.

    Examples
    --------
    >>> from email import message_from_bytes
    >>> headers = headers_of(message_from_bytes(b"From: Ada <ada@example.org>\r\nSubject: =?utf-8?q?M=C3=BChle?=\r\n"
    ...     b"Date: Mon, 5 Jan 2004 10:00:00 +0100\r\nMessage-ID: <1@example.org>\r\n\r\nHello"))
    >>> headers.subject, headers.message_id, headers.sent_at.isoformat(), headers.in_reply_to
    ('Mühle', '1@example.org', '2004-01-05T09:00:00+00:00', ())
    """
    values: dict[str, list[str]] = {}
    for name, value in message.raw_items():
        if (known := str(name).strip().lower()) in _READ:
            values.setdefault(known, []).append(str(value))

    def first(name: str) -> str | None:
        return next(filter(None, map(decoded_header, values.get(name, ()))), None)

    shown = {name: _shown(values.get(name, ())) for name in ("from", "sender", "to", "cc", "bcc")}
    answered = values.get("in-reply-to", ())
    addressed = [value for name in _ADDRESSED for value in values.get(name, ())] if answered else []
    return MailHeaders(
        message_id=message_id_of(map(_unencoded, values.get("message-id", ()))),
        in_reply_to=in_reply_to_of(map(_unencoded, answered), addresses_of(addressed)),
        references=references_of(map(_unencoded, values.get("references", ()))),
        subject=first("subject"),
        sent_at=next(filter(None, map(sent_at_of, values.get("date", ()))), None),
        sender=shown["from"] or shown["sender"],
        to=shown["to"],
        cc=shown["cc"],
        bcc=shown["bcc"],
        thread_index="".join((first("thread-index") or "").split()) or None,
        thread_topic=first("thread-topic"),
    )


def addresses_of(values: Iterable[str | None]) -> frozenset[str]:
    """Return the addresses of header values, and X.500 names of Exchange, in lower case.

    Examples
    --------
    >>> sorted(addresses_of(["Ada <ADA@example.org>, bo@example.org", None, "nobody", "Cy </O=X/OU=A (B)/CN=CY>"]))
    ['/o=x/ou=a (b)/cn=cy', 'ada@example.org', 'bo@example.org']
    """
    # not by the parser of the standard library, which is recursive
    texts = [value.lower() for value in values if value]
    words = (word for text in texts for word in _BETWEEN_ADDRESSES.split(text))
    names = (name for text in texts for name in _X500_NAME.findall(text) if "/cn=" in name)
    return frozenset([*(word for word in words if word.strip("@").count("@") == 1), *names])


def sent_at_of(value: str) -> datetime | None:
    """Return the time of a header Date, in UTC; None if it is not a date since 1970."""
    try:
        try:
            moment = parsedate_to_datetime(_raw(value))
        except (ValueError, TypeError, IndexError):
            moment = datetime.fromisoformat(value.strip())
        if 100 <= moment.year < 1000:  # years since 1900
            moment = moment.replace(year=moment.year + 1900)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return moment if moment.year >= 1970 else None


def _unencoded(value: str) -> str:
    """Some programs encode long identifiers like words."""
    return decoded_header(value) if "=?" in value else _raw(value)


_QUOTED_NAME = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_QUOTED_PAIR = re.compile(r'\\(["\\])')


def _shown(values: Iterable[str]) -> str | None:
    """Return names and addresses without the backslashes before quotation marks and backslashes (RFC 5322, 3.2.4)."""
    plain = (_QUOTED_NAME.sub(lambda name: _QUOTED_PAIR.sub(r"\1", name[0]), value) for value in values)
    return ", ".join(filter(None, map(decoded_header, plain))) or None


_BRACKETED = re.compile(r"<([^<>]*)>")
_IDENTIFIER = re.compile(r"<([^<>]*)>|([^\s<>,]+)")
_MESSAGE_FROM = re.compile(
    r"\b(?:message|mail|note|letter)\b[^<>]{0,40}\bfrom\b(?:(?!\bof\b)[^<>]){0,200}<[^<>]*>", re.IGNORECASE
)
_AROUND = "<>()[]\"',;:"


def message_id_of(values: Iterable[str]) -> str | None:
    """Return the first identifier of the headers Message-ID; None if there is none.

    Examples
    --------
    >>> message_id_of(["  ", "<a@b>"]), message_id_of(["a@b (comment)"]), message_id_of(["<>"])
    ('a@b', 'a@b', None)
    """
    for value in values:
        if identifiers := _bracketed(value):
            return identifiers[0]
        if words := value.replace("<", " ").replace(">", " ").split():
            return words[0].strip(_AROUND) or None
    return None


def references_of(values: Iterable[str]) -> tuple[str, ...]:
    r"""Return the identifiers of all headers References in order, each once.

    Examples
    --------
    >>> references_of(["<a@b><c\r\n d@e>  f@g, <a@b>", "<cut@off"])
    ('a@b', 'cd@e', 'f@g', 'cut@off')
    """
    identifiers: dict[str, None] = {}
    for inside, bare in (occurrence for value in values for occurrence in _IDENTIFIER.findall(value)):
        identifier = "".join(inside.split()) or bare.strip(_AROUND)
        if identifier and (inside or "@" in identifier.strip("@")):
            identifiers[identifier] = None
    return tuple(identifiers)


def in_reply_to_of(values: Iterable[str], addresses: Collection[str]) -> tuple[str, ...]:
    """Return the identifiers of all headers In-Reply-To in order, each once.

    The header may also be prose with ``addresses`` of other headers in it, which are left out.
    """
    identifiers: dict[str, None] = {}
    for value in values:
        bracketed = _bracketed(_MESSAGE_FROM.sub(" ", value))
        if not bracketed and "<" not in value and all("@" in word for word in value.split()):
            bracketed = [*references_of([value])]
        identifiers |= dict.fromkeys(identifier for identifier in bracketed if identifier.lower() not in addresses)
    return tuple(identifiers)


def _bracketed(value: str) -> list[str]:
    joined = ["".join(inside.split()) for inside in _BRACKETED.findall(value)]
    return [identifier for identifier in joined if identifier]


_WORD = r"=\?[^?]*\?[qb]\?.*?\?="
_ENCODED_WORDS = re.compile(f"{_WORD}(?: ?{_WORD})*", re.IGNORECASE)


def decoded_header(value: str) -> str:
    """Return a header value, with surrogates for bytes that are not ASCII as in `email`, as text in one line."""
    text = " ".join(_raw(value).replace("\0", "").split())
    return " ".join(_ENCODED_WORDS.sub(_decoded_words, text).replace("\0", "").split())


def _decoded_words(occurrence: re.Match[str]) -> str:
    """Decode encoded words that follow one another, which may share a character."""
    try:
        parts = decode_header(occurrence[0])
    except HeaderParseError:  # damaged base64
        return occurrence[0]
    return "".join(part if isinstance(part, str) else _text(part, charset or "") for part, charset in parts)


def _text(data: bytes, charset: str) -> str:
    try:
        return data.decode(charset.partition("*")[0]).encode("utf-8", "replace").decode()  # UTF-7 has lone surrogates
    except (LookupError, UnicodeError):  # an unknown charset, or bytes that are not in it
        return _legible(data)


def _raw(value: str) -> str:
    return value if value.isascii() else _legible(value.encode("utf-8", "surrogateescape"))


def _legible(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
