"""Comparison of all stored data with its digests; derived data that differs from the texts is rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial

from sqlalchemy import Connection, select

from nearkin.collection import stored_relations
from nearkin.collection.decisions import purging
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored import key_table, shingle_table
from nearkin.collection.stored.load_spans import LoadDigest, loads_of
from nearkin.collection.stored.purged import faults_of_purges
from nearkin.collection.stored_texts import check_texts, documents_with, has_stray_profiles, rebuild_texts
from nearkin.collection.word_search import stored_words
from nearkin.errors import CollectionBusyError, CollectionError
from nearkin.nouns import counted
from nearkin.store.failures import unrepaired
from nearkin.store.schema import contents, documents, loads
from nearkin.store.upkeep import database_faults, has_page_checksums

_ROWS_AT_A_TIME = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrityReport:
    """Result of an integrity check of a collection.

    Parameters
    ----------
    n_texts : int
        Number of texts that were compared with their SHA-256, and counted and signed again.
    n_segments : int
        Number of segments of the index.
    damaged_documents : tuple of str
        Documents whose text was changed or is missing. It cannot be recovered from the collection; adding the same text
        again replaces a damaged one.
    faults : tuple of str
        Other damage: what the database's own check finds, and loads whose documents differ from those that they added.
    rebuilt : tuple of str
        Derived data that differed from the texts, and was rebuilt.
    not_rebuilt : tuple of str
        Derived data that differs from the texts, and was left, as the collection was opened read-only.
    has_page_checksums : bool or None
        Whether PostgreSQL compares a checksum of each page that it reads; None for SQLite.
    """

    n_texts: int
    n_segments: int
    damaged_documents: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    rebuilt: tuple[str, ...] = ()
    not_rebuilt: tuple[str, ...] = ()
    has_page_checksums: bool | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is lost and nothing needs to be rebuilt."""
        return not (self.damaged_documents or self.faults or self.not_rebuilt)

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {**asdict(self), "is_whole": self.is_whole}


def fsck(collection: OpenedCollection, *, threads: int = 1, rebuilds: bool = True) -> IntegrityReport:
    """Check every digest, compute all derived data again, and rebuild what differs.

    Parameters
    ----------
    collection : OpenedCollection
    threads : int
    rebuilds : bool
        Whether differing data is rebuilt; in a collection opened read-only it never is.

    Raises
    ------
    CollectionBusyError
        Something must be rebuilt, and another process is writing.
    CollectionError
        Something must be rebuilt, and the user of the database may not write it.
    """
    check = _Check(collection, threads, rebuilds=rebuilds and not collection.store.access.is_read_only)
    try:
        return check.report()
    except CollectionError as error:
        raise unrepaired(collection.place, error) from error.__cause__


