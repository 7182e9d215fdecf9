"""Comparison of all stored data with its digests; derived data that differs is rebuilt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, exists, func, select, update

from nearkin.collection.counting import TextCounting
from nearkin.collection.decisions import purging
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored import key_table, shingle_table, word_tables
from nearkin.collection.stored.contents import MEASURED, faults_of_purges, measured, purged_contents, text_of
from nearkin.collection.stored.documents import is_newest, number_of_wave
from nearkin.collection.stored.load_spans import LoadDigest, Loads
from nearkin.engines.local import map_ordered
from nearkin.errors import CollectionBusyError, CollectionError
from nearkin.kernels.buffers import strings
from nearkin.nouns import counted
from nearkin.store.bulk import in_slices
from nearkin.store.schema import contents, documents, loads
from nearkin.store.upkeep import database_faults, has_page_checksums
from nearkin.tabular import AnswerRecord

_ROWS_AT_A_TIME = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrityReport(AnswerRecord):
    """Result of an integrity check of a collection.

    Parameters
    ----------
    n_texts
        Number of texts that were compared with their SHA-256, and counted and signed again.
    damaged_documents
        Documents whose text was changed or is missing, and cannot be recovered; adding the same text again replaces it.
    faults
        Other damage: what the database's own check finds, and loads whose documents differ from those that they added.
    rebuilt, not_rebuilt
        Derived data that differed from the texts, and was rebuilt, or was left in a collection opened read-only.
    has_page_checksums
        Whether PostgreSQL compares a checksum of each page that it reads; None for SQLite.
    """

    computed = ("is_whole",)

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


def fsck(
    collection: OpenedCollection, *, threads: int = 1, since: str | None = None, rebuilds: bool = True
) -> IntegrityReport:
    """Check every digest, compute all derived data again, and rebuild what differs.

    With ``since``, a wave, only texts that came with it or later are checked, and what is stored beside each.
    """
    is_written = rebuilds and not collection.store.access.is_read_only
    return _Check(collection, threads, since, rebuilds=is_written).report()


class _Check:
    """One integrity check: each step names what differs, and what rebuilds it."""

    def __init__(self, collection: OpenedCollection, threads: int, since: str | None, *, rebuilds: bool) -> None:
        self._collection, self._threads, self._since, self._rebuilds = collection, threads, since, rebuilds
        self._differing = list[str]()

    def report(self) -> IntegrityReport:
        store = self._collection.store
        with store.reading() as connection:
            first = 0 if self._since is None else _first_content(connection, self._since)
        # first, because rows are looked up by its indexes
        faults = self._check_database() if self._since is None else list[str]()
        self._finish_purge()
        with store.reading() as connection:
            faults += [*_faults_of_loads(connection), *faults_of_purges(connection)]
            texts = check_texts(connection, self._collection, self._threads, first)
            damaged = documents_with(connection, texts.lost)
            with_checksums = has_page_checksums(connection)
        if texts.wrong:
            self._differ(f"counts, signatures or indexes of {counted(len(texts.wrong), 'text')}")
            if self._rebuilds:
                rebuild_texts(self._collection, texts)
        n_segments = self._check_index()
        tools = store, self._collection.counting, self._collection.progress
        for table in (key_table, shingle_table, word_tables) if self._since is None else ():
            with store.reading() as connection:
                fault = table.difference(connection, *tools)
            if fault is not None and self._differ(fault):
                with store.writing() as connection:
                    table.remake(connection, *tools)
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
        collection, index = self._collection, self._collection.index
        with collection.store.reading() as connection:
            spans = Loads(collection.store).now(connection)
            end = max((span.end for span in spans), default=0)
            listed = [span for span in index.listed() if span[1] <= end]
            for span in listed:
                difference = index.difference(connection, spans, span)
                if difference is not None and self._differ(difference):
                    index.forget(span)
        if not self._rebuilds:
            return len(listed)
        collection.settle()
        with collection.snapshot() as seen:
            return len(seen.segments)


def _faults_of_loads(connection: Connection) -> Iterator[str]:
    """Yield the loads whose documents are not those that they added, and rows in no valid state."""
    is_lost = documents.c.is_current == documents.c.removed_at.is_not(None)
    lost = connection.execute(
        select(func.count().label("n"), func.min(documents.c.doc_id).label("first")).where(is_newest() & is_lost)
    ).one()
    if lost.n:
        yield f"{counted(lost.n, 'document')} neither current nor removed, or both, such as '{lost.first}'"
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


AT_A_TIME = 512


@dataclass(slots=True)
class TextFindings:
    """Damage of stored texts: contents ``lost``, and the correct columns of ``wrong`` ones."""

    n_texts: int = 0
    lost: list[int] = field(default_factory=list)
    wrong: dict[int, dict[str, object]] = field(default_factory=dict)

    def take(self, other: TextFindings) -> None:
        """Add the findings of more texts."""
        self.n_texts += other.n_texts
        self.lost += other.lost
        self.wrong |= other.wrong


def _first_content(connection: Connection, wave: str) -> int:
    of_wave = select(func.min(loads.c.first_content)).where(loads.c.wave == number_of_wave(connection, wave))
    return int(connection.execute(of_wave).scalar_one() or 0)


def check_texts(connection: Connection, collection: OpenedCollection, threads: int, first: int = 0) -> TextFindings:
    """Compare every text from a content on with its digest, and with all that is derived from it."""
    findings, progress, erased = TextFindings(), collection.progress, purged_contents(connection)
    is_wanted = contents.c.content >= first
    n_texts = connection.execute(select(func.count()).select_from(contents).where(is_wanted)).scalar_one()
    progress.start("fsck", n_texts, "documents")

    def batches() -> Iterator[Sequence[Any]]:
        query = select(contents).order_by(contents.c.content).limit(AT_A_TIME)
        rows = connection.execute(query.where(is_wanted)).all()
        while rows:
            yield rows
            rows = connection.execute(query.where(contents.c.content > rows[-1].content)).all()

    def check(rows: Sequence[Any]) -> TextFindings:
        return _checked([row for row in rows if row.content not in erased], collection.counting)

    for here in map_ordered(check, batches(), threads=threads):
        findings.take(here)
        progress.advance(here.n_texts)
    progress.finish()
    return findings


def _checked(rows: Sequence[Any], counting: TextCounting) -> TextFindings:
    findings, whole, texts = TextFindings(len(rows)), [], []
    for row in rows:
        try:
            texts.append(text_of(row.content, row.text, row.digest))
            whole.append(row)
        except CollectionError:
            findings.lost.append(row.content)
    if not texts:
        return findings
    for row, columns in zip(whole, measured(strings(texts), counting), strict=True):
        right = dict(zip(MEASURED, columns, strict=True))
        stored = {name: getattr(row, name) for name in MEASURED}
        if {k: bytes(v) if isinstance(v, memoryview) else v for k, v in stored.items()} != right:
            findings.wrong[row.content] = right
    return findings


def rebuild_texts(collection: OpenedCollection, findings: TextFindings) -> None:
    """Store the right derived data."""
    with collection.store.writing() as connection:
        for number, right in findings.wrong.items():
            connection.execute(update(contents).where(contents.c.content == number).values(**right))
        collection.store.raise_generation(connection)


def documents_with(connection: Connection, numbers: Sequence[int]) -> tuple[str, ...]:
    """Return the documents that have, or had, these texts, and those whose text is missing."""
    is_missing = ~exists().where(contents.c.content == documents.c.content)
    query, rows = select(documents.c.row, documents.c.doc_id, documents.c.version), list[Any]()
    for condition in (is_missing, *(documents.c.content.in_(block) for block in in_slices(numbers))):
        rows += connection.execute(query.where(condition))
    return tuple(f"{doc_id} (version {version})" for _, doc_id, version in sorted(rows))
