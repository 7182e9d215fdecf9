"""A load in progress: decides which documents are new, changed or stored already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, insert, select, update

from nearkin.collection.counting import TextCounting
from nearkin.collection.decisions.log import STORE, SettingChange, checked_by, record
from nearkin.collection.loads.incoming import CONTENT_COLUMNS, Examined, SeenIds, numbers_of
from nearkin.collection.stored import key_table, shingle_table, word_tables
from nearkin.collection.stored import origins as stored
from nearkin.collection.stored.contents import text_of
from nearkin.collection.stored.documents import DocumentRow, document_rows
from nearkin.collection.stored.key_table import Keys, Marks, keys_of
from nearkin.collection.stored.load_spans import LoadDigest
from nearkin.errors import SourceError
from nearkin.records import Bool
from nearkin.store import schema
from nearkin.store.bulk import as_name, in_slices, insert_rows, number_after_last
from nearkin.store.schema import origins
from nearkin.store.store import Store, delete_fact

_TEXT, _DIGEST = ([column.name for column in schema.contents.columns].index(name) for name in ("text", "digest"))


def _columns(rows: Iterable[Any]) -> list[Any]:
    return list(zip(*rows, strict=True))


@dataclass(slots=True)
class Figures:
    """Counts of a load so far."""

    n_new: int = 0
    n_new_versions: int = 0
    n_unchanged: int = 0
    n_exceptions: int = 0
    n_problems: int = 0


_COUNTS = ("n_new", "n_new_versions", "n_unchanged", "n_problems")
"""Columns of ``loads`` that are written at its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _LoadBatch:
    """Documents of a batch, what is stored of them, and the rows to write; those ``replaced`` have a newer version."""

    examined: Examined
    newest: dict[str, DocumentRow]
    numbers: dict[bytes, int]
    is_repeated: Bool
    documents: list[DocumentRow] = field(default_factory=list)
    contents: list[tuple[Any, ...]] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Load:
    """A load inside its transaction.

    Attributes
    ----------
    takes_repeated_ids
        Whether an id that repeats with another text is a newer version, because its documents came one by one.
    """

    connection: Connection
    number: int
    wave: int
    name: str
    first_content: int
    next_content: int
    first_row: int
    next_row: int
    origins: LoadOrigins
    collection_store: Store
    counting: TextCounting
    keeps_words: bool
    takes_repeated_ids: bool = False
    figures: Figures = field(default_factory=Figures)
    seen: SeenIds = field(default_factory=SeenIds)
    digest: LoadDigest = field(default_factory=LoadDigest)
    by: str | None = None

    @classmethod
    def begin(cls, connection: Connection, store: Store, counting: TextCounting, name: str | None) -> Load:
        """Begin a load with the next free numbers, and create the wave if it is missing."""
        waves, loads = schema.waves, schema.loads
        known = select(waves.c.wave).where(waves.c.name == name).scalar_subquery()
        columns = loads.c.end_content, loads.c.load, waves.c.wave, schema.documents.c.row
        lasts = (select(func.max(column)).scalar_subquery() for column in columns)
        wave, first_content, last, n_waves, last_row = connection.execute(select(known, *lasts)).one()
        first_content, number, n_waves = first_content or 0, 1 + (last or 0), n_waves or 0
        name = name or new_name(connection)
        if wave is None:
            wave = n_waves + 1
            connection.execute(insert(waves).values(wave=wave, name=name))
        keeps_words = shingle_table.are_kept(connection)
        if keeps_words:
            shingle_table.fill(connection, store, counting)
        # stored first, because its rows refer to it; its counts are written at the end
        figures = dict.fromkeys(_COUNTS, 0)
        added_at = datetime.now(UTC).isoformat(timespec="seconds")
        bounds = {"first_content": first_content, "end_content": first_content, "digest": b""}
        connection.execute(insert(loads).values(load=number, wave=wave, added_at=added_at, **bounds, **figures))
        return cls(
            connection=connection,
            number=number,
            wave=wave,
            name=name,
            first_content=first_content,
            next_content=first_content,
            first_row=(first_row := 0 if last_row is None else last_row + 1),
            next_row=first_row,
            origins=LoadOrigins(connection=connection, load=number),
            collection_store=store,
            counting=counting,
            keeps_words=keeps_words,
        )

    def store(self, examined: Examined, made: tuple[Keys, Marks] | None = None) -> dict[str, DocumentRow]:
        """Store a batch in order, with keys that are ``made`` already; return the newest version of each id."""
        readable = [i for i, problem in enumerate(examined.problems) if problem is None]
        is_repeated = np.zeros(len(examined.doc_ids), np.bool_)
        is_repeated[readable] = self.seen.mark([examined.doc_ids[i] for i in readable])
        versions = document_rows(self.connection, schema.documents.c.doc_id, examined.doc_ids)
        batch = _LoadBatch(
            examined=examined,
            newest={row.doc_id: row for row in versions},
            numbers=numbers_of(self.connection, list(dict.fromkeys(examined.digests))),
            is_repeated=is_repeated,
        )
        self._repair(examined, batch.numbers)
        with_origins = {examined.doc_ids[i] for i in examined.origins}
        current = [
            batch.newest[doc_id].row for doc_id in with_origins & batch.newest.keys() if batch.newest[doc_id].is_current
        ]
        self.origins.look_up(current, examined.doc_ids)
        for i, problem in enumerate(examined.problems):
            if problem is None:
                self._store_document(i, batch)
            origin = examined.origins.get(i)
            if (problem := examined.problems[i]) is not None:
                place = examined.doc_ids[i], examined.sources[i], examined.lines[i]
                known = None if batch.is_repeated[i] else origin
                self.origins.take_exception(*place, stored.exception_of(problem, known))
                self.figures.n_problems += 1
            is_partial = stored.value_of(origin, "exception") is not None
            self.figures.n_exceptions += problem is not None or i in examined.blank or is_partial
        self._write(batch, made)
        return batch.newest

    def _repair(self, examined: Examined, numbers: dict[bytes, int]) -> None:
        """Replace damaged texts by the added ones; keys and sets that may lack them are made again."""
        contents, damaged = schema.contents, examined.damaged & numbers.keys()
        for digest in damaged:
            right = dict(zip(CONTENT_COLUMNS, examined.contents[digest], strict=True))
            self.connection.execute(update(contents).where(contents.c.content == numbers[digest]).values(**right))
        if damaged:
            delete_fact(self.connection, key_table.KEYS.name)
        if damaged and self.keeps_words:
            delete_fact(self.connection, shingle_table.SETS.name)
            shingle_table.fill(self.connection, self.collection_store, self.counting)

    def _write(self, batch: _LoadBatch, made: tuple[Keys, Marks] | None) -> None:
        """Write the rows of a batch; keys of a document that is checked in are stored in any case."""
        words, documents = batch.examined.words, schema.documents
        for block in in_slices(batch.replaced):
            self.connection.execute(update(documents).where(documents.c.row.in_(block)).values(is_current=False))
        insert_rows(self.connection, schema.contents, _columns(batch.contents))
        numbers, digests = [row[0] for row in batch.contents], [row[_DIGEST] for row in batch.contents]
        word_tables.write(self.connection, numbers, [words[digest] for digest in digests])
        if numbers and (self.keeps_words or made is not None):
            self._write_keys(batch.contents, made)
        insert_rows(self.connection, documents, _columns(batch.documents))
        self.origins.write()

    def _write_keys(self, contents: Sequence[Any], made: tuple[Keys, Marks] | None) -> None:
        """Store the keys of new contents, before their documents, and their sets if these are kept."""
        numbers = np.array([row[0] for row in contents], np.int64)
        if made is not None:
            keys, marks = made[0], made[1]._replace(contents=numbers)
        else:
            texts = [text_of(row[0], row[_TEXT], row[_DIGEST]) for row in contents]
            keys = keys_of(texts, self.counting.ignored)
            marks = Marks.of(self.counting, numbers, texts, keys)
        key_table.append(self.connection, marks, keys)
        if self.keeps_words:
            shingle_table.append(self.connection, self.collection_store, numbers.tolist(), keys.sets)

    def _store_document(self, i: int, batch: _LoadBatch) -> None:
        examined = batch.examined
        doc_id, digest, origin = examined.doc_ids[i], examined.digests[i], examined.origins.get(i)
        newest, content = batch.newest.get(doc_id), batch.numbers.get(digest)
        is_current = newest is not None and newest.is_current
        if newest is not None and is_current and newest.content == content:
            self.figures.n_unchanged += 1
            if origin is not None:
                self.origins.take(newest.row, doc_id, origin)
        elif newest is not None and is_current and batch.is_repeated[i] and not self.takes_repeated_ids:
            examined.problems[i] = f"the id is also that of {newest.source}:{newest.line}, which has another text"
            return
        else:
            if newest is not None and is_current:
                self._refuse_unnamed(i, examined)
                batch.replaced.append(newest.row)
            if content is None:
                content = batch.numbers[digest] = self._new_content(digest, batch)
            self.figures.n_new_versions += is_current
            self.figures.n_new += not is_current
            batch.newest[doc_id] = self._new_version(i, content, newest, batch)

    def _refuse_unnamed(self, i: int, examined: Examined) -> None:
        if examined.are_unnamed is not None and examined.are_unnamed[i]:
            raise SourceError(
                f"The wave '{self.name}' has another document {examined.doc_ids[i]}: documents without ids are named "
                "after the wave and their row. Nothing was stored. Add them with ids, or in a new wave."
            )

    def _new_content(self, digest: bytes, batch: _LoadBatch) -> int:
        number = self.next_content
        self.next_content += 1
        batch.contents.append((number, *batch.examined.contents[digest]))
        return number

    def _new_version(self, i: int, content: int, before: DocumentRow | None, batch: _LoadBatch) -> DocumentRow:
        examined, row = batch.examined, self.next_row
        self.next_row += 1
        doc_id, source, line = examined.doc_ids[i], examined.sources[i], examined.lines[i]
        version = 1 if before is None else before.version + 1
        document = DocumentRow(row, doc_id, version, content, self.number, source, line, True, None)
        batch.documents.append(document)
        self.digest.take(doc_id, examined.digests[i])
        if (origin := examined.origins.get(i)) is not None:
            self.origins.take(row, doc_id, origin)
        return document

    def finish(self) -> Figures:
        """Write the load's counts and digest; a load that added nothing leaves no trace."""
        self.origins.finish()
        loads, waves, figures = schema.loads, schema.waves, self.figures
        mine = loads.c.load == self.number
        if figures.n_new or figures.n_new_versions or self.origins.n_written:
            counts = {name: getattr(figures, name) for name in _COUNTS}
            digest = self.digest.digest()
            written = update(loads).where(mine).values(end_content=self.next_content, digest=digest, **counts)
            self.connection.execute(written)
            self._record_stored()
        else:
            self.connection.execute(loads.delete().where(mine))
            of_wave = select(loads.c.load).where(loads.c.wave == self.wave)
            if self.connection.execute(of_wave).first() is None:
                self.connection.execute(waves.delete().where(waves.c.wave == self.wave))
        return figures

    def _record_stored(self) -> None:
        if self.by is None:
            return
        documents = schema.documents.c
        query = select(documents.doc_id, documents.version).where(documents.row >= self.first_row)
        changes = [
            SettingChange(STORE, doc_id, "", f"version {version - 1}" if version > 1 else None, f"version {version}")
            for doc_id, version in self.connection.execute(query.order_by(documents.row))
        ]
        if changes:
            record(self.connection, STORE, changes, by=checked_by(self.by), data={"wave": self.name})


