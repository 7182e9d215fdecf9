"""Figures about a collection."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from nearkin.collection.listing.exceptions import ExceptionFilter, stored_exceptions
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored.documents import is_removed
from nearkin.collection.stored.origins import IS_EXCEPTION
from nearkin.stages.documents.members import is_ocr
from nearkin.store.bulk import n_rows
from nearkin.store.schema import contents, documents, loads, origins, purges, waves
from nearkin.tabular import AnswerRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """Documents added under one name.

    Parameters
    ----------
    first_added_at, last_added_at
        UTC, ISO 8601.
    n_current
        Number of documents whose current version was added in this wave.
    n_problems
        Its documents that were not stored, and have not been brought again since.
    """

    name: str
    first_added_at: str
    last_added_at: str
    n_current: int
    n_new: int
    n_new_versions: int
    n_problems: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Info(AnswerRecord):
    """Figures about a collection.

    Parameters
    ----------
    n_versions
        Number of stored versions: current, replaced and removed.
    n_removed
        Number of removed documents that were not added again.
    n_uncounted
        Number of current documents with too few letters for range search.
    n_problems
        Number of documents that were not stored when they were last added.
    similarity_index
        Method of the similarity indexes, in the syntax of ``--index``.
    n_no_text, n_partial, n_not_stored
        Exceptions: files and documents that gave no text, that gave a part of it, and that were read and are not stored
        because of their id or size, or because the text was purged.
    n_by_ocr
        Number of current texts that were recognised in images, or in part.
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
    n_extracted: int = 0
    n_no_text: int = 0
    n_partial: int = 0
    n_not_stored: int = 0
    n_by_ocr: int = 0


def info(collection: OpenedCollection) -> Info:
    """Count everything."""
    with collection.store.reading() as connection:
        return _counted(connection, str(collection.place), collection.store.facts, len(collection.index.listed()))


def _counted(connection: Connection, place: str, facts: dict[str, str], n_segments: int) -> Info:
    found_waves = waves_of(connection)  # first, because it refuses loads and documents that are damaged

    figures = func.count(), func.sum(contents.c.n_bytes), func.count(contents.c.similarity_index)
    n_texts, size_bytes, n_indexed = connection.execute(select(*figures).select_from(contents)).one()
    n_erased = n_rows(connection, purges)
    return Info(
        place=place,
        alphabet=facts["alphabet"],
        schema=int(facts["schema"]),
        n_documents=n_rows(connection, documents, documents.c.is_current),
        n_versions=n_rows(connection, documents),
        n_removed=n_rows(connection, documents, is_removed()),
        n_texts=n_texts - n_erased,
        n_erased=n_erased,
        n_uncounted=n_rows(connection, documents.join(contents), documents.c.is_current, ~contents.c.is_counted),
        n_problems=n_rows(connection, origins, IS_EXCEPTION),
        size_bytes=int(size_bytes or 0),
        waves=found_waves,
        n_segments=n_segments,
        similarity_index=facts["index"],
        n_indexed=n_indexed,
        ignored=facts.get("ignored"),
        **_of_extraction(connection),
    )


def _of_extraction(connection: Connection) -> dict[str, int]:
    by_extractor = documents_by_extractor(connection)
    exceptions = stored_exceptions(connection, ExceptionFilter())
    return {
        "n_extracted": sum(by_extractor.values()),
        "n_no_text": exceptions.n_no_text,
        "n_partial": exceptions.n_partial,
        "n_not_stored": exceptions.n_not_stored,
        "n_by_ocr": sum(n for extractor, n in by_extractor.items() if is_ocr(extractor)),
    }


def documents_by_extractor(connection: Connection) -> dict[str, int]:
    """Count the current documents that were extracted from files, by extractor."""
    current = origins.join(documents, origins.c.row == documents.c.row)
    query = select(origins.c.extractor, func.count()).select_from(current)
    query = query.where(documents.c.is_current & origins.c.extractor.is_not(None)).group_by(origins.c.extractor)
    return {str(extractor): int(n) for extractor, n in connection.execute(query)}


def waves_of(connection: Connection) -> tuple[Wave, ...]:
    """Return the waves in the order in which they began."""
    of_loads = (
        select(
            waves.c.wave, waves.c.name, func.min(loads.c.added_at), func.max(loads.c.added_at),
            func.sum(loads.c.n_new), func.sum(loads.c.n_new_versions),
        )
        .select_from(waves.join(loads))
        .group_by(waves.c.wave, waves.c.name)
        .order_by(waves.c.wave)
    )  # fmt: skip
    per_wave = select(loads.c.wave, func.count()).group_by(loads.c.wave)
    current = per_wave.select_from(documents.join(loads)).where(documents.c.is_current)
    still_open = per_wave.select_from(origins.join(loads)).where(IS_EXCEPTION)
    n_current: dict[int, int] = dict(connection.execute(current).all())
    n_problems: dict[int, int] = dict(connection.execute(still_open).all())
    return tuple(
        Wave(
            name=name,
            first_added_at=first,
            last_added_at=last,
            n_current=n_current.get(wave, 0),
            n_new=int(n_new),
            n_new_versions=int(n_versions),
            n_problems=n_problems.get(wave, 0),
        )
        for wave, name, first, last, n_new, n_versions in connection.execute(of_loads)
    )
