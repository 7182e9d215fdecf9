"""Figures about a collection."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, exists, func, select

from nearkin.collection.matching.by_index import n_indexed
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.results import StoredDocument
from nearkin.collection.stored.documents import stored_documents, with_documents
from nearkin.store.integrity import refuse_changed
from nearkin.store.schema import contents, documents, loads, problems, purges, waves


@dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """Documents added under one name.

    Parameters
    ----------
    name : str
    first_added_at, last_added_at : str
        UTC, ISO 8601.
    n_current : int
        Number of documents whose current version was added in this wave.
    n_new, n_new_versions, n_problems : int
        Sums over its loads.
    """

    name: str
    first_added_at: str
    last_added_at: str
    n_current: int
    n_new: int
    n_new_versions: int
    n_problems: int


@dataclass(frozen=True, slots=True)
class Problem:
    """A document that was not stored, or got another id, and the reason."""

    doc_id: str
    wave: str
    source: str
    line: int
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Info:
    """Figures about a collection.

    Parameters
    ----------
    place : str
    alphabet : str
    schema : int
    n_documents : int
        Number of current documents.
    n_versions : int
        Number of stored versions: current, replaced and removed.
    n_removed : int
    n_texts : int
        Number of distinct texts, without erased ones.
    n_erased : int
        Number of distinct texts that were purged.
    n_uncounted : int
        Number of current documents with too few letters for range search.
    n_problems : int
    size_bytes : int
        Size of all distinct texts in UTF-8.
    waves : tuple of Wave
    n_segments : int
        Number of segments of the index.
    similarity_index : str
        Method of the similarity indexes, in the syntax of ``--index``.
    n_indexed : int
        Number of distinct texts that have one; the others have too few words.
    ignored : str or None
        Passages and numbers that do not count, as stored; None if everything counts.
    """

    place: str
    alphabet: str
    schema: int
    n_documents: int
    n_versions: int
    n_removed: int
    n_texts: int
    n_erased: int
    n_uncounted: int
    n_problems: int
    size_bytes: int
    waves: tuple[Wave, ...]
    n_segments: int
    similarity_index: str
    n_indexed: int
    ignored: str | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {name: value for name, value in asdict(self).items() if name != "ignored" or value is not None}


def info(collection: OpenedCollection) -> Info:
    """Count everything."""
    with collection.store.reading() as connection:
        return _counted(connection, str(collection.place), collection.store.facts, len(collection.index.listed()))


def _counted(connection: Connection, place: str, facts: dict[str, str], n_segments: int) -> Info:

    def count(condition: Any = None) -> int:
        query = select(func.count()).select_from(documents)
        return int(connection.execute(query if condition is None else query.where(condition)).scalar_one())

    uncounted = (
        select(func.count())
        .select_from(documents.join(contents))
        .where(documents.c.is_current & ~contents.c.is_counted)
    )
    n_texts, size_bytes = connection.execute(
        select(func.count(), func.sum(contents.c.n_bytes)).select_from(contents)
    ).one()
    n_erased = int(connection.execute(select(func.count()).select_from(purges)).scalar_one())
    n_problems = connection.execute(select(func.count()).select_from(problems).where(_is_open())).scalar_one()
    return Info(
        place=place,
        alphabet=facts["alphabet"],
        schema=int(facts["schema"]),
        n_documents=count(documents.c.is_current),
        n_versions=count(),
        n_removed=count(documents.c.removed_at.is_not(None)),
        n_texts=n_texts - n_erased,
        n_erased=n_erased,
        n_uncounted=int(connection.execute(uncounted).scalar_one()),
        n_problems=n_problems,
        size_bytes=int(size_bytes or 0),
        waves=waves_of(connection),
        n_segments=n_segments,
        similarity_index=facts["index"],
        n_indexed=n_indexed(connection),
        ignored=facts.get("ignored"),
    )


def waves_of(connection: Connection) -> tuple[Wave, ...]:
    """Return the waves in the order in which they began.

    Raises
    ------
    CollectionError
        A row of a wave or a load was changed.
    """
    refuse_changed(connection, waves, loads)
    of_loads = (
        select(
            waves.c.wave, waves.c.name, func.min(loads.c.added_at), func.max(loads.c.added_at),
            func.sum(loads.c.n_new), func.sum(loads.c.n_new_versions), func.sum(loads.c.n_problems),
        )
        .select_from(waves.join(loads))
        .group_by(waves.c.wave, waves.c.name)
        .order_by(waves.c.wave)
    )  # fmt: skip
    current = (
        select(loads.c.wave, func.count().label("n_current"))
        .select_from(documents.join(loads))
        .where(documents.c.is_current)
        .group_by(loads.c.wave)
    )
    n_current = {row.wave: row.n_current for row in connection.execute(current)}
    return tuple(
        Wave(
            name=name,
            first_added_at=first,
            last_added_at=last,
            n_current=n_current.get(wave, 0),
            n_new=int(n_new),
            n_new_versions=int(n_versions),
            n_problems=int(n_problems),
        )
        for wave, name, first, last, n_new, n_versions, n_problems in connection.execute(of_loads)
    )


def uncounted_documents(connection: Connection) -> tuple[StoredDocument, ...]:
    """Return the current documents with too few letters for range search, in the order in which they were added."""
    query = with_documents().where(documents.c.is_current & ~contents.c.is_counted).order_by(documents.c.row)
    return tuple(stored_documents(connection.execute(query)))


def problems_of(connection: Connection) -> tuple[Problem, ...]:
    """Return the problems of added documents, oldest first, without documents that have been stored since.

    Raises
    ------
    CollectionError
        A row of a problem, a wave or a load was changed.
    """
    refuse_changed(connection, problems, waves, loads)
    query = (
        select(problems.c.doc_id, waves.c.name, problems.c.source, problems.c.line, problems.c.problem)
        .select_from(problems.join(loads).join(waves))
        .where(_is_open())
        .order_by(problems.c.load, problems.c.number)
    )
    return tuple(Problem(*row) for row in connection.execute(query))


def _is_open() -> ColumnElement[bool]:
    """Condition for problems of documents that are still not stored, and for repeated ids."""
    is_there = exists().where((documents.c.doc_id == problems.c.doc_id) & documents.c.is_current)
    return ~is_there | problems.c.problem.like("the id %")
