"""Problems of added documents: the reasons why they were not stored, or got another id."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, exists, select

from nearkin.store.integrity import refuse_changed
from nearkin.store.schema import documents, loads, problems, waves


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

    Raises
    ------
    CollectionError
        A row of a problem, a wave or a load was changed.
    """
    return tuple(problem for _, problem in problems_by_load(connection))


def problems_by_load(connection: Connection) -> list[tuple[int, Problem]]:
    """Return the same problems, each with the number of its load.

    Raises
    ------
    CollectionError
        See `problems_of`.
    """
    refuse_changed(connection, problems, waves, loads)
    columns = problems.c
    query = (
        select(columns.load, columns.doc_id, waves.c.name, columns.source, columns.line, columns.problem)
        .select_from(problems.join(loads).join(waves))
        .where(is_open())
        .order_by(columns.load, columns.number)
    )
    return [(load, Problem(*row)) for load, *row in connection.execute(query)]


def is_open() -> ColumnElement[bool]:
    """Condition for problems of documents that are still not stored, and for repeated ids."""
    is_there = exists().where((documents.c.doc_id == problems.c.doc_id) & documents.c.is_current)
    return ~is_there | problems.c.problem.like("the id %")
