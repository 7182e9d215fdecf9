"""Rows of problems and of origins: which still hold, and how they are ended or deleted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, Connection, and_, exists, select

from nearkin.collection.stored.origins import IS_UNREAD
from nearkin.collection.stored.purged import PURGED
from nearkin.store.bulk import in_slices
from nearkin.store.schema import documents, origins, problems

FailedPlace = tuple[str, str, int]
"""Id, source and line of a record."""

_IS_EXTRACTED = exists().where((origins.c.row == documents.c.row) & origins.c.extractor.is_not(None))
_IS_CURRENT = (documents.c.doc_id == problems.c.doc_id) & documents.c.is_current
_IS_ABOUT_TEXT = ~problems.c.problem.like("the id %") & (problems.c.problem != PURGED)
IS_STORED_SINCE: ColumnElement[bool] = and_(
    _IS_ABOUT_TEXT, exists().where(_IS_CURRENT, documents.c.load > problems.c.load)
)
"""Condition for problems of a document that was stored since. A text that an earlier load, or another record of the
same load, stored under the id is not the one that failed."""
IS_NOT_STORED: ColumnElement[bool] = ~exists().where(_IS_CURRENT) | and_(
    _IS_ABOUT_TEXT, ~IS_STORED_SINCE, ~exists().where(_IS_CURRENT, _IS_EXTRACTED.correlate(documents))
)
"""Condition for problems of documents that are still not stored. A file that was extracted, and of which a text is
stored, is listed by its origin."""
IS_ABOUT_NO_TEXT: ColumnElement[bool] = and_(
    IS_NOT_STORED,
    ~exists().where(
        (origins.c.doc_id == problems.c.doc_id) & origins.c.row.is_(None) & origins.c.extractor.is_not(None)
    ),
    problems.c.problem != PURGED,
)
"""Condition for problems that alone list a record or a plain text as an exception: it is not stored, and was not
extracted."""


def is_about_id_or_size(problem: str) -> bool:
    """Whether a document was read, and is not stored because of its id or its size."""
    return problem.startswith(("the id ", "too long to be stored"))


def forget_problems(connection: Connection, condition: ColumnElement[bool]) -> None:
    """Delete the problems that meet a condition."""
    connection.execute(problems.delete().where(condition))


def failed_places(connection: Connection) -> frozenset[FailedPlace]:
    """Return the id, source and line of the records that gave no text, and whose id has a current document."""
    columns = problems.c.doc_id, problems.c.source, problems.c.line
    rows = connection.execute(select(*columns).where(exists().where(_IS_CURRENT), _IS_ABOUT_TEXT, IS_NOT_STORED))
    return frozenset((doc_id, source, line) for doc_id, source, line in rows)


def forget_solved(connection: Connection, places: Iterable[FailedPlace]) -> None:
    """Delete the problems of records that were read since."""
    columns = problems.c
    for doc_id, source, line in places:
        is_it = (columns.doc_id == doc_id) & (columns.source == source) & (columns.line == line)
        forget_problems(connection, is_it & _IS_ABOUT_TEXT)


def forget_rows(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete origins by their numbers."""
    for some in in_slices(numbers):
        connection.execute(origins.delete().where(origins.c.number.in_(some)))


def forget(connection: Connection, conditions: Iterable[ColumnElement[bool]]) -> int:
    """Delete the origins that meet one of several conditions; return their number."""
    found = set[int]()
    for condition in conditions:
        found |= set(connection.execute(select(origins.c.number).where(condition)).scalars())
    forget_rows(connection, sorted(found))
    return len(found)


def remove_unread(connection: Connection, condition: ColumnElement[bool], now: str) -> int:
    """Remove documents without a text that meet a condition; their origins stay in the history."""
    return connection.execute(origins.update().where(condition & IS_UNREAD).values(removed_at=now)).rowcount
