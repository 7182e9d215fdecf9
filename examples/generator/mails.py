"""Mail threads: a first mail, replies that quote it, forwards, copies."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from generator.prose import Block, Chance, fill

GREETINGS = ("Dear {person},", "Hello {person},", "{person},", "Good morning,", "Dear all,")
FAREWELLS = ("Best wishes", "Yours", "Until soon", "Thanks", "With kind regards", "In haste")
SHORT_REPLIES = (
    "Yes, gladly.",
    "Agreed, and thank you for writing it down.",
    "Let me sleep on it, I shall call you tomorrow before noon.",
    "I asked around: nobody minds, and two of us would even help.",
    "Not this time, I am afraid. The reason is dull and has to do with my back.",
)
LIST_FOOTER = (
    "--\nYou get this mail because you are on the list of {place} friends. To leave the list, answer with an empty "
    "letter; to read older mails, ask {person}, who keeps them in a shoe box."
)


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail of a thread; ``of`` is the number, in the thread, of the mail that it quotes or copies."""

    text: str
    edit: str
    of: int


def compose_thread(subjects: Sequence[Block], chance: Chance) -> list[Mail]:
    """A thread of one to five mails."""
    filled: dict[str, str] = {}
    block = chance.pick(subjects)
    subject = fill(block.title, chance, filled)
    first_body = _body(block, chance, filled)
    # a second subject in the same mail, as people do
    if chance.happens(0.6):
        second = _body(chance.pick([other for other in subjects if other is not block]), chance, {})
        first_body += f"\n\nAnother thing: {second[0].lower()}{second[1:]}"
    writer, reader, third = chance.name(), chance.name(), chance.name()
    greeting = fill(chance.pick(GREETINGS), chance, {"person": reader.split()[0]})
    first = f"{greeting}\n\n{first_body}\n\n{chance.pick(FAREWELLS)}\n{writer}\n"
    date = chance.date()
    thread = [Mail(_with_head(writer, reader, date, subject, first), "original", 0)]
    for edit in chance.shuffled(("short reply", "long reply", "forward", "other recipient", "list copy"))[
        : chance.below(5)
    ]:
        if edit in ("short reply", "long reply"):
            said = chance.pick(SHORT_REPLIES) if edit == "short reply" else _body(chance.pick(subjects), chance, {})
            quoted = textwrap.indent(first.rstrip("\n"), "> ", lambda line: True)
            text = f"{said}\n\n{reader}\n\nOn {date} {writer} wrote:\n{quoted}\n"
            thread.append(Mail(_with_head(reader, writer, date, f"Re: {subject}", text), edit, 0))
        elif edit == "forward":
            text = f"For your files.\n\n-------- the mail of {date} --------\n{first}"
            thread.append(Mail(_with_head(reader, third, date, f"Fwd: {subject}", text), edit, 0))
        elif edit == "other recipient":
            text = first.replace(greeting, f"Dear {third.split()[0]},", 1)
            thread.append(Mail(_with_head(writer, third, date, subject, text), edit, 0))
        else:
            text = first + "\n" + textwrap.fill(fill(LIST_FOOTER, chance, dict(filled)), 76) + "\n"
            thread.append(Mail(_with_head(writer, "the list", date, f"[list] {subject}", text), edit, 0))
    return thread


def _body(block: Block, chance: Chance, filled: dict[str, str]) -> str:
    sentences = [fill(chance.pick(ways), chance, filled) for ways in block.sentences]
    return textwrap.fill(" ".join(sentences), 76)


def _with_head(writer: str, reader: str, date: str, subject: str, text: str) -> str:
    return f"From: {writer}\nTo: {reader}\nDate: {date}\nSubject: {subject}\n\n{text}"
