"""Threads of mails with headers and attachments, and which mails hold all of which others."""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

from generator.prose import Block, Chance, fill

ANSWERS = (
    "Yes, gladly.", "Agreed, and thank you for writing it down.", "Not this time, I am afraid.",
    "Let me sleep on it, I shall call you tomorrow before noon.",
)  # fmt: skip
STYLES = ("quoted below", "quoted above", "answered in between", "original message", "shortened", "new text only")
WHOLE = frozenset(("quoted below", "quoted above", "answered in between", "original message", "forward"))
"""Ways to answer that quote the whole text of the earlier mail."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(slots=True)
class ThreadMail:
    """A mail of a thread; ``parent`` is the number, in the thread, of the mail that it answers."""

    number: int
    parent: int | None
    style: str
    message_id: str
    sender: str
    to: str
    hour: int
    subject: str
    body: str
    headers: str = "all"
    attachments: tuple[tuple[str, str], ...] = ()
    is_missing: bool = False
    is_sent_twice: bool = False
    above: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Start:
    """When a thread began: a day of January 2024, from 1."""

    day: int

    def at(self, hour: int) -> str:
        """The date of a mail, some hours later, as its header has it."""
        day = self.day + hour // 24
        return f"{day % 28 + 1} {_MONTHS[day // 28 % 12]} {2024 + day // 336} {hour % 24:02d}:15:00 +0000"


def address(name: str) -> str:
    """``Ada Kern`` as ``Ada Kern <ada.kern@example.org>``."""
    return f"{name} <{name.lower().replace(' ', '.')}@example.org>"


def compose_headed_thread(subjects: Sequence[Block], chance: Chance, number: int) -> tuple[Start, list[ThreadMail]]:
    """A thread of one to eight mails; some are missing, some were sent twice."""
    start = Start(chance.below(330))
    people = [chance.name() for _ in range(4)]
    block = chance.pick(subjects)
    filled: dict[str, str] = {}
    subject = fill(block.title, chance, filled)
    body = _paragraphs(block, chance, filled)
    mails = [
        ThreadMail(0, None, "first", f"0.{number}@example.org", people[0], people[1], 9, subject,
                   f"Dear {people[1].split()[0]},\n\n{body}\n\n{people[0]}", attachments=_attached(chance, number))
    ]  # fmt: skip
    for k in range(1, chance.below(8)):
        mails.append(_answer(mails, k, number, people, subjects, chance, start))
    children = {mail.parent for mail in mails}
    for mail in mails:
        is_safe = all(other.headers != "none" for other in mails if other.parent == mail.number)
        mail.is_missing = mail.number in children and is_safe and chance.happens(0.15)
        mail.is_sent_twice = not mail.is_missing and chance.happens(0.1)
    return start, mails


def _answer(
    mails: list[ThreadMail], k: int, number: int, people: Sequence[str], subjects: Sequence[Block], chance: Chance,
    start: Start,
) -> ThreadMail:  # fmt: skip
    of = mails[-1] if chance.happens(0.6) else chance.pick(mails)
    is_forward = chance.happens(0.2)
    style = "forward" if is_forward else chance.pick(STYLES)
    writer = of.to
    reader = people[3] if is_forward else of.sender
    if is_forward and writer == people[3]:
        reader = people[0]
    said = _paragraphs(chance.pick(subjects), chance, {}) if chance.happens(0.5) else chance.pick(ANSWERS)
    mark = "Fwd: " if is_forward else "Re: "
    headers = chance.pick(("all", "all", "last", "reply"))
    if of is mails[-1] and not is_forward and chance.happens(0.25):
        headers = "none"  # the subject alone says what it answers
    base = of.subject.removeprefix("Re: ").removeprefix("Fwd: ")
    return ThreadMail(
        k, of.number, style, f"{k}.{number}@example.org", writer, reader, of.hour + k * 5 + 1, f"{mark}{base}",
        _body(of, style, f"{said}\n\n{writer} ({k})", start), headers=headers,
        attachments=of.attachments if is_forward else _attached(chance, number + k, 0.15),
        above=[*of.above, of.number],
    )  # fmt: skip


def _body(of: ThreadMail, style: str, said: str, start: Start) -> str:
    attribution = f"On {start.at(of.hour)}, {of.sender} wrote:"
    quoted = textwrap.indent(of.body, "> ", lambda line: True)
    first, *rest = of.body.split("\n\n")
    if style == "quoted below":
        return f"{said}\n\n{attribution}\n{quoted}"
    if style == "quoted above":
        return f"{attribution}\n{quoted}\n\n{said}"
    if style == "answered in between":
        below = textwrap.indent("\n\n".join(rest), "> ", lambda line: True)
        return f"{attribution}\n> {first}\n\n{said}\n\n{below}" if "\n" not in first else f"{said}\n\n{quoted}"
    if style == "shortened":
        return f"{attribution}\n{textwrap.indent(rest[0], '> ', lambda line: True)}\n\n{said}"
    if style in ("original message", "forward"):
        head = f"From: {of.sender}\nSent: {start.at(of.hour)}\nTo: {of.to}\nSubject: {of.subject}"
        return f"{said}\n\n-----Original Message-----\n{head}\n\n{of.body}"
    return said


def _paragraphs(block: Block, chance: Chance, filled: dict[str, str]) -> str:
    sentences = [fill(chance.pick(ways), chance, filled) for ways in block.sentences]
    half = len(sentences) // 2
    return "\n\n".join(textwrap.fill(" ".join(some), 72) for some in (sentences[:half], sentences[half:]))


def _attached(chance: Chance, number: int, share: float = 0.25) -> tuple[tuple[str, str], ...]:
    if not chance.happens(share):
        return ()
    return (
        (f"list-{number}.txt", f"List {number} of the {chance.pick(('store', 'shed', 'mill'))}, {chance.date()}\n"),
    )


def headers_of(mail: ThreadMail, mails: Sequence[ThreadMail], start: Start) -> str:
    """The headers of a mail, without those of its body."""
    lines = [
        f"From: {address(mail.sender)}", f"To: {address(mail.to)}", f"Subject: {mail.subject}",
        f"Date: {start.at(mail.hour)}", f"Message-ID: <{mail.message_id}>",
    ]  # fmt: skip
    chain = [mails[above].message_id for above in mail.above]
    if chain and mail.headers in ("all", "last"):
        shown = chain if mail.headers == "all" else chain[-1:]
        lines.append("References: " + "\n ".join(f"<{one}>" for one in shown))
    if chain and mail.headers in ("all", "reply"):
        lines.append(f"In-Reply-To: <{chain[-1]}>")
    return "\n".join(lines)


def as_message(mail: ThreadMail, mails: Sequence[ThreadMail], start: Start) -> str:
    """The mail as a file has it."""
    head = f"{headers_of(mail, mails, start)}\nMIME-Version: 1.0\n"
    if not mail.attachments:
        return f"{head}Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{mail.body}\n"
    parts = [f"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{mail.body}\n"]
    for name, text in mail.attachments:
        data = base64.encodebytes(text.encode()).decode()
        parts.append(
            f'Content-Type: text/plain; charset=utf-8; name="{name}"\nContent-Transfer-Encoding: base64\n'
            f'Content-Disposition: attachment; filename="{name}"\n\n{data}'
        )
    inside = "".join(f"--next-part\n{part}" for part in parts)
    return f'{head}Content-Type: multipart/mixed; boundary="next-part"\n\n{inside}--next-part--\n'


def reasons_of(mails: Sequence[ThreadMail]) -> dict[int, str]:
    """Why each mail is inclusive, empty if it is not: by the ways in which the mails were made, not by their texts."""
    reasons: dict[int, str] = {}
    for mail in reversed(mails):
        if mail.is_missing:
            continue
        holding = [
            other for other in mails if other.number in reasons and reasons[other.number] and _holds(other, mail, mails)
        ]
        has_all = any(set(mail.attachments) <= set(other.attachments) for other in holding)
        reasons[mail.number] = "" if has_all else "attachment" if holding else "message"
    return reasons


def _holds(other: ThreadMail, mail: ThreadMail, mails: Sequence[ThreadMail]) -> bool:
    """Whether each answer from one mail up to the other quotes the whole mail before it."""
    at = other
    while at.parent is not None and at.number != mail.number:
        if at.style not in WHOLE:
            return False
        at = mails[at.parent]
    return at.number == mail.number and other.number != mail.number