class _Check:
    """One integrity check: each step names what differs, and what rebuilds it."""

    def __init__(self, collection: OpenedCollection, threads: int, *, rebuilds: bool) -> None:
        self._collection, self._threads, self._rebuilds = collection, threads, rebuilds
        self._differing = list[str]()

    def report(self) -> IntegrityReport:
        store = self._collection.store
        faults = self._check_database()  # first, because rows are looked up by its indexes
        self._finish_purge()
        with store.reading() as connection:
            faults += [*_faults_of_loads(connection), *faults_of_purges(connection)]
            texts = check_texts(connection, self._collection, self._threads)
            damaged = documents_with(connection, texts.lost)
            has_strays, with_checksums = has_stray_profiles(connection), has_page_checksums(connection)
        if texts.wrong or has_strays:
            self._differ(f"counts, signatures or indexes of {counted(max(1, len(texts.wrong)), 'text')}")
            if self._rebuilds:
                rebuild_texts(self._collection, texts)
        n_segments = self._check_index()
        for difference, remake in self._derived():
            with store.reading() as connection:
                fault = difference(connection)
            if fault is not None and self._differ(fault):
                with store.writing() as connection:
                    remake(connection)
        differing = tuple(self._differing)
        return IntegrityReport(
            n_texts=texts.n_texts,
            n_segments=n_segments,
            damaged_documents=damaged,
            faults=tuple(faults),
            rebuilt=differing if self._rebuilds else (),
            not_rebuilt=() if self._rebuilds else differing,
            has_page_checksums=with_checksums,
        )

    def _differ(self, fault: str) -> bool:
        """Note derived data that differs; return whether it is rebuilt."""
        self._differing.append(fault)
        return self._rebuilds

    def _check_database(self) -> list[str]:
        """Return what the database finds; SQLite's indexes are rebuilt from its tables."""
        store = self._collection.store
        with store.reading() as connection:
            faults = [*database_faults(connection)]
        if not any("index" in fault for fault in faults):
            return faults
        if not self._differ(f"indexes of SQLite: {faults[0]}"):
            return [fault for fault in faults if "index" not in fault]
        try:
            with store.writing() as connection:
                connection.exec_driver_sql("REINDEX")
        except CollectionBusyError:
            raise
        except CollectionError:  # rows violate a unique index
            self._differing.pop()
            return faults
        with store.reading() as connection:
            return [*database_faults(connection)]

    def _finish_purge(self) -> None:
        """Rewrite the files that may hold bytes of erased texts, because a purge did not finish."""
        with self._collection.store.reading() as connection:
            is_unfinished = purging.is_unfinished(connection, self._collection.store)
        if is_unfinished and self._differ("files that could hold bytes of erased texts, as a purge had not finished"):
            purging.finish(self._collection)

    def _check_index(self) -> int:
        """Compare the segments of the index; return their number."""
        collection, index = self._collection, self._collection.index
        with collection.store.reading() as connection:
            spans = loads_of(connection, collection.store)
            checked = index.check(spans)
            for name, fault in checked.items():
                difference = fault or index.differs_from_store(connection, spans, name)
                if difference is not None and self._differ(difference):
                    index.forget(name)
        if not self._rebuilds:
            return len(checked)
        collection.settle()
        with collection.snapshot() as seen:
            return len(seen.segments)

    def _derived(self) -> Iterator[tuple[Callable[[Connection], str | None], Callable[[Connection], object]]]:
        """Yield, for each kind of derived table, the functions that find a difference from the texts and rebuild it."""
        store, counting = self._collection.store, self._collection.counting
        progress = self._collection.progress
        for table in (key_table, shingle_table):
            yield (
                partial(table.difference, store=store, counting=counting, progress=progress),
                partial(table.remake, store=store, counting=counting, progress=progress),
            )
        yield (
            partial(stored_words.difference, store=store, progress=progress),
            partial(stored_words.remake, store=store, progress=progress),
        )
        yield partial(stored_relations.difference, store=store), partial(stored_relations.forget, store=store)


def _faults_of_loads(connection: Connection) -> Iterator[str]:
    """Yield the loads whose documents are not those that they added, by number or by digest."""
    known = connection.execute(select(loads).order_by(loads.c.load)).all()
    numbers = {load.load for load in known}
    if missing := sorted(set(range(1, max(numbers, default=0))) - numbers):
        yield f"the row of load {missing[0]} is missing"
    digests = {number: LoadDigest() for number in numbers}
    n_rows = dict.fromkeys(numbers, 0)
    columns = documents.c.row, documents.c.load, documents.c.doc_id, contents.c.digest
    query = select(*columns).select_from(documents.join(contents)).order_by(documents.c.row).limit(_ROWS_AT_A_TIME)
    rows = connection.execute(query).all()
    while rows:
        for _, number, doc_id, digest in rows:
            if number in numbers:
                digests[number].take(doc_id, digest)
                n_rows[number] += 1
        rows = connection.execute(query.where(documents.c.row > rows[-1].row)).all()
    for load in known:
        n_added = load.n_new + load.n_new_versions
        if n_rows[load.load] != n_added:
            yield f"load {load.load} added {counted(n_added, 'document')}, and {n_rows[load.load]:,} are stored"
        elif digests[load.load].digest() != load.digest:
            yield f"the documents of load {load.load} differ from those that it added"
