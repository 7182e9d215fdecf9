"""Rows of problems that are deleted, with their seal."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, and_, exists, select

from nearkin.collection.stored.purged import PURGED
from nearkin.store.schema import documents, origins, problems
from nearkin.store.seals import Seals

IS_ABOUT_NO_TEXT: ColumnElement[bool] = and_(
    ~exists().where((documents.c.doc_id == problems.c.doc_id) & documents.c.is_current),
    ~exists().where(
        (origins.c.doc_id == problems.c.doc_id) & origins.c.row.is_(None) & origins.c.extractor.is_not(None)
    ),
    problems.c.problem != PURGED,
)
"""Condition for problems that alone list a record or a plain text as an exception: it is no document, and was not
extracted."""


def is_about_id_or_size(problem: str) -> bool:
    """Whether a document was read, and is not stored because of its id or its size."""
    return problem.startswith(("the id ", "too long to be stored"))


def forget_problems(connection: Connection, seals: Seals, condition: ColumnElement[bool]) -> None:
    """Delete the problems that meet a condition."""
    seals.take(problems.name, connection.execute(select(problems.c.checksum).where(condition)).scalars().all())
    connection.execute(problems.delete().where(condition))
