"""Everything that is stored, compared with what it is made of; what is broken and can be made again is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from sqlalchemy import Connection

from nearkin.collection import group_state, stored_keys
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.segments import believable_loads, loads_of
from nearkin.collection.stored_texts import (
    check_texts,
    documents_with,
    faults_of_loads,
    has_stray_profiles,
    mend_numbers,
    mend_texts,
)
from nearkin.errors import CollectionBusyError, CollectionError
from nearkin.store import integrity


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedCollection:
    """What verifying found.

    Parameters
    ----------
    n_texts : int
        That were compared with their SHA-256, counted and signed anew.
    damaged_documents : tuple of str
        Documents whose text is not what was stored; nothing here can bring it back.
    mended_texts : int
        Texts of which the counts, the signature, the similarity index or the columns for plain SQL were wrong in the
        store; they were worked out anew.
    mended_rows : tuple of str
        Rows of which one byte was changed, digests and numbers of texts: they are as they were stored again.
    remade_segments : tuple of str
        What was wrong with parts of the index, with the keys of check-ins, or with indexes of SQLite; they were made
        again.
    n_segments : int
        Parts of the index that there are now, each with the checksums that it was written with.
    faults : tuple of str
        What is lost besides: what the database says of itself; rows that are missing, or are not what was stored; loads
        whose texts are not those that they brought.
    sealed_since : str or None
        From when on missing and changed rows are noticed, where that is not from the beginning: the collection was made
        by an older Nearkin. UTC, ISO 8601.
    """

    n_texts: int
    damaged_documents: tuple[str, ...]
    mended_texts: int
    mended_rows: tuple[str, ...]
    remade_segments: tuple[str, ...]
    n_segments: int
    faults: tuple[str, ...]
    sealed_since: str | None = None

    @property
    def is_whole(self) -> bool:
        """Nothing is lost."""
        return not (self.damaged_documents or self.faults)

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {**asdict(self), "is_whole": self.is_whole}


def verify(collection: OpenedCollection, *, threads: int = 1) -> VerifiedCollection:
    """Check every checksum, work out everything that is derived, mend what can be mended.

    Raises
    ------
    CollectionBusyError
        Something is to be mended, and another process is writing.
    """
    store = collection.store
    rebuilt = _checked_database(collection)  # rows are looked for by its indexes
    rows = _checked_rows(collection)
    with store.reading() as connection:
        sealed_since = store.fact(connection, "sealed_since")
        loads, changed = believable_loads(connection, store)
        # a load that is not what was stored is told already; then which texts there should be is not known
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
            *_database_faults(connection, store.dialect),
            *of_loads,
            *integrity.dangling(connection),
        ]
        found = check_texts(connection, collection, threads)
        damaged = documents_with(connection, found.lost)
        has_strays = has_stray_profiles(connection)
    n_mended = mend_texts(collection, found) if found.wrong or has_strays else 0
    n_segments, remade = 0, rebuilt
    if not changed:  # the index is made of what loads brought
        remade = (*rebuilt, *_remade(collection))
        collection.settle()
        with collection.snapshot() as seen:
            n_segments = len(seen.segments)
    return VerifiedCollection(
        n_texts=found.n_texts,
        damaged_documents=damaged,
        mended_texts=n_mended,
        mended_rows=tuple(rows.mended),
        remade_segments=remade,
        n_segments=n_segments,
        faults=tuple(faults),
        sealed_since=sealed_since,
    )


@dataclass(slots=True)
class _RowFindings:
    """What was mended, and what could not be."""

    mended: list[str]
    faults: list[str]


def _checked_rows(collection: OpenedCollection) -> _RowFindings:
    """Rows and their seals; groupings that are damaged are deleted, as all but their numbers is made again."""
    store = collection.store
    with store.reading() as connection:
        found = integrity.check(connection)
        of_groups = group_state.faults(connection)
    if not (found.fixes or found.is_current or of_groups):
        return _RowFindings([], found.faults)
    with store.writing() as connection:
        mended, left = integrity.mend(connection, found.fixes)
        of_groups = group_state.faults(connection)  # now that their seal is mended, if it was
        if of_groups:
            group_state.repair(connection)
        now = integrity.check(connection)  # which version is current follows from rows as they are now
        mended += integrity.mend_current(connection, now.is_current)
    faults = now.faults
    faults += [f"{name} is not what was stored, and its place is taken" for name in left]
    faults += [f"{fault}; deleted: nearkin groups makes new groups, with new numbers" for fault in of_groups]
    return _RowFindings(mended, faults)


def _checked_database(collection: OpenedCollection) -> tuple[str, ...]:
    """What SQLite's own indexes lacked, which were made again from its tables."""
    store = collection.store
    with store.reading() as connection:
        faults = [*_database_faults(connection, store.dialect)]
    if not any("index" in fault for fault in faults):
        return ()
    try:
        with store.writing() as connection:
            connection.exec_driver_sql("REINDEX")
    except CollectionBusyError:
        raise
    except CollectionError:  # there are rows that a unique index forbids: checking the rows names them
        return ()
    return (f"indexes of SQLite: {faults[0]}",)


def _remade(collection: OpenedCollection) -> tuple[str, ...]:
    """Parts of the index, and keys of check-ins, that are not what they should be."""
    store, remade = collection.store, list[str]()
    with store.reading() as connection:
        loads = loads_of(connection, store)
        for name, fault in collection.index.check(loads).items():
            differs = fault or collection.index.differs_from_store(connection, loads, name)
            if differs is not None:
                remade.append(differs)
                collection.index.forget(name)
        differs = stored_keys.difference(connection, store, collection.counting, collection.progress)
    if differs is not None:
        remade.append(differs)
        with store.writing() as connection:
            stored_keys.remake(connection, store, collection.counting, collection.progress)
    return tuple(remade)


def _database_faults(connection: Connection, dialect: str) -> Iterator[str]:
    """What SQLite finds in its own file; PostgreSQL checks its pages when it reads them, which we then do."""
    if dialect == "sqlite":
        for (said,) in connection.exec_driver_sql("PRAGMA integrity_check(20)"):
            if said != "ok":
                yield f"SQLite: {said}"
