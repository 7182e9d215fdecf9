"""Members of a stored group in order of time, each with its largest change from the previous member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection

from nearkin.collection.dates import DATE_TAG, iso_date
from nearkin.collection.decisions.deciding import checked_field, members_of
from nearkin.collection.decisions.log import TAG, values_of
from nearkin.collection.history import TextChange, comparisons
from nearkin.collection.matching.matches import matching_of
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.results import CHANGE, DOCUMENT, STEP, StoredDocument, table_of
from nearkin.collection.stored.documents import stored_documents, with_documents
from nearkin.collection.stored_relations import relations_of
from nearkin.collection.tolerance import Tolerance, check_limit, is_letters_only
from nearkin.errors import CollectionBusyError
from nearkin.nouns import counted
from nearkin.records import I64
from nearkin.stages.differences.comparison import DifferenceKind, marked_text
from nearkin.stages.differences.passages import largest_difference
from nearkin.store.bulk import in_slices
from nearkin.store.schema import documents, loads
from nearkin.tabular import Tabular

_N_NAMED = 3
MAX_COMPARED = 4_000_000
"""Maximum number of characters that one call compares; for later members only the similarity is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLineEntry:
    """A member of a group, compared with the previous member in time.

    Parameters
    ----------
    document : StoredDocument
    date : date or None
        Date of its tag; None if it has none, or one that is no date.
    added_at : str
        UTC, ISO 8601.
    before : StoredDocument or None
        The member before it; None for the first.
    jaccard : float or None
        Jaccard similarity of the word 5-grams with the member before; None for the first.
    relation : str
        Relation to the member before, as ``nearkin families`` has it; empty for the first member, for two texts with
        like letters and unlike wording, and while another process writes.
    change : TextChange or None
        Change from the member before, with its largest difference, one with a negation before all others; None for
        the first, and behind `MAX_COMPARED` characters.
    n_of_kind : mapping of str to int
        Number of differences of each kind that there is; a difference may have several.
    """

    document: StoredDocument
    date: date | None
    added_at: str
    before: StoredDocument | None
    jaccard: float | None
    relation: str
    change: TextChange | None
    n_of_kind: Mapping[DifferenceKind, int]

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {
            **self.document.to_dict(),
            "date": None if self.date is None else self.date.isoformat(),
            "added_at": self.added_at,
            "before": None if self.before is None else self.before.doc_id,
            "jaccard": self.jaccard,
            "relation": self.relation,
            "change": None if self.change is None else self.change.to_dict(),
            "n_of_kind": dict(self.n_of_kind),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTimeLine(Tabular):
    """Current members of a stored group in order of time.

    Parameters
    ----------
    number : int
    tolerance : Tolerance
    date_tag : str
        Field of the tags that have the dates.
    is_by_date : bool
        Whether the order is that of the dates, which all members then have, and of two with one date that of adding;
        otherwise it is the order in which they were added.
    n_documents, n_dated : int
        Number of current members, and of those with a date.
    undated : tuple of str
        Ids of the first members without a date, at most three.
    offset : int
        Number of members before the returned ones.
    entries : tuple of TimeLineEntry
        The earliest first.
    """

    tables: ClassVar[tuple[str, ...]] = ("table",)

    number: int
    tolerance: Tolerance
    date_tag: str
    is_by_date: bool
    n_documents: int
    n_dated: int
    undated: tuple[str, ...]
    offset: int
    entries: tuple[TimeLineEntry, ...]

    @property
    def table(self) -> pa.Table:
        """A row for each member, the earliest first, with its change as columns."""
        rows = (
            {
                **({} if one.change is None else one.change.to_dict() | {"passage": marked_text(one.change.passage)}),
                **one.to_dict(),
                "kinds": ", ".join(one.n_of_kind),
            }
            for one in self.entries
        )
        return table_of(rows, *DOCUMENT, *STEP, *CHANGE)

    def __repr__(self) -> str:
        return f"GroupTimeLine({counted(self.n_documents, 'document')} of group {self.number})"

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        names = ("date_tag", "is_by_date", "n_documents", "n_dated", "offset")
        return {
            "number": self.number,
            **self.tolerance.to_dict(),
            **{name: getattr(self, name) for name in names},
            "entries": [one.to_dict() for one in self.entries],
        }


def group_time_line(
    collection: OpenedCollection,
    number: int,
    tolerance: Tolerance,
    *,
    date_tag: str = DATE_TAG,
    limit: int = 50,
    offset: int = 0,
) -> GroupTimeLine:
    """Sort the current members of a stored group by time, and compare each with the previous member.

    Relations are stored when they are first computed; while another process writes, they are missing.

    Raises
    ------
    UnknownDocumentError
        There is no such group at this tolerance.
    ParameterError
        It is not the number of a group, or the measure has no groups.
    """
    check_limit(limit)
    field = checked_field(date_tag)
    found = collection.answered(lambda seen: _time_line(collection, seen, number, tolerance, field, limit, offset))
    pairs = [pair for one in found.entries if (pair := _related_pair(one, tolerance)) is not None]
    try:
        related = relations_of(collection, pairs, with_one_sided=False)
        relations = {pair: text.comparison.judgement.relation for pair, text in related}
    except CollectionBusyError:
        return found
    return replace(
        found,
        entries=tuple(
            replace(one, relation=relations.get(pair, "")) if (pair := _related_pair(one, tolerance)) else one
            for one in found.entries
        ),
    )


def _related_pair(one: TimeLineEntry, tolerance: Tolerance) -> tuple[int, int] | None:
    """Return the contents whose relation is shown; None if there is none to show."""
    if one.before is None or one.change is None or one.jaccard is None or is_letters_only(one.jaccard, tolerance):
        return None
    return one.before.content, one.document.content


def _time_line(
    collection: OpenedCollection,
    seen: Snapshot,
    number: int,
    tolerance: Tolerance,
    field: str,
    limit: int,
    offset: int,
) -> GroupTimeLine:
    connection = seen.connection
    _, measures = matching_of(connection, collection.counting, seen.segments, tolerance)
    ids = members_of(connection, number, str(tolerance))
    dates = _dates_of(connection, ids, field)
    is_by_date = len(dates) == len(ids)
    ordered = sorted(ids, key=lambda doc_id: dates[doc_id]) if is_by_date else ids  # stable: then as they were added
    first = max(0, offset - 1)  # the member before the first one that is returned
    window = _in_order(connection, ordered[first : offset + limit])
    contents: I64 = np.array([stored.content for stored, _ in window], np.int64)
    is_compared = np.cumsum([stored.n_characters for stored, _ in window]) <= MAX_COMPARED
    to_compare = [content if is_it else None for content, is_it in zip(contents.tolist(), is_compared.tolist())]
    alike = [None, *measures.sets.jaccards(contents[:-1], contents[1:]).tolist()]
    entries = [
        TimeLineEntry(
            document=stored,
            date=dates.get(stored.doc_id),
            added_at=added_at,
            before=None if before is None else before[0],
            jaccard=jaccard,
            relation="",
            change=None if compared is None else TextChange.of(compared, largest_difference(compared)),
            n_of_kind={} if compared is None else compared.n_of_kind,
        )
        for (stored, added_at), before, jaccard, compared in zip(
            window, [None, *window], alike, comparisons(connection, to_compare)
        )
    ]
    return GroupTimeLine(
        number=number,
        tolerance=tolerance,
        date_tag=field,
        is_by_date=is_by_date,
        n_documents=len(ids),
        n_dated=len(dates),
        undated=tuple(doc_id for doc_id in ids if doc_id not in dates)[:_N_NAMED],
        offset=offset,
        entries=tuple(entries[offset - first :]),
    )


def _dates_of(connection: Connection, doc_ids: Sequence[str], field: str) -> dict[str, date]:
    values = values_of(connection, [(TAG, doc_id, field) for doc_id in doc_ids])
    found = {doc_id: iso_date(value) for (_, doc_id, _), value in values.items()}
    return {doc_id: day for doc_id, day in found.items() if day is not None}


def _in_order(connection: Connection, doc_ids: Sequence[str]) -> list[tuple[StoredDocument, str]]:
    """Return the current documents with some ids, in this order, and when each was added."""
    found = dict[str, tuple[StoredDocument, str]]()
    for some in in_slices(doc_ids):
        query = with_documents().add_columns(loads.c.added_at)
        rows: Sequence[Any] = connection.execute(
            query.where(documents.c.doc_id.in_(some) & documents.c.is_current)
        ).all()
        found |= {
            stored.doc_id: (stored, row.added_at) for stored, row in zip(stored_documents(rows), rows, strict=True)
        }
    return [found[doc_id] for doc_id in doc_ids]
