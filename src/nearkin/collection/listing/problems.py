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
    refuse_changed(connection, problems, waves, loads)
    query = (
        select(problems.c.doc_id, waves.c.name, problems.c.source, problems.c.line, problems.c.problem)
        .select_from(problems.join(loads).join(waves))
        .where(is_open())
        .order_by(problems.c.load, problems.c.number)
    )
    return tuple(Problem(*row) for row in connection.execute(query))


def is_open() -> ColumnElement[bool]:
    """Condition for problems of documents that are still not stored, and for repeated ids."""
    is_there = exists().where((documents.c.doc_id == problems.c.doc_id) & documents.c.is_current)
    return ~is_there | problems.c.problem.like("the id %")
