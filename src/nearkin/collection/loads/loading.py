"""A load in progress: decides which documents are new, changed or stored already, and collects the rows to write."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from nearkin.collection.counting import TextCounting
from nearkin.collection.decisions.activity import checked_by, record
from nearkin.collection.decisions.records import GONE_IN, STORE, SettingChange
from nearkin.collection.decisions.removing import Removed, remove_rows
from nearkin.collection.loads.failed_records import FailedRecords
from nearkin.collection.loads.figures import Figures
from nearkin.collection.loads.gone_members import AddedFiles, gone_later
from nearkin.collection.loads.incoming import Examined, SeenIds
from nearkin.collection.loads.known_texts import numbers_of, repair, with_lost_digests
from nearkin.collection.loads.load_numbers import new_name, next_content
from nearkin.collection.loads.missing_texts import missing_of, proven, put_back
from nearkin.collection.loads.origins import LoadOrigins
from nearkin.collection.loads.shared_ids import SharedIds, place_of, plain_file
from nearkin.collection.stored import problem_rows, shingle_table
from nearkin.collection.stored.newest import Newest, newest_of
from nearkin.collection.stored.origins import OriginValues
from nearkin.collection.stored.problem_rows import is_about_id_or_size
from nearkin.collection.stored.purged import PURGED
from nearkin.collection.stored.segments import believable_loads
from nearkin.errors import SourceError
from nearkin.store import schema
from nearkin.store.bulk import insert_rows, named
from nearkin.store.checksums import checksum, covered
from nearkin.store.integrity import number_after_last
from nearkin.store.seals import Seals, documents_of
from nearkin.store.store import Store

_IS_CURRENT, _SOURCE, _LINE = (
    [column.name for column in schema.documents.columns].index(name) for name in ("is_current", "source", "line")
)
_TEXT, _DIGEST = ([column.name for column in schema.contents.columns].index(name) for name in ("text", "digest"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Came:
    """An added document whose text is stored; ``repeats_id``: its id occurred before in the load."""

    doc_id: str
    content: int
    source: str
    line: int
    repeats_id: bool
    origin: OriginValues | None = None


@dataclass(slots=True)
class _LoadRows:
    """Rows that a batch adds to the tables.

    Attributes
    ----------
    listed_again : set of str
        Ids of ``problems`` whose files were extracted, and had other bytes or another exception before.
    read : set of str
        Ids with a path, under which problems of documents that are stored now may be listed.
    """

    documents: dict[int, list[Any]] = field(default_factory=dict)
    contents: list[tuple[Any, ...]] = field(default_factory=list)
    profiles: list[tuple[Any, ...]] = field(default_factory=list)
    problems: list[tuple[Any, ...]] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)
    listed_again: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)


@dataclass(slots=True, kw_only=True)
class Load:
    """A load inside its transaction.

    Attributes
    ----------
    name : str
        Name of the wave.
    keeps_words : bool
        Whether the collection has stored sets of word 5-grams: those of new texts are stored before their documents.
    brings_back : bool
        Whether a text added earlier to the same wave becomes current again.
    changes_ids : bool
        Whether an id that was stored before has a new row: only then can decisions begin to contradict one another.
    waiting : dict
        By id, texts that the id had before this load. They are stored again at its end unless they precede the current
        text. So adding a file with repeated ids again stores nothing, whatever the name of the wave.
    files : AddedFiles or None
        Given where files are read whole: what they contained before and contain no more is removed at the end.
    removed : Removed
    failed : FailedRecords
        Records that failed before; those that were read since have no problem any more.
    by : str or None
        Name of the person by whom the log has an activity of what is stored; None: it has none.
    """

    connection: Connection
    collection_store: Store
    counting: TextCounting
    number: int
    wave: int
    name: str
    added_at: str
    first_content: int
    next_content: int
    next_row: int
    origins: LoadOrigins
    keeps_words: bool = False
    brings_back: bool = False
    changes_ids: bool = False
    figures: Figures = field(default_factory=Figures)
    n_new_problems: int = 0
    seen: SeenIds = field(default_factory=SeenIds)
    shared: SharedIds = field(default_factory=SharedIds)
    digest: Any = field(default_factory=hashlib.sha256)
    seals: Seals = field(default_factory=Seals)
    repaired: set[bytes] = field(default_factory=set)
    missing: set[int] = field(default_factory=set)
    waiting: dict[str, list[_Came]] = field(default_factory=dict)
    files: AddedFiles | None = None
    removed: Removed = field(default_factory=Removed)
    failed: FailedRecords = field(default_factory=FailedRecords)
    by: str | None = None

    @classmethod
    def begin(cls, connection: Connection, store: Store, counting: TextCounting, name: str | None) -> Load:
        """Begin a load with the next free numbers; the wave is looked up or created."""
        waves, loads, seals = schema.waves, schema.loads, Seals()
        first_content = next_content(connection, store)  # refuses a damaged store before anything is written
        number = 1 + (connection.execute(select(func.max(loads.c.load))).scalar() or 0)
        n_waves = connection.execute(select(func.max(waves.c.wave))).scalar() or 0
        name = name if name is not None else new_name(connection, n_waves + 1)
        wave = connection.execute(select(waves.c.wave).where(waves.c.name == name)).scalar()
        if wave is None:
            wave = n_waves + 1
            own = checksum((wave, name), name)
            connection.execute(insert(waves).values(wave=wave, name=name, checksum=own))
            seals.add(waves.name, [own])
        keeps_words = shingle_table.are_kept(connection)
        if keeps_words:
            shingle_table.fill(connection, store, counting)
        # stored first, because its rows refer to it; its counts are written at the end
        figures = dict.fromkeys(("n_new", "n_new_versions", "n_unchanged", "n_problems"), 0)
        added_at = datetime.now(UTC).isoformat(timespec="seconds")
        bounds = {"first_content": first_content, "end_content": first_content, "digest": b""}
        connection.execute(insert(loads).values(load=number, wave=wave, added_at=added_at, **bounds, **figures))
        next_row = number_after_last(connection, schema.documents.c.row)
        return cls(
            connection=connection,
            collection_store=store,
            counting=counting,
            number=number,
            wave=wave,
            name=name,
            added_at=added_at,
            first_content=first_content,
            next_content=first_content,
            next_row=next_row,
            origins=LoadOrigins(connection=connection, load=number, added_at=added_at),
            keeps_words=keeps_words,
            seals=seals,
        )

    def copy(self) -> Load:
        """Copy the state of the load, to go on from if the rows of a batch are rolled back."""
        return replace(
            self,
            figures=replace(self.figures),
            seen=deepcopy(self.seen),
            shared=deepcopy(self.shared),
            digest=self.digest.copy(),
            seals=deepcopy(self.seals),
            origins=self.origins.copy(),
            repaired=set(self.repaired),
            missing=set(self.missing),
            waiting={doc_id: list(texts) for doc_id, texts in self.waiting.items()},
        )

    def store(self, examined: Examined) -> None:
        """Store a batch, in the order of its documents."""
        newest, n_mended = newest_of(self.connection, set(examined.doc_ids), wave=self.wave, load=self.number)
        self.figures.n_repaired += n_mended
        numbers = numbers_of(self.connection, list(dict.fromkeys(examined.digests)))
        self._repair(examined, newest, numbers)
        rows, is_repeated = _LoadRows(), self.seen.mark(examined.doc_ids)
        is_shared = self.shared.mark(examined, is_repeated)
        if examined.origins or examined.places:
            self._look_up_origins(examined, newest)
        gone = self._gone_later(examined, newest)
        for i, digest in enumerate(examined.digests):
            doc_id, source, line = examined.doc_ids[i], examined.sources[i], examined.lines[i]
            problem, origin, was = examined.problems[i], examined.origins.get(i), newest.get(doc_id)
            if origin is not None:
                self.origins.count({doc_id, examined.problem_id(i)}, origin, is_read=problem is None)
            if problem is None or not (problem == PURGED or is_about_id_or_size(problem)):
                self.origins.count_exception(origin, has_text=problem is None and i not in examined.blank)
            if problem is not None:
                self._list(i, examined, was, rows, is_gone=doc_id in gone)
                continue
            content = numbers.get(digest)
            if was is not None and doc_id in gone and content in was.in_wave:
                self.figures.n_unchanged += 1
                continue
            is_re_extracted = origin is not None and self._is_of_same_file(was, content, origin)
            if is_re_extracted and not self.origins.re_extract:
                self.origins.figures.n_other_extractor += 1
                self.figures.n_unchanged += 1
                continue
            if is_shared[i] and was is not None and was.is_current and not self._is_same_text(doc_id, content, was):
                self._refuse_shared(i, examined, was, rows)
                continue
            if i in examined.places:
                self.shared.take(doc_id, examined.places[i])
                rows.read |= {examined.problem_id(i)} - {doc_id}
            if content is None:
                content = numbers[digest] = self._new_content(digest, examined, rows)
            one = _Came(
                doc_id=doc_id, content=content, source=source, line=line, repeats_id=bool(is_repeated[i]), origin=origin
            )
            if was is None or not was.is_current:
                self.figures.count_new(doc_id, is_restored=was is not None and content in {was.content, *was.before})
                newest[doc_id] = self._new_version(one, was, rows)
            elif was.content == content:  # texts waiting for this id preceded the current one: its history
                is_same_again = bool(is_repeated[i]) and self._is_same_text(doc_id, content, was)
                self.figures.n_unchanged += len(self.waiting.pop(doc_id, ()))
                self.figures.count_unchanged(is_repeated=is_same_again)
                if origin is not None:
                    self.origins.complete(was.row, doc_id, origin)
            elif content in was.in_wave and not (self.brings_back or is_re_extracted):
                is_same_again = bool(is_repeated[i]) and self._is_same_text(doc_id, content, was)
                self.figures.count_unchanged(is_repeated=is_same_again)  # an old text does not undo a later one
                self.shared.skip(doc_id, content)
            elif content in was.before and not was.is_of_load and not (self.brings_back or is_re_extracted):
                self._wait(one)
            else:
                self._note_name_of_place(i, examined)
                newest[doc_id] = self._new_versions([*self.waiting.pop(doc_id, ()), one], was, rows)
        self._write(rows)

    def _is_same_text(self, doc_id: str, content: int | None, was: Newest) -> bool:
        """Whether the earlier document of this load with an id has a text, also if it undid no later text."""
        if waiting := self.waiting.get(doc_id):
            return content in {one.content for one in waiting}
        skipped = self.shared.skipped(doc_id)
        return content is not None and content == (was.content if skipped is None else skipped)

    def _list(self, i: int, examined: Examined, was: Newest | None, rows: _LoadRows, *, is_gone: bool) -> None:
        """Store the problem of a document that cannot be stored."""
        doc_id, problem, origin = examined.problem_id(i), examined.problems[i], examined.origins.get(i)
        self.figures.n_erased += problem == PURGED
        self.figures.n_not_stored += problem is not None and is_about_id_or_size(problem)
        if origin is not None and not is_gone:
            row = was.row if was is not None and was.is_current else None
            if self.origins.take_unread(doc_id, origin, row):
                rows.listed_again.add(doc_id)
        shown = doc_id.replace("\0", "\N{SYMBOL FOR NULL}")
        rows.problems.append((shown, examined.sources[i], examined.lines[i], problem))

    def _note_name_of_place(self, i: int, examined: Examined) -> None:
        """Count a changed document that is named after its place; refuse it if that is a row of an earlier table."""
        if examined.has_name_of_place is None or not examined.has_name_of_place[i]:
            return
        if examined.is_named_after_wave:
            raise SourceError(
                f"The wave '{self.name}' has another document {examined.doc_ids[i]}: documents without ids are named "
                "after the wave and their row. Nothing was stored. Add them with ids, or in a new wave."
            )
        self.figures.count_changed_place(examined.doc_ids[i])

    def _refuse_shared(self, i: int, examined: Examined, was: Newest, rows: _LoadRows) -> None:
        """Store a problem in place of a document whose id another document of this load has, too."""
        row, source, doc_id = rows.documents.get(was.row), examined.sources[i], examined.problem_id(i)
        other = place_of(self.connection, was.row) if row is None else (row[_SOURCE], row[_LINE])
        examined.problems[i] = problem = self.shared.problem(examined, i, other)
        rows.problems.append((doc_id, source, examined.lines[i], problem))
        if doc_id != examined.doc_ids[i] and (file := plain_file(examined, i)) is not None:
            self.origins.take_plain(doc_id, file)
        self.figures.n_not_stored += 1
        self.figures.n_shared_ids += 1
        self.figures.first_shared_id = self.figures.first_shared_id or examined.places.get(i, source)
        self.origins.uncount_exception(examined.origins.get(i), has_text=i not in examined.blank)

    def _gone_later(self, examined: Examined, newest: dict[str, Newest]) -> set[str]:
        """Record which files come; return the members that files of a later wave no longer contained."""
        if self.files is None or not examined.origins:
            return set()
        self.files.take(examined, newest, self.origins)
        return gone_later(
            self.connection,
            {
                doc_id
                for doc_id in map(examined.doc_ids.__getitem__, examined.origins)
                if doc_id not in newest or not newest[doc_id].is_current
            },
            self.wave,
        )

    def _look_up_origins(self, examined: Examined, newest: dict[str, Newest]) -> None:
        doc_ids = {examined.doc_ids[i] for i in examined.origins}
        found = (newest[doc_id] for doc_id in doc_ids & newest.keys())
        doc_ids |= {examined.problem_id(i) for i in examined.places}
        self.origins.look_up([was.row for was in found if was.is_current], doc_ids)

    def _is_of_same_file(self, was: Newest | None, content: int | None, origin: OriginValues) -> bool:
        """Whether another extractor made another text of the same bytes; a damaged text is replaced by any."""
        if was is None or not was.is_current or was.content < 0 or was.content == content:
            return False
        return was.content not in self.missing and self.origins.is_of_same_file(was.row, origin)

    def _wait(self, one: _Came) -> None:
        waiting = self.waiting.setdefault(one.doc_id, [])
        if waiting and waiting[-1].content == one.content:
            self.figures.n_unchanged += 1
        else:
            waiting.append(one)

    def _new_versions(self, came: Iterable[_Came], was: Newest, rows: _LoadRows) -> Newest:
        """Store texts that replace a current one, each as a new version."""
        before = was.before
        for one in came:
            if was.row in rows.documents:
                rows.documents[was.row][_IS_CURRENT] = False
            else:
                rows.replaced.append(was.row)
            self.figures.n_new_versions += 1
            self.figures.n_repeated += one.repeats_id
            self.figures.n_earlier_texts += one.content in before
            was = self._new_version(one, was, rows)
        return was

    def _new_content(self, digest: bytes, examined: Examined, rows: _LoadRows) -> int:
        number = self.next_content
        self.next_content += 1
        self.digest.update(digest)
        rows.contents.append((number, *examined.contents[digest]))
        rows.profiles.append((number, *examined.profiles[digest]))
        return number

    def _new_version(self, one: _Came, was: Newest | None, rows: _LoadRows) -> Newest:
        version, row = 1 if was is None else was.version + 1, self.next_row
        self.next_row += 1
        self.changes_ids |= was is not None
        values = row, one.doc_id, version, one.content, self.number, one.source, one.line
        rows.documents[row] = [*values, True, None, checksum((*values, None), one.doc_id)]
        if one.origin is not None:
            self.origins.take(row, one.doc_id, one.origin)
        return Newest(version=version, row=row, content=one.content, is_current=True)

    def _repair(self, examined: Examined, newest: dict[str, Newest], numbers: dict[bytes, int]) -> None:
        """Replace damaged stored texts with the added ones."""
        for digest in examined.damaged - self.repaired:
            number = numbers.get(digest)
            if number is not None:
                content, profile = examined.contents[digest], examined.profiles[digest]
                repair(self.connection, self.collection_store, self.counting, number, content, profile)
                self.repaired.add(digest)
                self.figures.n_repaired += 1
        wanted = dict[int, set[bytes]]()
        for doc_id, digest, problem in zip(examined.doc_ids, examined.digests, examined.problems, strict=True):
            if problem is None and digest not in numbers and doc_id in newest:
                wanted.setdefault(newest[doc_id].content, set()).add(digest)
        found = with_lost_digests(self.connection, wanted)
        numbers |= found
        self.figures.n_repaired += len(found)
        self._put_back(examined, newest, numbers)

    def _put_back(self, examined: Examined, newest: dict[str, Newest], numbers: dict[bytes, int]) -> None:
        """Restore missing texts if the digest of their load proves that the added ones are the same."""
        came = dict[int, set[bytes]]()
        for doc_id, digest, problem in zip(examined.doc_ids, examined.digests, examined.problems, strict=True):
            was = newest.get(doc_id)
            if problem is None and was is not None and was.content >= 0 and was.content != numbers.get(digest):
                came.setdefault(was.content, set()).add(digest)
        missing = missing_of(self.connection, came) - self.missing if came else set()
        if not missing:
            return
        unknown = {number: came[number] - numbers.keys() for number in missing}
        loads, _ = believable_loads(self.connection, self.collection_store)  # the current load has no digest yet
        found = proven(self.connection, loads, unknown)
        for number, digest in found.items():
            content, profile = examined.contents[digest], examined.profiles[digest]
            put_back(self.connection, self.collection_store, self.counting, number, content, profile)
            numbers[digest] = number
        self.missing |= missing
        self.figures.n_repaired += len(found)
        self.figures.n_missing += len(missing) - len(found)

    def _write(self, rows: _LoadRows) -> None:
        documents, problems = schema.documents, schema.problems
        for some in named(rows.replaced):
            self.connection.execute(update(documents).where(documents.c.row.in_(some)).values(is_current=False))
        insert_rows(self.connection, schema.contents, _columns(rows.contents))
        insert_rows(self.connection, schema.profiles, _columns(rows.profiles))
        if self.keeps_words:
            came = [(row[0], row[_TEXT], row[_DIGEST]) for row in rows.contents]
            shingle_table.store_words(self.connection, self.collection_store, self.counting, came)
        insert_rows(self.connection, documents, _columns(rows.documents.values()))
        self.seals.add(documents_of(self.wave), [row[-1] for row in rows.documents.values()])
        self.origins.write(self.seals)
        self.figures.n_problems += len(rows.problems)
        for some in named(sorted(rows.read - {one[0] for one in rows.problems})):
            problem_rows.forget_problems(self.connection, self.seals, problems.c.doc_id.in_(some))
        unknown = self._unknown(rows.problems)
        is_new = {*unknown, *(one for one in rows.problems if one[0] in rows.listed_again)}
        self.figures.n_listed_before += sum(one not in is_new and one[-1] != PURGED for one in rows.problems)
        numbered = [(self.number, self.n_new_problems + i, *problem) for i, problem in enumerate(unknown)]
        own = [checksum(row, row[0]) for row in numbered]
        insert_rows(self.connection, problems, _columns([(*row, one) for row, one in zip(numbered, own)]))
        self.seals.add(problems.name, own)
        self.n_new_problems += len(unknown)

    def _unknown(self, problems: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Select problems that are not recorded: adding the same documents again stores nothing."""
        columns = [schema.problems.c[name] for name in ("doc_id", "source", "line", "problem")]
        told = set[Any]()
        for some in named([problem[0] for problem in problems]):
            is_told = columns[0].in_(some) & ~problem_rows.IS_STORED_SINCE
            told |= {tuple(row) for row in self.connection.execute(select(*columns).where(is_told))}
        return [problem for problem in problems if problem not in told]

    def finish(self) -> Figures:
        """Write the load's counts and the seals; a load that added nothing leaves no trace."""
        self._bring_back()
        self._remove_gone()
        problem_rows.forget_solved(self.connection, self.seals, self.failed.solved())
        loads, waves, figures = schema.loads, schema.waves, self.figures
        mine = loads.c.load == self.number
        is_any = figures.n_new or figures.n_new_versions or self.n_new_problems or self.origins.n_written
        if is_any or self.removed.number is not None:
            counts = figures.n_new, figures.n_new_versions, figures.n_unchanged, figures.n_problems
            values = (
                self.number, self.wave, self.added_at, self.first_content, self.next_content, self.digest.digest(),
                *counts,
            )  # fmt: skip
            own = checksum(values, self.number)
            right = dict(zip(covered(loads), values, strict=True)) | {"checksum": own}
            del right["load"]  # SQLite would look through all documents for one with the load
            self.connection.execute(update(loads).where(mine).values(**right))
            self.seals.add(loads.name, [own])
            self.seals.add(documents_of(self.wave), [])  # a wave with nothing but problems has a seal too
            self._record_stored()
        else:
            self.connection.execute(loads.delete().where(mine))
            of_wave = select(loads.c.load).where(loads.c.wave == self.wave)
            if self.connection.execute(of_wave).first() is None:
                self.connection.execute(waves.delete().where(waves.c.wave == self.wave))
                self.seals.take(waves.name, [checksum((self.wave, self.name), self.name)])
        self.seals.write(self.connection)
        return figures

    def _remove_gone(self) -> None:
        """Remove what the added files contained before."""
        if self.files is None:
            return
        gone = self.files.gone(self.connection, self.seen, self.wave)
        self.removed = remove_rows(
            self.connection,
            [schema.documents.c.row.in_(some) for some in named(gone.rows)],
            [schema.origins.c.number.in_(some) for some in named(gone.unread)],
            by=checked_by(self.by),
            data={GONE_IN: self.name},
        )

    def _record_stored(self) -> None:
        """Enter the stored documents in the log if somebody is named."""
        if self.by is None:
            return
        documents = schema.documents.c
        query = select(documents.doc_id, documents.version).where(documents.load == self.number)
        changes = [
            SettingChange(STORE, doc_id, "", f"version {version - 1}" if version > 1 else None, f"version {version}")
            for doc_id, version in self.connection.execute(query.order_by(documents.row))
        ]
        if changes:
            record(self.connection, STORE, changes, by=checked_by(self.by), data={"wave": self.name})

    def _bring_back(self) -> None:
        """Store the waiting texts, as if they were added last."""
        for some in named(list(self.waiting)):
            newest, _ = newest_of(self.connection, set(some), wave=self.wave, load=self.number)
            rows = _LoadRows()
            for doc_id in some:
                self._new_versions(self.waiting[doc_id], newest[doc_id], rows)
            self._write(rows)
        self.waiting.clear()


def _columns(rows: Iterable[Any]) -> list[Any]:
    return list(zip(*rows, strict=True))
