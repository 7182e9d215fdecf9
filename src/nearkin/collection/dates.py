"""Dates of documents from their tags, and the versions in force at a date."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection

from nearkin.collection.decisions.deciding import tags_as_labels
from nearkin.collection.decisions.fields import checked_field
from nearkin.collection.decisions.log import TAG, values_of
from nearkin.collection.results import StoredDocument
from nearkin.errors import ParameterError

DATE_TAG = "date"
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class InForce:
    """Versions in force at a date.

    Parameters
    ----------
    documents
        Those with the newest date that is not after ``at``; empty if all dates are later.
    """

    at: date
    date_tag: str
    dates: Mapping[str, date]
    documents: tuple[StoredDocument, ...]

    def date_of(self, document: StoredDocument) -> date | None:
        """Return the date of a document; None if it has none, or is not current."""
        return self.dates.get(document.doc_id) if document.is_current else None

    def to_dict(self, document: StoredDocument) -> dict[str, object]:
        """Return the fields as JSON types, with the date of this document only."""
        day = self.date_of(document)
        return {
            "document_date": None if day is None else day.isoformat(),
            "at": self.at.isoformat(),
            "date_tag": self.date_tag,
            "in_force": [
                {
                    "doc_id": document.doc_id,
                    "version": document.version,
                    "date": self.dates[document.doc_id].isoformat(),
                }
                for document in self.documents
            ],
        }


@dataclass(frozen=True, slots=True)
class DateAsked:
    """A date, and the field of the tags with dates."""

    at: date
    date_tag: str

    @classmethod
    def of(cls, at: date | str | None, date_tag: str | None) -> DateAsked | None:
        """Check both parameters of `Collection.versions`; None if no date is asked for."""
        if at is None:
            if date_tag is not None:
                raise ParameterError(
                    "names the field of the dates, and needs 'at'. Got it alone.", parameter="date_tag"
                )
            return None
        day = iso_date(at) if isinstance(at, str) else at if type(at) is date else None
        if day is None:
            raise ParameterError.of("at", "a date such as 2024-03-01", at)
        return cls(day, checked_field(DATE_TAG if date_tag is None else date_tag))


def iso_date(text: str) -> date | None:
    """Parse a date of the form YYYY-MM-DD; None for anything else."""
    try:
        return date.fromisoformat(text) if _ISO.fullmatch(text) else None
    except ValueError:
        return None


def refuse_wrong_dates(connection: Connection, date_tag: str) -> None:
    """Raise ParameterError if the tag of a document is no date, or if no document has the tag."""
    values = dict(tags_as_labels(connection, date_tag))
    if not values:
        raise ParameterError(f"No document has a tag {date_tag!r} with its date.", parameter="date_tag")
    _dates(values, date_tag)


def in_force(
    connection: Connection, body: DateAsked, document: StoredDocument, others: Iterable[StoredDocument]
) -> InForce:
    """Find the versions of a document, among it and the ``others``, that are in force at a date."""
    current = dict.fromkeys(candidate for candidate in (document, *others) if candidate.is_current)
    keys = [(TAG, candidate.doc_id, body.date_tag) for candidate in current]
    dates = _dates({key[1]: value for key, value in values_of(connection, keys).items()}, body.date_tag)
    if not dates:
        raise ParameterError(
            f"Neither {document.doc_id!r} nor any version of it has a tag {body.date_tag!r} with its "
            f"date. Tag them: nearkin tag COLLECTION {body.date_tag}=2024-03-01 DOC_ID. Dates under "
            "another tag: 'date_tag'"
        )
    newest = max((day for day in dates.values() if day <= body.at), default=None)
    return InForce(body.at, body.date_tag, dates, _of_day(tuple(current), dates, newest))


def _dates(values: Mapping[str, str], date_tag: str) -> dict[str, date]:
    dates = dict[str, date]()
    for doc_id, value in sorted(values.items()):
        day = iso_date(value)
        if day is None:
            raise ParameterError(
                f"The tag {date_tag!r} of document {doc_id!r} must be a date of the form YYYY-MM-DD. Got {value!r} "
                "instead. Set it again with nearkin tag, or remove it with nearkin untag."
            )
        dates[doc_id] = day
    return dates


def _of_day(
    documents: Sequence[StoredDocument], dates: Mapping[str, date], day: date | None
) -> tuple[StoredDocument, ...]:
    return tuple(document for document in documents if day is not None and dates.get(document.doc_id) == day)
