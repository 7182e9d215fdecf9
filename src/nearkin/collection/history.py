"""Versions of a document and members of a group in order of time, each with its change from the previous one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection

from nearkin.collection.dates import DATE_TAG, iso_date
from nearkin.collection.decisions.deciding import members_of
from nearkin.collection.decisions.fields import checked_field
from nearkin.collection.decisions.log import TAG, values_of
from nearkin.collection.matching.matches import matching_of
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.relations import relations_of
from nearkin.collection.results import CHANGE, DOCUMENT, StoredDocument, columns, table_of
from nearkin.collection.stored.contents import purged_contents, stored_text
from nearkin.collection.stored.documents import document, stored_documents, with_documents
from nearkin.collection.tolerance import Tolerance, check_limit, is_letters_only
from nearkin.errors import UnknownDocumentError
from nearkin.nouns import counted
from nearkin.records import I64
from nearkin.stages.differences.comparing import compare_texts
from nearkin.stages.differences.comparison import Comparison, DifferenceKind, Piece, marked_text
from nearkin.stages.differences.passages import first_difference, largest_difference
from nearkin.store.bulk import in_slices, is_storable
from nearkin.store.schema import documents, loads
from nearkin.tabular import AnswerRecord, Tabular


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChange(AnswerRecord):
    """The change from one version of a document to the next.

    Parameters
    ----------
    is_same_text
        Whether the document was removed and added again with the same text.
    n_words_removed, n_words_added
        Number of words that occur only before the change, and only after it.
    n_words_moved
        Number of words of passages that occur before and after it, in different places.
    passage
        Most significant difference, with a few words around it: "only_a" before the change, "only_b" after it.
    is_whole
        False if the texts were too long to be compared to the end.
    """

    is_same_text: bool
    n_words_removed: int
    n_words_added: int
    n_differences: int
    passage: tuple[Piece, ...]
    is_whole: bool
    n_words_moved: int = 0

    @classmethod
    def of(cls, comparison: Comparison, passage: tuple[Piece, ...]) -> TextChange:
        """Return the change that a comparison found, with one of its differences."""
        return cls(
            is_same_text=comparison.is_identical,
            n_words_removed=comparison.n_words_only_a,
            n_words_added=comparison.n_words_only_b,
            n_differences=comparison.n_changes,
            passage=passage,
            is_whole=comparison.is_whole,
            n_words_moved=comparison.n_words_moved,
        )


def change_columns(change: TextChange | None) -> dict[str, object]:
    """Return the fields of a change as columns of a table."""
    return {} if change is None else change.to_dict() | {"passage": marked_text(change.passage)}


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry(AnswerRecord):
    """A version of a document.

    Parameters
    ----------
    added_at
        UTC, ISO 8601.
    removed_at
        None if this version is current, or was replaced by the next one.
    change
        From the previous version; None for the first version, and if one of the two texts was erased.
    is_erased
        Whether the text was erased: see `Collection.purge`.
    """

    document: StoredDocument
    added_at: str
    removed_at: str | None
    change: TextChange | None
    is_erased: bool = False


@dataclass(frozen=True, slots=True)
class DocumentHistory(Tabular, AnswerRecord):
    """All versions of a document.

    Parameters
    ----------
    versions
        The oldest first.
    """

    doc_id: str
    versions: tuple[HistoryEntry, ...]

    @property
    def table(self) -> pa.Table:
        """A row for each version, with its change as columns."""
        rows = ({**change_columns(version.change), **version.to_dict()} for version in self.versions)
        return table_of(rows, *DOCUMENT, *columns("added_at removed_at is_erased is_same_text"), *CHANGE)

    def __repr__(self) -> str:
        return f"DocumentHistory({counted(len(self.versions), 'version')} of {self.doc_id})"


def history(connection: Connection, doc_id: str) -> DocumentHistory:
    """Return all versions of a document; see `Collection.history`."""
    try:
        document(connection, doc_id)
    except UnknownDocumentError:  # a removed document has a history too
        if not is_storable(doc_id) or not _rows(connection, doc_id):
            raise
    rows = _rows(connection, doc_id)
    erased = purged_contents(connection, [row.content for row in rows])
    compared = comparisons(connection, [None if row.content in erased else row.content for row in rows])
    return DocumentHistory(
        doc_id,
        tuple(
            HistoryEntry(
                document=stored,
                added_at=row.added_at,
                removed_at=row.removed_at,
                change=None if comparison is None else TextChange.of(comparison, first_difference(comparison)),
                is_erased=row.content in erased,
            )
            for stored, row, comparison in zip(stored_documents(rows), rows, compared, strict=True)
        ),
    )


def _rows(connection: Connection, doc_id: str) -> list[Any]:
    query = with_documents().add_columns(loads.c.added_at).where(documents.c.doc_id == doc_id)
    return list(connection.execute(query.order_by(documents.c.version)))


def comparisons(connection: Connection, numbers: Sequence[int | None]) -> Iterator[Comparison | None]:
    """Yield for each content its comparison with the previous one; None for the first, and beside an erased text."""
    if not numbers:
        return
    yield None
    text = None if numbers[0] is None else stored_text(connection, numbers[0])
    for before, after in pairwise(numbers):
        other = text if before == after else None if after is None else stored_text(connection, after)
        yield None if text is None or other is None else compare_texts(text, other, context_lines=0, with_moves=True)
        text = other


_N_NAMED = 3
MAX_COMPARED = 4_000_000
"""Maximum number of characters that one call compares; for later members only the similarity is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLineEntry(AnswerRecord):
    """A member of a group, compared with the previous member in time.

    Parameters
    ----------
    relation
        Relation to the member before, as ``nearkin families`` has it; empty for two texts with like letters and unlike
        wording, and while another process writes.
    change
        From the member before, a difference with a negation first; None behind `MAX_COMPARED` characters.
    """

    hidden = ("before",)
    computed = ("before=before.doc_id",)

    document: StoredDocument
    date: date | None
    added_at: str
    before: StoredDocument | None
    jaccard: float | None
    relation: str
    change: TextChange | None
    n_of_kind: Mapping[DifferenceKind, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTimeLine(Tabular, AnswerRecord):
    """Current members of a stored group in order of time."""

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
        """A row for each member, with its change as columns."""
        rows = (
            {**change_columns(entry.change), **entry.to_dict(), "kinds": ", ".join(entry.n_of_kind)}
            for entry in self.entries
        )
        own_columns = columns("date added_at before jaccard relation kinds is_same_text")
        return table_of(rows, *DOCUMENT, *own_columns, *CHANGE)

    def __repr__(self) -> str:
        return f"GroupTimeLine({counted(self.n_documents, 'document')} of group {self.number})"


def group_time_line(
    collection: OpenedCollection,
    number: int,
    tolerance: Tolerance,
    *,
    date_tag: str = DATE_TAG,
    limit: int = 50,
    offset: int = 0,
) -> GroupTimeLine:
    """Sort the current members of a stored group by time, and compare each with the previous one."""
    check_limit(limit)
    field = checked_field(date_tag)
    time_line = collection.answered(lambda seen: _time_line(collection, seen, number, tolerance, field, limit, offset))
    pairs = [pair for entry in time_line.entries if (pair := _related_pair(entry, tolerance)) is not None]
    relations = {pair: text.comparison.judgement.relation for pair, text in relations_of(collection, pairs)}
    return replace(
        time_line,
        entries=tuple(
            replace(entry, relation=relations.get(pair, "")) if (pair := _related_pair(entry, tolerance)) else entry
            for entry in time_line.entries
        ),
    )


def _related_pair(entry: TimeLineEntry, tolerance: Tolerance) -> tuple[int, int] | None:
    if (
        entry.before is None
        or entry.change is None
        or entry.jaccard is None
        or is_letters_only(entry.jaccard, tolerance)
    ):
        return None
    return entry.before.content, entry.document.content


def _time_line(
    collection: OpenedCollection, seen: Snapshot, number: int, tolerance: Tolerance, field: str, limit: int, offset: int
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
    days = {doc_id: iso_date(value) for (_, doc_id, _), value in values.items()}
    return {doc_id: day for doc_id, day in days.items() if day is not None}


def _in_order(connection: Connection, doc_ids: Sequence[str]) -> list[tuple[StoredDocument, str]]:
    by_id = dict[str, tuple[StoredDocument, str]]()
    for block in in_slices(doc_ids):
        query = with_documents().add_columns(loads.c.added_at)
        rows: Sequence[Any] = connection.execute(
            query.where(documents.c.doc_id.in_(block) & documents.c.is_current)
        ).all()
        by_id |= {
            stored.doc_id: (stored, row.added_at) for stored, row in zip(stored_documents(rows), rows, strict=True)
        }
    return [by_id[doc_id] for doc_id in doc_ids]
