"""One load: the documents of one command, stored in one transaction.

Whoever reads sees all of a load or nothing of it, and a process that ends in the middle leaves nothing behind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import count
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from nearkin.collection.counting import Counting
from nearkin.collection.documents import checked_wave
from nearkin.collection.incoming import Examined, Incoming, SeenIds, examine
from nearkin.engines.local import map_ordered
from nearkin.errors import DocumentError
from nearkin.stages.documents.rules import ReadingRules
from nearkin.store import schema
from nearkin.store.bulk import insert_rows, is_storable, named
from nearkin.store.store import Store

_MOST_OF_A_LONGER_ID = 2_600
"""Bytes: PostgreSQL's indexes take 2,704."""


@dataclass(frozen=True, slots=True)
class Added:
    """What a load stored.

    Parameters
    ----------
    wave : str
    n_new : int
        Documents with ids that the collection did not have, or had no longer.
    n_new_versions : int
        Documents whose text differs from what their id had.
    n_unchanged : int
        Documents that were there already, id and text; or had been, in this very wave, before a later one changed them.
    n_problems : int
        Documents that could not be stored, or got another id; told in the table of problems.
    n_contents : int
        Texts that the collection did not have under any id.
    """

    wave: str
    n_new: int
    n_new_versions: int
    n_unchanged: int
    n_problems: int
    n_contents: int

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)

    @property
    def n_documents(self) -> int:
        """Documents that are in the collection now, of those that came."""
        return self.n_new + self.n_new_versions + self.n_unchanged


def add(
    store: Store,
    counting: Counting,
    incoming: Iterable[Incoming],
    *,
    wave: str | None,
    threads: int,
    rules: ReadingRules,
) -> Added:
    """Store documents; all of them, or, whatever happens, none.

    Parameters
    ----------
    store : Store
    counting : Counting
    incoming : iterable of Incoming
    wave : str, optional
        A name that is new, or that of a wave that is there and grows; "wave 1", "wave 2", … if not given.
    threads : int
        That count and sign.
    rules : ReadingRules
        Whether a document that cannot be read ends the load, and how many may be unreadable.

    Raises
    ------
    DocumentError, SourceError
        See `ReadingRules`; nothing is stored.
    """
    wave = None if wave is None else checked_wave(wave)
    with store.writing() as connection:
        load = _Load.begin(connection, wave)
        unreadable = _Unreadable()
        work = partial(examine, counting=counting, known=partial(_known, store), wave=load.name)
        for examined in map_ordered(work, incoming, threads=threads):
            if rules.on_error == "stop":
                _stop_at_problems(examined)
            unreadable.take(examined)
            load.store(examined)
        rules.check_readable(unreadable.n, unreadable.n_documents, unreadable.first)
        return load.finish()


def add_one(connection: Connection, counting: Counting, incoming: Incoming, *, wave: str) -> tuple[Added, str | None]:
    """Store a batch inside a transaction of the caller's, and tell the first problem of its documents, if any.

    Each is meant as it comes: one that the same wave brought before becomes current again.
    """
    load = _Load.begin(connection, wave)
    load.brings_back = True

    def known(digests: Sequence[bytes]) -> set[bytes]:
        return set(_contents_of(connection, digests))

    examined = examine(incoming, counting, known=known, wave=load.name)
    load.store(examined)
    return load.finish(), next((problem for problem in examined.problems if problem is not None), None)


def _stop_at_problems(examined: Examined) -> None:
    for source, line, problem in zip(examined.sources, examined.lines, examined.problems):
        if problem is not None:
            raise DocumentError(
                f"{source}:{line}: {problem}. The run stops at bad documents because of --on-error stop; nothing was "
                "stored."
            )


def _known(store: Store, digests: Sequence[bytes]) -> set[bytes]:
    """Those of which the content is stored; contents never go."""
    with store.reading() as connection:
        return set(_contents_of(connection, digests))


def _contents_of(connection: Connection, digests: Sequence[bytes]) -> dict[bytes, int]:
    contents, found = schema.contents, dict[bytes, int]()
    for some in named(digests):
        rows = connection.execute(select(contents.c.digest, contents.c.content).where(contents.c.digest.in_(some)))
        found |= {bytes(digest): content for digest, content in rows}
    return found


