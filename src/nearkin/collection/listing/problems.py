"""Problems of added documents: the reasons why they were not stored, or got another id."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, func, select, tuple_

from nearkin.collection.stored.problem_rows import IS_NOT_STORED
from nearkin.collection.stored.purged import PURGED
from nearkin.store.schema import loads, problems, waves


@dataclass(frozen=True, slots=True)
class Problem:
    """A document that was not stored, or got another id, and the reason."""

    doc_id: str
    wave: str
    source: str
    line: int
    problem: str


def problems_of(connection: Connection) -> tuple[Problem, ...]:
    """Return the problems of added documents, the oldest first, without documents that have been stored since.

    Of a document that failed for different reasons in several loads, the problem of the newest load is returned.
    """
    return tuple(problem for _, problem in problems_by_load(connection))


def problems_by_load(connection: Connection) -> list[tuple[int, Problem]]:
    """Return the same problems, each with the number of its load.

    Raises
    ------
    CollectionError
        See `problems_of`.
    """
    columns = problems.c
    query = (
        select(columns.load, columns.doc_id, waves.c.name, columns.source, columns.line, columns.problem)
        .select_from(problems.join(loads).join(waves))
        .where(is_open())
        .order_by(columns.load, columns.number)
    )
    return [(load, Problem(*row)) for load, *row in connection.execute(query)]


def is_open() -> ColumnElement[bool]:
    """Condition for problems of documents that are still not stored, and for repeated ids.

    A record that failed is not stored although its id has a document, if an earlier load, or another record of the same
    load, stored that one.
    If a document failed again for another reason in a later load, only its newest problem is open. A problem of an id
    is about one of several documents that share it, so a later one does not replace it.
    """
    later = problems.alias()
    is_of_id = later.c.problem.like("the id %")
    newest = select(later.c.doc_id, func.max(later.c.load)).where(~is_of_id, later.c.problem != PURGED)
    is_newest = tuple_(problems.c.doc_id, problems.c.load).in_(newest.group_by(later.c.doc_id))
    is_not_stored = IS_NOT_STORED & (is_newest | (problems.c.problem == PURGED))
    return is_not_stored | problems.c.problem.like("the id %")
