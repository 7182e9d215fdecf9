"""Comparison of all stored data with its sources, and repair of damaged derived data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial

from sqlalchemy import Connection

from nearkin.collection import stored_relations
from nearkin.collection.decisions import purging
from nearkin.collection.decisions.replaying import mend_from_log
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored import group_history, group_state, key_table, shingle_table
from nearkin.collection.stored.purged import faults_of_purges
from nearkin.collection.stored.segments import believable_loads, loads_of
from nearkin.collection.stored_texts import (
    check_texts,
    documents_with,
    faults_of_loads,
    has_stray_profiles,
    mend_numbers,
    mend_texts,
)
from nearkin.collection.word_search import stored_words
from nearkin.errors import CollectionBusyError, CollectionError
from nearkin.store import integrity
from nearkin.store.failures import unrepaired
from nearkin.store.mending import mend, mend_current


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrityReport:
    """Result of an integrity check of a collection.

    Parameters
    ----------
    n_texts : int
        Number of texts that were compared with their SHA-256, and counted and signed again.
    damaged_documents : tuple of str
        Documents whose text was changed; it cannot be recovered from the collection.
    mended_texts : int
        Number of texts whose counts, signature, similarity index or columns for plain SQL were wrong in the store and
        have been computed again.
    mended_rows : tuple of str
        Repaired rows with one changed byte, repaired digests and numbers of texts, and files that a purge that did not
        finish had not rewritten.
    remade_segments : tuple of str
        Faults of parts of the index, of the keys of check-ins, of the stored words or sets of word 5-grams, or of
        SQLite's indexes; these parts have been rebuilt.
    n_segments : int
        Number of segments of the index, all with correct checksums.
    faults : tuple of str
        Other damage: errors reported by the database; rows that are missing or were changed; loads whose texts differ
        from those they added.
    group_faults : tuple of str
        Faults of the stored groups and of their history, each with what was done about it. `nearkin groups` computes
        the groups again; their numbers and history are lost.
    is_only_seal_of_groups : bool
        Whether the only fault of the groups was the loss of their seal, which was written again: no group was deleted.
    sealed_since : str or None
        When the detection of missing and changed rows began, if not with the collection, which was then created by an
        older Nearkin. UTC, ISO 8601.
    repairable : tuple of str
        Damage that was found and left, as the collection was opened read-only; `fsck` repairs it otherwise.
    """

    n_texts: int
    damaged_documents: tuple[str, ...]
    mended_texts: int
    mended_rows: tuple[str, ...]
    remade_segments: tuple[str, ...]
    n_segments: int
    faults: tuple[str, ...]
    group_faults: tuple[str, ...] = ()
    is_only_seal_of_groups: bool = False
    sealed_since: str | None = None
    repairable: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether nothing is lost and nothing needs repair."""
        return not (self.damaged_documents or self.faults or self.group_faults or self.repairable)

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {**asdict(self), "is_whole": self.is_whole}


def fsck(collection: OpenedCollection, *, threads: int = 1) -> IntegrityReport:
    """Check every checksum, compute all derived data again, and repair what can be repaired.

    Raises
    ------
    CollectionBusyError
        Something must be repaired, and another process is writing.
    CollectionError
        Something must be repaired, and the user of the database may not write it.
    """
    try:
        return _checked_and_repaired(collection, threads)
    except CollectionError as error:
        raise unrepaired(collection.place, error) from error.__cause__


def _checked_and_repaired(collection: OpenedCollection, threads: int) -> IntegrityReport:
    store = collection.store
    rebuilt = _checked_database(collection)  # first, because rows are looked up by its indexes
    from_log = mend_from_log(collection)
    rows = _checked_rows(collection)
    rows.mended += from_log
    if purging.finish(collection):
        rows.mended.append("files that could hold bytes of erased texts, as a purge had not finished")
    with store.reading() as connection:
        sealed_since = store.fact(connection, "sealed_since")
        loads, changed = believable_loads(connection, store)
        # a changed or missing load has been reported already; which texts should exist is then unknown
        of_loads = [] if changed else faults_of_loads(connection, loads)
    if of_loads:
        with store.writing() as connection:
            mended, of_loads = mend_numbers(connection, loads)
            rows.mended += mended
            if mended:
                store.raise_generation(connection)
    with store.reading() as connection:
        faults = [
            *rows.faults,
            *database_faults(connection, store.dialect),
            *of_loads,
            *integrity.dangling(connection),
            *faults_of_purges(connection),
        ]
        found = check_texts(connection, collection, threads)
        damaged = documents_with(connection, found.lost)
        has_strays = has_stray_profiles(connection)
    n_mended = mend_texts(collection, found) if found.wrong or has_strays else 0
    n_segments, remade = 0, rebuilt
    if not changed:  # the index is built from loads
        remade = (*rebuilt, *_remade(collection))
        collection.settle()
        with collection.snapshot() as seen:
            n_segments = len(seen.segments)
    return IntegrityReport(
        n_texts=found.n_texts,
        damaged_documents=damaged,
        mended_texts=n_mended,
        mended_rows=tuple(rows.mended),
        remade_segments=remade,
        n_segments=n_segments,
        faults=tuple(faults),
        group_faults=tuple(rows.of_groups),
        is_only_seal_of_groups=rows.is_only_seal,
        sealed_since=sealed_since,
    )


