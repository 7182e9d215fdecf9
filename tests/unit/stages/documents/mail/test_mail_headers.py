"""Headers of mails: against the standard library where it can read them, and by hand where it cannot."""

from __future__ import annotations

from email.message import EmailMessage
from email.policy import SMTP

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.stages.documents.extraction.mail import read_mail
from nearkin.stages.documents.extraction.reading import Blob, Given
from nearkin.stages.documents.mail.headers import decoded_header, in_reply_to_of, sent_at_of
from nearkin.stages.documents.mail.threads import base_subject
from nearkin.stages.documents.members import MailHeaders


def headers_in(data: bytes) -> MailHeaders:
    found = read_mail(Given(blob=Blob(data), kind="mail")).mail
    assert found is not None
    return found


def test_a_message_of_the_standard_library_is_read() -> None:
    message = EmailMessage(policy=SMTP)
    message["Subject"] = "Mühle am Bach: " + "sehr langer Betreff mit Umlauten äöü " * 5
    message["From"] = "Ada Müller <ada@example.org>"
    message["To"] = "Bo <bo@example.org>, Cy <cy@example.org>"
    message["Date"] = "Mon, 05 Jan 2004 10:00:00 +0100"
    message["Message-ID"] = "<1@example.org>"
    message["References"] = " ".join(f"<{'x' * 40}{i}@example.org>" for i in range(9))
    message["In-Reply-To"] = f"<{'x' * 40}8@example.org>"
    message.set_content("Hello")
    found = headers_in(message.as_bytes())
    assert found.subject == str(message["Subject"]).strip()
    assert found.sender == "Ada Müller <ada@example.org>"
    assert found.to == "Bo <bo@example.org>, Cy <cy@example.org>"
    assert found.cc is None
    assert found.message_id == "1@example.org"
    assert found.references == tuple(f"{'x' * 40}{i}@example.org" for i in range(9))
    assert found.in_reply_to == found.references[-1:]
    assert found.sent_at is not None
    assert found.sent_at.isoformat() == "2004-01-05T09:00:00+00:00"


def test_quoted_names_are_shown_without_escapes() -> None:
    found = headers_in(rb"""From: "CORP\\ubauer" <u@x.de>
To: "Doe, \"J\" \a" <j@x.de>, C\\D <c@x.de>""")
    assert found.sender == r'"CORP\ubauer" <u@x.de>'
    assert found.to == r'"Doe, "J" \a" <j@x.de>, C\\D <c@x.de>'


@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    found = headers_in(b"Subject: " + data + b"\nDate: " + data + b"\nReferences: " + data)
    for value in (found.subject, found.sender, found.to, *found.references):
        assert value is None or value.encode("utf-8")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("=?utf-8?B?w6Q=?= =?utf-8?Q?=C3?= =?utf-8?Q?=A4?=", "ää"),  # a character in two words
        ("=?utf-8?B?w6Q?= x", "ä x"),  # padding is missing
        ("=?iso-8859-1?Q?a b?=", "a b"),  # white space inside a word
        ("=?utf-7?Q?+2AA-a?=", "?a"),  # half of a surrogate pair
        ("=?hex?Q?41?=", "41"),  # a codec that is no charset
        ("=?utf-8*de?Q?a?=", "a"),  # with a language
        ("=?utf-8?X?a?=", "=?utf-8?X?a?="),
        ("a\r\n\tb\0c", "a bc"),
        ("=?utf-8?Q?M=C3=BCller?= <CORP\\ubauer@x.de>", "Müller <CORP\\ubauer@x.de>"),
        ("\\users and =?utf-8?Q?=C3=BC?=", "\\users and ü"),
        ("=?utf-8?B?a?= =?utf-8?X?a?= =?utf-8?Q?=C3=BC?=", "=?utf-8?B?a?= =?utf-8?X?a?= ü"),  # the first is damaged
    ],
)
def test_damaged_encoded_words(raw: str, expected: str) -> None:
    assert decoded_header(raw) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"Message-ID: \nMessage-ID: <a@b>\nMessage-ID: <c@d>\n", "a@b"),
        (b"Message-Id: a@b\n", "a@b"),
        (b"MESSAGE-ID:\n <a@b>\n", "a@b"),
        (b"From ada Mon Jan  5 10:00:00 2004\nMessage-ID: <a@b>\n", "a@b"),
        (b"\n\nMessage-ID: <a@b>\n", "a@b"),
        (b"Message-ID: <a\n b@c>\n", "ab@c"),
        (b"Message-ID: <>\n", None),
        (b"Subject: x\n\nMessage-ID: <body@x>\n", None),
    ],
)
def test_message_ids(raw: bytes, expected: str | None) -> None:
    assert headers_in(raw + b"\nbody").message_id == expected


def test_addresses_in_in_reply_to_are_no_identifiers() -> None:
    raw = b"From: Bo <bo@x.org>\nTo: Ada <Ada@x.org>\nIn-Reply-To: <ada@x.org> of today <1@x.org>\n\n"
    assert headers_in(raw).in_reply_to == ("1@x.org",)
    assert in_reply_to_of(['Your message of "Mon, 5 Jan"'], []) == ()
    assert in_reply_to_of(['Message from Ada <ada@x.org> of "Mon" <1@x.org>'], []) == ("1@x.org",)
    assert in_reply_to_of(['Message from list@x.org of "Mon" <1@x.org>'], []) == ("1@x.org",)
    assert in_reply_to_of(["<1@x.org> <2@x.org>", "<1@x.org>"], []) == ("1@x.org", "2@x.org")


@pytest.mark.parametrize(
    ("subject", "base", "is_reply"),
    [
        ("Re: lease", "lease", True),
        ("RE : Fwd: AW:WG: SV: lease", "lease", True),
        ("[list] Re: [list] Lease", "lease", True),
        ("Re: [list] Re[4]: lease (fwd) (FWD)", "lease", True),
        ("回复：lease", "lease", True),
        ("[Fwd: [x] Re: lease]", "lease", True),
        ("Re(2): lease", "lease", True),
        ("Regarding: lease", "regarding: lease", False),
        ("Reply", "reply", False),
        ("  Lease\t of  the mill ", "lease of the mill", False),
        ("Re:", "", True),
        ("[a] [b]", "[b]", False),
        ("", "", False),
    ],
)
def test_base_subjects(subject: str, base: str, is_reply: bool) -> None:
    found = base_subject(subject)
    assert (found.text, found.is_reply) == (base, is_reply)


def test_long_subjects_take_no_time() -> None:
    for part in ("[a]", "Re: ", "Re:[a] ", "[Fwd: ", "[", "(fwd)", "re"):
        base_subject(part * 200_000)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Mon, 5 Jan 2004 10:00:00 +0100 (CET)", "2004-01-05T09:00:00+00:00"),
        ("Mon,  5 Jan 104 10:00:00 GMT", "2004-01-05T10:00:00+00:00"),
        ("5 Jan 04 10:00 EST", "2004-01-05T15:00:00+00:00"),
        ("Mon, 5 Jan 2004 25:00:00 +0000", None),
        ("Mon, 5 Jan 2004 10:00:00 +9999", None),
        ("2004-01-05 10:00:00+01:00", "2004-01-05T09:00:00+00:00"),
        ("", None),
    ],
)
def test_dates(value: str, expected: str | None) -> None:
    found = sent_at_of(value)
    assert (found and found.isoformat()) == expected
