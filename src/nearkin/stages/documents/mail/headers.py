"""Headers of a mail as fields; nothing in a damaged mail raises an error."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from email.message import Message
from email.utils import mktime_tz, parsedate_tz

from nearkin.stages.documents.mail.encoded_words import decoded_header
from nearkin.stages.documents.mail.identifiers import in_reply_to_of, message_id_of, references_of
from nearkin.stages.documents.origin import MailHeaders

_BETWEEN_ADDRESSES = re.compile(r"[\s<>()\[\],;:\"]+")
_ADDRESSED = ("from", "sender", "reply-to", "to", "cc")
_READ = frozenset((*_ADDRESSED, "message-id", "in-reply-to", "references", "subject", "date"))
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_S = 86_400
_MAX_OFFSET_S = _DAY_S
_END_OF_TIME_S = 253_402_300_800  # the year 10000


def headers_of(message: Message) -> MailHeaders:
    r"""Return the headers of a parsed mail as fields.

    Of headers that may stand once the first usable one counts; References and In-Reply-To are joined.

    Parameters
    ----------
    message : Message
        Parsed with the policy `email.policy.compat32`, which refuses nothing.

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
    shown = {name: _shown(values.get(name, ())) for name in ("from", "sender", "to", "cc")}
    answered = values.get("in-reply-to", ())
    addressed = [value for name in _ADDRESSED for value in values.get(name, ())] if answered else []
    return MailHeaders(
        message_id=message_id_of(map(_plain, values.get("message-id", ()))),
        in_reply_to=in_reply_to_of(map(_plain, answered), addresses_of(addressed)),
        references=references_of(map(_plain, values.get("references", ()))),
        subject=next(filter(None, map(decoded_header, values.get("subject", ()))), None),
        sent_at=next(filter(None, map(sent_at_of, values.get("date", ()))), None),
        sender=shown["from"] or shown["sender"],
        to=shown["to"],
        cc=shown["cc"],
    )


def addresses_of(values: Iterable[str | None]) -> frozenset[str]:
    """Return the addresses of header values, in lower case.

    Examples
    --------
    >>> sorted(addresses_of(["Ada <ADA@example.org>, bo@example.org", None, "nobody"]))
    ['ada@example.org', 'bo@example.org']
    """
    # not by the parser of the standard library, which is recursive
    words = (word for value in values if value for word in _BETWEEN_ADDRESSES.split(value.lower()))
    return frozenset(word for word in words if word.strip("@").count("@") == 1)


def sent_at_of(value: str) -> datetime | None:
    """Return the time of a header Date, in UTC; None if it is not a date since 1970.

    Examples
    --------
    >>> sent_at_of("Thu, 22 Aug 02 18:26:25 +0700").isoformat(), sent_at_of("2002-08-22T18:26:25Z").isoformat()
    ('2002-08-22T11:26:25+00:00', '2002-08-22T18:26:25+00:00')
    >>> sent_at_of("Sun, 25 Aug 0102 03:37:45 +1100").isoformat()  # years since 1900, as RFC 5322 reads them
    '2002-08-24T16:37:45+00:00'
    >>> sent_at_of("yesterday"), sent_at_of("Thu, 99 Aug 2002 18:26:25"), sent_at_of("1 Jan 1904 00:00")
    (None, None, None)
    """
    try:
        parts = parsedate_tz(_plain(value))
        if parts is not None and 100 <= parts[0] < 1000:
            parts = (parts[0] + 1900, *parts[1:])
        if parts is None:
            moment = datetime.fromisoformat(value.strip())
            seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        elif not _is_a_time(parts):
            return None
        else:
            seconds = mktime_tz((*parts[:9], parts[9] or 0))
        return _EPOCH + timedelta(seconds=seconds) if 0 <= seconds < _END_OF_TIME_S else None
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _is_a_time(parts: tuple[int | None, ...]) -> bool:
    year, month, day, hour, minute, second, *_ = (part or 0 for part in parts)
    is_day = 1 <= month <= 12 and 1 <= day <= 31 and 1970 <= year <= 9999
    return is_day and hour < 24 and minute < 60 and second <= 60 and abs(parts[9] or 0) <= _MAX_OFFSET_S


def _plain(value: str) -> str:
    """Return a value in which bytes that are not ASCII are replaced."""
    return value if value.isascii() else value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _shown(values: Iterable[str]) -> str | None:
    return ", ".join(filter(None, map(decoded_header, values))) or None
