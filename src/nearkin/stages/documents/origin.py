"""Origin of a document that was extracted from a file: its bytes, its kind, the extractor, and the missing parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from nearkin.stages.documents.faults import Reason

NO_TEXT = "no text was found in it"
"""Sentence of the exception "empty"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailHeaders:
    """Headers of a mail, decoded.

    Parameters
    ----------
    message_id, in_reply_to, references
        Identifiers without their angle brackets.
    subject : str or None
    sent_at : datetime or None
        In UTC.
    sender, to, cc : str or None
        Names and addresses, separated by commas.
    """

    message_id: str | None = None
    in_reply_to: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    subject: str | None = None
    sent_at: datetime | None = None
    sender: str | None = None
    to: str | None = None
    cc: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Origin of an extracted document.

    Parameters
    ----------
    sha256 : str or None
        Of the original bytes of this document, in hexadecimal; None if they could not be read.
    size_bytes : int or None
        Number of these bytes.
    kind : str
        By content, such as "pdf" or "docx".
    declared_kind : str or None
        By the suffix, if it differs.
    extractor : str
        Program that made the text, with its version.
    n_pages : int or None
    exception : str or None
        One of `.reasons.REASONS`.
    sentence : str or None
        What the exception is, for people.
    is_partial : bool
        Whether there is a text, but not all of it.
    warnings : str
        Joined by "; ".
    family : str or None
        Id of the outermost document that this one is inside of, or its own id if it has members. An archive or a
        mailbox is no document.
    position : int or None
        Position among the members of the parent, counted from 1; None for a file.
    mail : MailHeaders or None
        Only for mails.
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


_ORIGIN_FIELDS = tuple(one.name for one in fields(Origin))
_MAIL_FIELDS = tuple(one.name for one in fields(MailHeaders))


@dataclass(frozen=True, slots=True)
class KnownFile:
    """File of one document, as far as it is known.

    Parameters
    ----------
    parent : str or None
        Id of the document or container that the document is inside of.
    origin : Origin or None
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