@dataclass(slots=True)
class _RowFindings:
    """Repaired rows, faults that could not be repaired, and those of groups, with what was done about them."""

    mended: list[str]
    faults: list[str]
    of_groups: list[str]
    is_only_seal: bool = False


def _checked_rows(collection: OpenedCollection) -> _RowFindings:
    """Check rows and their seals; delete damaged groupings, which can be computed again except for their numbers."""
    store = collection.store
    with store.reading() as connection:
        found = integrity.check(connection)
        of_groups, of_history = group_state.faults(connection), group_history.faults(connection)
    if not (found.fixes or found.is_current or of_groups or of_history):
        return _RowFindings([], found.faults, [])
    with store.writing() as connection:
        mended, left = mend(connection, found.fixes)
        # after a possible repair of their seal
        repaired, of_history = group_state.repair(connection), group_history.repair(connection)
        now = integrity.check(connection)  # which versions are current follows from the repaired rows
        mended += mend_current(connection, now.is_current)
    faults = now.faults
    faults += [integrity.place_taken(name) for name in left]
    is_only_seal = repaired.is_only_seal and not of_history
    return _RowFindings(mended, faults, [*repaired.said, *of_history], is_only_seal)


def _checked_database(collection: OpenedCollection) -> tuple[str, ...]:
    """Return the faults of SQLite's indexes, which are rebuilt from its tables."""
    store = collection.store
    with store.reading() as connection:
        faults = [*database_faults(connection, store.dialect)]
    if not any("index" in fault for fault in faults):
        return ()
    try:
        with store.writing() as connection:
            connection.exec_driver_sql("REINDEX")
    except CollectionBusyError:
        raise
    except CollectionError:  # some rows violate a unique index; the check of rows reports them
        return ()
    return (f"indexes of SQLite: {faults[0]}",)


def _remade(collection: OpenedCollection) -> tuple[str, ...]:
    """Rebuild damaged parts of the index and of other derived data; return their faults."""
    store, remade = collection.store, list[str]()
    with store.reading() as connection:
        loads = loads_of(connection, store)
        for name, fault in collection.index.check(loads).items():
            differs = fault or collection.index.differs_from_store(connection, loads, name)
            if differs is not None:
                remade.append(differs)
                collection.index.forget(name)
    for difference, make_again in _derived(collection):
        with store.reading() as connection:
            differs = difference(connection)
        if differs is not None:
            remade.append(differs)
            with store.writing() as connection:
                make_again(connection)
    return tuple(remade)


def _derived(
    collection: OpenedCollection,
) -> Iterator[tuple[Callable[[Connection], str | None], Callable[[Connection], object]]]:
    """Yield, for each kind of derived table, the functions that find a difference from the texts and repair it."""
    store, counting, progress = collection.store, collection.counting, collection.progress
    yield (
        partial(key_table.difference, store=store, counting=counting, progress=progress),
        partial(key_table.remake, store=store, counting=counting, progress=progress),
    )
    yield (
        partial(stored_words.difference, store=store, progress=progress),
        partial(stored_words.remake, store=store, progress=progress),
    )
    yield partial(stored_relations.difference, store=store), partial(stored_relations.forget, store=store)
    yield (
        partial(shingle_table.difference, store=store, counting=counting, progress=progress),
        partial(shingle_table.remake, store=store, counting=counting, progress=progress),
    )


def database_faults(connection: Connection, dialect: str) -> Iterator[str]:
    """Yield the errors that SQLite finds in its file; PostgreSQL checks its pages when they are read, as here."""
    if dialect == "sqlite":
        for (said,) in connection.exec_driver_sql("PRAGMA integrity_check(20)"):
            if said != "ok":
                yield f"SQLite: {said}"