def new_name(connection: Connection) -> str:
    """Return the default name of the next wave: the first free one from its number."""
    names = dict(connection.execute(select(schema.waves.c.name, schema.waves.c.wave)).all())
    return next(name for name in (f"wave {i}" for i in count(1 + max(names.values(), default=0))) if name not in names)


_SHA256 = stored.NAMES.index("sha256")
Exceptions = dict[str, list[tuple[Any, ...]]]
"""Rows of documents that were not stored, from the column ``source`` on, by id."""


@dataclass(slots=True, kw_only=True)
class LoadOrigins:
    """Origins of the documents of a load; ``former`` exceptions are those of earlier loads."""

    connection: Connection
    load: int
    n_written: int = 0
    failing: Exceptions = field(default_factory=dict)
    former: Exceptions = field(default_factory=dict)
    _known: dict[int, tuple[int | None, str | None]] = field(default_factory=dict)
    _new: list[tuple[Any, ...]] = field(default_factory=list)
    _replaced: list[int] = field(default_factory=list)

    def look_up(self, rows: Sequence[int], doc_ids: Sequence[str]) -> None:
        """Look up the origins of current versions of documents, and what was said of ids that were not stored."""
        self._known = {}
        for block in in_slices(rows):
            for row in self.connection.execute(select(origins).where(origins.c.row.in_(block))):
                self._known[row.row] = row.number, row.sha256
        for block in in_slices([name for name in dict.fromkeys(map(as_name, doc_ids)) if name not in self.former]):
            is_former = stored.IS_EXCEPTION & origins.c.doc_id.in_(block)
            for row in self.connection.execute(select(origins).where(is_former).order_by(origins.c.number)):
                self.former.setdefault(row.doc_id, []).append(tuple(row[stored.SOURCE :]))

    def take(self, row: int, doc_id: str, origin: stored.OriginValues) -> None:
        """Store the origin of a version, unless it is known and came from the same bytes."""
        number, sha256 = self._known.get(row, (None, None))
        if row in self._known and (number is None or sha256 == origin[_SHA256]):
            return
        if number is not None:
            self._replaced.append(number)
        self._new.append((row, doc_id, None, None, *origin))
        self._known[row] = None, origin[_SHA256]

    def take_exception(self, doc_id: str, source: str, line: int, origin: stored.OriginValues) -> None:
        """Remember a document that is not stored."""
        self.failing.setdefault(as_name(doc_id), []).append((source, line, *origin))

    def write(self) -> None:
        """Write what was taken, after the documents."""
        stored.forget(self.connection, [origins.c.number.in_(block) for block in in_slices(self._replaced)])
        self._insert(self._new)
        self._new, self._replaced = [], []

    def finish(self) -> None:
        """Replace the exceptions of all ids that the load brought by its own."""
        other = {
            doc_id
            for doc_id in self.former.keys() | self.failing
            if self.former.get(doc_id) != self.failing.get(doc_id)
        }
        gone = sorted(other & self.former.keys())
        mine = [stored.IS_EXCEPTION & origins.c.doc_id.in_(block) for block in in_slices(gone)]
        stored.forget(self.connection, mine)
        self.n_written += len(gone)
        self._insert([(None, name, *row) for name, rows in self.failing.items() if name in other for row in rows])

    def _insert(self, rows: Sequence[tuple[Any, ...]]) -> None:
        first = number_after_last(self.connection, origins.c.number) if rows else 0
        numbered = [(first + i, self.load, *row) for i, row in enumerate(rows)]
        insert_rows(self.connection, origins, list(zip(*numbered, strict=True)))
        self.n_written += len(rows)
