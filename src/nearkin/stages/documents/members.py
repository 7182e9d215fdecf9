"""Documents inside a file, such as a mail or an archive."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from nearkin.paths import STDIN
from nearkin.stages.documents.rules import Reason

BETWEEN = "!"
"""Separator between the id of a container and the name of a member."""
SENT = "sent: "
"""Beginning of the source of a document that came over the network: the rest is no path, whatever it looks like."""


def place_text(doc_id: str | None, source: str, line: int) -> str:
    """Write where a document is: ``file:line``, or the id of a document inside a file."""
    if doc_id is not None and doc_id.startswith(f"{source}{BETWEEN}"):
        return doc_id
    name = f"{source}:{line}"
    return f"{name} (standard input)" if source == STDIN and doc_id in (None, name) else _line_text(source, line)


def origin_text(doc_id: str, source: str, line: int) -> str:
    """Write the file of a document beside its id: without the line if the id names the file.

    Examples
    --------
    >>> origin_text("x", "in.jsonl", 248), origin_text("d.zip!a.txt", "d.zip", 248), origin_text("x", "sent: x", 1)
    ('in.jsonl:248', 'd.zip', 'sent: x')
    >>> origin_text("mail/1.eml", "mail/1.eml", 1), origin_text("-:95", "-", 95)
    ('mail/1.eml', 'standard input, line 95')
    """
    is_sent_alone = source.startswith(SENT)
    is_named = doc_id == source or doc_id.startswith(f"{source}{BETWEEN}") or is_sent_alone
    return source if is_named else _line_text(source, line)


def _line_text(source: str, line: int) -> str:
    return f"standard input, line {line}" if source == STDIN else f"{source}:{line}"


class MemberIds:
    """Ids of the documents inside one file: distinct, and the same each time that the file is read."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, parent: str, name: str | None, position: int) -> str:
        """Return the id of a member by its name, else by its position among the members of its parent, from 1."""
        doc_id = f"{parent}{BETWEEN}{escaped(name)}" if name else f"{parent}{BETWEEN}#{position}"
        while doc_id in self._taken:
            doc_id += f"#{position}"
        self._taken.add(doc_id)
        return doc_id


def printable_id(doc_id: str) -> str:
    r"""Return an id that an Arrow string can hold: unpaired surrogates are escaped as in JSON.

    Examples
    --------
    >>> print(printable_id("lone\ud800"))
    lone\ud800
    """
    return doc_id.encode("utf-8", "backslashreplace").decode()


def escaped(name: str) -> str:
    """Return the name of a member for ids: without "!", and with unpaired surrogates as in JSON."""
    return re.sub(r"%(?=2[15])", "%25", printable_id(name)).replace(BETWEEN, "%21")


NO_TEXT = "no text was found in it"
"""Sentence of the exception "empty"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailHeaders:
    """Headers of a mail, decoded.

    Parameters
    ----------
    message_id, in_reply_to, references
        Identifiers without their angle brackets.
    sent_at
        In UTC.
    sender, to, cc, bcc
        Names and addresses, separated by commas.
    thread_index
        Header Thread-Index of Exchange, in base64.
    thread_topic
        Header Thread-Topic of Exchange: the subject of the mail that began the conversation.
    """

    message_id: str | None = None
    in_reply_to: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    subject: str | None = None
    sent_at: datetime | None = None
    sender: str | None = None
    to: str | None = None
    cc: str | None = None
    bcc: str | None = None
    thread_index: str | None = None
    thread_topic: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Origin of an extracted document.

    Parameters
    ----------
    sha256
        Of the original bytes of this document, in hexadecimal; None if they could not be read.
    kind
        By content, such as "pdf" or "docx".
    declared_kind
        By the suffix, if it differs.
    extractor
        Program that made the text, with its version.
    exception
        One of `.rules.REASONS`.
    sentence
        What the exception is, for people.
    is_partial
        Whether there is a text, but not all of it.
    family
        Id of the outermost document that this one is inside of, or its own id if it has members. An archive or a
        mailbox is no document.
    position
        Position among the members of the parent, counted from 1; None for a file.
    """

    sha256: str | None
    size_bytes: int | None
    kind: str
    declared_kind: str | None = None
    extractor: str
    n_pages: int | None = None
    exception: Reason | None = None
    sentence: str | None = None
    is_partial: bool = False
    warnings: str = ""
    family: str | None = None
    position: int | None = None
    mail: MailHeaders | None = None

    def as_row(self) -> Mapping[str, Any]:
        """Return the values of the column ``origin``."""
        row = {name: getattr(self, name) for name in _ORIGIN_FIELDS}  # `asdict` copies each value: ten times slower
        if self.mail is not None:
            row["mail"] = {name: getattr(self.mail, name) for name in _MAIL_FIELDS}
        return row

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Origin:
        """Restore an origin from the column."""
        fields = dict(row)
        if (mail := fields.get("mail")) is not None:
            lists = {name: tuple(mail[name] or ()) for name in ("in_reply_to", "references")}
            fields["mail"] = MailHeaders(**{**mail, **lists})
        return cls(**fields)


_ORIGIN_FIELDS = tuple(field.name for field in fields(Origin))
_MAIL_FIELDS = tuple(field.name for field in fields(MailHeaders))


@dataclass(frozen=True, slots=True)
class KnownFile:
    """File of one document, as far as it is known.

    Parameters
    ----------
    parent
        Id of the document or container that the document is inside of.
    origin
        None if it was not extracted.
    """

    parent: str | None = None
    origin: Origin | None = None

    def under(self, doc_id: str, former: str) -> KnownFile:
        """Return the same for the document under another id: its family may have its former one."""
        if self.origin is None or self.origin.family != former:
            return self
        return replace(self, origin=replace(self.origin, family=doc_id))


UNKNOWN_FILE = KnownFile()
"""Value for a text without a file."""


OCR = "xberg OCR"
"""Beginning of the name of an extractor that recognises text; the languages and the version of xberg follow."""


def is_ocr(extractor: str) -> bool:
    """Whether a text, or a part of it, was recognised in images."""
    return extractor.startswith(f"{OCR} ")