@dataclass(slots=True)
class _Unreadable:
    """Documents of a load that cannot be stored, counted."""

    n: int = 0
    n_documents: int = 0
    first: str = ""

    def take(self, examined: Examined) -> None:
        """Some documents more."""
        self.n_documents += len(examined.problems)
        for source, line, problem in zip(examined.sources, examined.lines, examined.problems):
            if problem is not None:
                self.n += 1
                self.first = self.first or f"{source}:{line}: {problem}"


@dataclass(slots=True)
class _Known:
    """The newest version of an id, and the contents of all that it got in this wave."""

    version: int
    row: int
    content: int
    is_current: bool
    in_wave: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Load:
    """A load under way, inside its transaction."""

    connection: Connection
    number: int
    wave: int
    name: str
    first_content: int
    next_content: int
    next_row: int
    n_new: int = 0
    n_new_versions: int = 0
    n_unchanged: int = 0
    n_problems: int = 0
    n_new_problems: int = 0
    brings_back: bool = False
    seen: SeenIds = field(default_factory=SeenIds)
    digest: Any = field(default_factory=hashlib.sha256)

    @classmethod
    def begin(cls, connection: Connection, name: str | None) -> _Load:
        """Numbers that follow on those there are; the wave, found or made."""
        waves, loads = schema.waves, schema.loads
        number = 1 + (connection.execute(select(func.max(loads.c.load))).scalar() or 0)
        n_waves = connection.execute(select(func.max(waves.c.wave))).scalar() or 0
        name = name if name is not None else _new_name(connection, n_waves + 1)
        wave = connection.execute(select(waves.c.wave).where(waves.c.name == name)).scalar()
        if wave is None:
            wave = n_waves + 1
            connection.execute(insert(waves).values(wave=wave, name=name))
        next_content = _next(connection, schema.contents.c.content)
        # the load is known from the beginning, as what it stores refers to it; its figures come at the end
        figures = dict.fromkeys(("n_new", "n_new_versions", "n_unchanged", "n_problems"), 0)
        added_at = datetime.now(UTC).isoformat(timespec="seconds")
        bounds = {"first_content": next_content, "end_content": next_content, "digest": b""}
        connection.execute(insert(loads).values(load=number, wave=wave, added_at=added_at, **bounds, **figures))
        next_row = _next(connection, schema.documents.c.row)
        return cls(connection, number, wave, name, next_content, next_content, next_row)

    def store(self, examined: Examined) -> None:
        """One batch."""
        ids = list(examined.doc_ids)
        is_repeated = self.seen.mark(ids)
        newest = self._newest(set(ids))
        contents = _contents_of(self.connection, list(dict.fromkeys(examined.digests)))
        rows, new_contents, profiles, replaced, problems = [], [], [], [], []
        for i, digest in enumerate(examined.digests):
            doc_id, source, line, problem = ids[i], examined.sources[i], examined.lines[i], examined.problems[i]
            if problem is not None:
                problems.append((doc_id.replace("\0", "\N{SYMBOL FOR NULL}"), source, line, problem))
                continue
            was = newest.get(doc_id)
            if is_repeated[i] and (was is None or was.content != contents.get(digest)):
                longer = self._longer(doc_id, source, line)
                problem = f"the id {doc_id!r} came before in this load; this document is called {longer}"
                problems.append((longer, source, line, problem))
                doc_id = longer
                was = newest.get(doc_id) or self._newest({doc_id}).get(doc_id)
            content = contents.get(digest)
            if content is None:
                content = contents[digest] = self.next_content
                self.next_content += 1
                self.digest.update(digest)
                new_contents.append((content, *examined.contents[digest]))
                profiles.append((content, *examined.profiles[digest]))
            if was is not None and was.is_current:
                # a wave that is given again brings nothing back that later waves changed
                if was.content == content or (content in was.in_wave and not self.brings_back):
                    self.n_unchanged += 1
                    continue
                replaced.append(was.row)
                self.n_new_versions += 1
            else:
                self.n_new += 1
            version = 1 if was is None else was.version + 1
            rows.append((self.next_row, doc_id, version, content, self.number, source, line, True, None))
            newest[doc_id] = _Known(version, self.next_row, content, True)
            self.next_row += 1
        self._write(rows, new_contents, profiles, replaced, problems)

    def _longer(self, doc_id: str, source: str, line: int) -> str:
        """A name that nothing in this load has."""
        place = f" ({source}:{line})"
        if len(f"{doc_id}{place * 2}".encode()) > _MOST_OF_A_LONGER_ID:
            place = f" ({hashlib.sha256(source.encode()).hexdigest()[:16]}:{line})"
        longer = doc_id + place
        while self.seen.mark([longer])[0]:
            longer += place
        return longer

    def _write(
        self, rows: list[Any], contents: list[Any], profiles: list[Any], replaced: list[int], problems: list[Any]
    ) -> None:
        documents = schema.documents
        for some in named(replaced):
            self.connection.execute(update(documents).where(documents.c.row.in_(some)).values(is_current=False))
        insert_rows(self.connection, schema.contents, _columns(contents))
        insert_rows(self.connection, schema.profiles, _columns(profiles))
        insert_rows(self.connection, documents, _columns(rows))
        self.n_problems += len(problems)
        unknown = self._unknown(problems)
        numbered = [(self.number, self.n_new_problems + i, *problem) for i, problem in enumerate(unknown)]
        insert_rows(self.connection, schema.problems, _columns(numbered))
        self.n_new_problems += len(unknown)

    def _unknown(self, problems: list[Any]) -> list[Any]:
        """Those that no load told yet: adding the same documents again stores nothing again."""
        columns = [schema.problems.c[name] for name in ("doc_id", "source", "line", "problem")]
        told = set[Any]()
        for some in named([problem[0] for problem in problems]):
            told |= {tuple(row) for row in self.connection.execute(select(*columns).where(columns[0].in_(some)))}
        return [problem for problem in problems if problem not in told]

    def _newest(self, doc_ids: set[str]) -> dict[str, _Known]:
        documents, loads, newest = schema.documents.c, schema.loads.c, dict[str, _Known]()
        wanted = (
            documents.doc_id,
            documents.version,
            documents.row,
            documents.content,
            documents.is_current,
            loads.wave,
        )
        joined = schema.documents.join(schema.loads)
        for some in named(sorted(doc_id for doc_id in doc_ids if is_storable(doc_id))):
            for doc_id, version, row, content, is_current, wave in self.connection.execute(
                select(*wanted).select_from(joined).where(documents.doc_id.in_(some)).order_by(documents.version)
            ):
                before = newest[doc_id].in_wave if doc_id in newest else set()
                here = {content} if wave == self.wave else set()
                newest[doc_id] = _Known(version, row, content, is_current, before | here)
        return newest

    def finish(self) -> Added:
        """The load's figures; a load that brought nothing leaves no trace."""
        loads, waves = schema.loads, schema.waves
        mine = loads.c.load == self.number
        figures = {
            "n_new": self.n_new,
            "n_new_versions": self.n_new_versions,
            "n_unchanged": self.n_unchanged,
            "n_problems": self.n_problems,
        }
        digest = self.digest.digest()
        self.connection.execute(
            update(loads).where(mine).values(end_content=self.next_content, digest=digest, **figures)
        )
        if not (self.n_new or self.n_new_versions or self.n_new_problems):
            self.connection.execute(loads.delete().where(mine))
            of_wave = select(loads.c.load).where(loads.c.wave == self.wave)
            if self.connection.execute(of_wave).first() is None:
                self.connection.execute(waves.delete().where(waves.c.wave == self.wave))
        return Added(self.name, **figures, n_contents=self.next_content - self.first_content)


def _new_name(connection: Connection, number: int) -> str:
    """The name of a wave that was given none: the first from the number on that is free."""
    names = set(connection.execute(select(schema.waves.c.name)).scalars())
    return next(name for name in (f"wave {i}" for i in count(number)) if name not in names)


def _next(connection: Connection, column: Any) -> int:
    """The number after the last one, from 0."""
    last = connection.execute(select(func.max(column))).scalar()
    return 0 if last is None else int(last) + 1


def _columns(rows: list[tuple[Any, ...]]) -> list[Any]:
    return list(zip(*rows, strict=True))
