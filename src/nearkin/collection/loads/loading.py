"""A load in progress: decides which documents are new, changed or stored already, and collects the rows to write."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count

from sqlalchemy import Connection, func, insert, select, update

from nearkin.collection.counting import TextCounting
from nearkin.collection.decisions.activity import checked_by, record
from nearkin.collection.decisions.records import GONE_IN, STORE, SettingChange
from nearkin.collection.decisions.removing import Removed, remove_rows
from nearkin.collection.loads.gone_members import AddedFiles, Newest, gone_later, newest_of
from nearkin.collection.loads.incoming import Examined, FailedRecords, SeenIds
from nearkin.collection.loads.known_texts import numbers_of, repair
from nearkin.collection.loads.origins import LoadOrigins
from nearkin.collection.loads.shared_ids import SharedIds, place_of, plain_file, unlike
from nearkin.collection.loads.writing import Figures, LoadRows, LoadWriter
from nearkin.collection.stored import origins, shingle_table
from nearkin.collection.stored.load_spans import LoadDigest
from nearkin.collection.stored.origins import OriginValues, is_about_id_or_size
from nearkin.collection.stored.purged import PURGED
from nearkin.errors import SourceError
from nearkin.records import Bool
from nearkin.store import schema
from nearkin.store.bulk import in_slices, number_after_last
from nearkin.store.store import Store

_IS_CURRENT, _SOURCE, _LINE = (
    [column.name for column in schema.documents.columns].index(name) for name in ("is_current", "source", "line")
)

_COUNTS = ("n_new", "n_new_versions", "n_unchanged", "n_problems")
"""Columns of ``loads`` that are written at its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Came:
    """An added document whose text is stored; ``repeats_id``: its id occurred before in the load."""

    doc_id: str
    content: int
    digest: bytes
    source: str
    line: int
    repeats_id: bool
    origin: OriginValues | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _LoadBatch:
    """Documents of a batch, what is stored of them, and the rows to write."""

    examined: Examined
    newest: dict[str, Newest]
    numbers: dict[bytes, int]
    is_repeated: Bool
    is_shared: Bool
    gone: set[str]
    rows: LoadRows = field(default_factory=LoadRows)
    changed_files: list[tuple[str, int, int]] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Load:
    """A load inside its transaction.

    Attributes
    ----------
    name : str
        Name of the wave.
    brings_back : bool
        Whether a text that the id had before becomes current again at once, even if another wave replaced it.
    changes_ids : bool
        Whether an id that was stored before has a new row: only then can decisions begin to contradict one another.
    waiting : dict
        By id, texts that the id had before this load. They are stored again at its end unless they precede the current
        text. So adding a file with repeated ids again stores nothing, whatever the name of the wave.
    files : AddedFiles or None
        Given where files are read whole: what they contained before and contain no more is removed at the end.
    digest : LoadDigest
        Of the documents so far; see `nearkin.store.schema`.
    repaired : set of bytes
        Digests of the damaged texts that the load has replaced.
    removed : Removed
    failed : FailedRecords
        Records that failed before; those that were read since have no problem any more.
    by : str or None
        Name of the person by whom the log has an activity of what is stored; None: it has none.
    """

    connection: Connection
    number: int
    wave: int
    name: str
    added_at: str
    first_content: int
    next_content: int
    next_row: int
    origins: LoadOrigins
    writer: LoadWriter
    brings_back: bool = False
    changes_ids: bool = False
    figures: Figures = field(default_factory=Figures)
    seen: SeenIds = field(default_factory=SeenIds)
    shared: SharedIds = field(default_factory=SharedIds)
    digest: LoadDigest = field(default_factory=LoadDigest)
    repaired: set[bytes] = field(default_factory=set)
    waiting: dict[str, list[_Came]] = field(default_factory=dict)
    files: AddedFiles | None = None
    removed: Removed = field(default_factory=Removed)
    failed: FailedRecords = field(default_factory=FailedRecords)
    by: str | None = None

    @classmethod
    def begin(cls, connection: Connection, store: Store, counting: TextCounting, name: str | None) -> Load:
        """Begin a load with the next free numbers; the wave is looked up or created."""
        waves, loads = schema.waves, schema.loads
        first_content = connection.execute(select(func.max(loads.c.end_content))).scalar() or 0
        number = 1 + (connection.execute(select(func.max(loads.c.load))).scalar() or 0)
        n_waves = connection.execute(select(func.max(waves.c.wave))).scalar() or 0
        name = name if name is not None else _new_name(connection, n_waves + 1)
        wave = connection.execute(select(waves.c.wave).where(waves.c.name == name)).scalar()
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
        next_row = number_after_last(connection, schema.documents.c.row)
        return cls(
            connection=connection,
            number=number,
            wave=wave,
            name=name,
            added_at=added_at,
            first_content=first_content,
            next_content=first_content,
            next_row=next_row,
            origins=LoadOrigins(connection=connection, load=number, added_at=added_at),
            writer=LoadWriter(
                connection=connection, collection_store=store, counting=counting, load=number, keeps_words=keeps_words
            ),
        )

    def copy(self) -> Load:
        """Copy the state of the load, to go on from if the rows of a batch are rolled back."""
        return replace(
            self,
            figures=replace(self.figures),
            seen=deepcopy(self.seen),
            shared=deepcopy(self.shared),
            digest=self.digest.copy(),
            repaired=set(self.repaired),
            origins=self.origins.copy(),
            writer=self.writer.copy(),
            waiting={doc_id: list(texts) for doc_id, texts in self.waiting.items()},
        )

    def store(self, examined: Examined) -> None:
        """Store a batch, in the order of its documents."""
        newest = newest_of(self.connection, set(examined.doc_ids), wave=self.wave, load=self.number)
        numbers = numbers_of(self.connection, list(dict.fromkeys(examined.digests)))
        self._repair(examined, numbers)
        is_repeated = self.seen.mark(examined.doc_ids)
        is_shared = self.shared.mark(examined, is_repeated)
        if examined.origins or examined.places:
            self._look_up_origins(examined, newest)
        gone = self._gone_later(examined, newest)
        batch = _LoadBatch(
            examined=examined, newest=newest, numbers=numbers, is_repeated=is_repeated, is_shared=is_shared, gone=gone
        )
        for i, problem in enumerate(examined.problems):
            self._count_origin(i, examined)
            if problem is None:
                self._store_document(i, batch)
            else:
                self._list(i, batch)
        self.writer.write(batch.rows, self.origins, self.figures)
        for doc_id in unlike(self.connection, batch.changed_files):
            self.figures.count_unlike(doc_id)

    def _repair(self, examined: Examined, numbers: dict[bytes, int]) -> None:
        """Replace damaged texts by the added ones."""
        for digest in (examined.damaged - self.repaired) & numbers.keys():
            content, profile = examined.contents[digest], examined.profiles[digest]
            repair(
                self.connection, self.writer.collection_store, self.writer.counting, numbers[digest], content, profile
            )
            self.repaired.add(digest)
            self.figures.n_repaired += 1

    def _count_origin(self, i: int, examined: Examined) -> None:
        problem, origin = examined.problems[i], examined.origins.get(i)
        if origin is not None:
            self.origins.count({examined.doc_ids[i], examined.problem_id(i)}, origin, is_read=problem is None)
        if problem is None or not (problem == PURGED or is_about_id_or_size(problem)):
            self.origins.count_exception(origin, has_text=problem is None and i not in examined.blank)

    def _store_document(self, i: int, batch: _LoadBatch) -> None:
        """Store a document with a text, unless it is stored already, is another one, or must not come back."""
        examined, rows, doc_id = batch.examined, batch.rows, batch.examined.doc_ids[i]
        origin, was, content = examined.origins.get(i), batch.newest.get(doc_id), batch.numbers.get(examined.digests[i])
        if was is not None and doc_id in batch.gone and content in was.in_wave:
            self.figures.n_unchanged += 1
            return
        is_re_extracted = origin is not None and self._is_of_same_file(was, content, origin)
        if is_re_extracted and not self.origins.re_extract:
            self.origins.figures.n_other_extractor += 1
            self.figures.n_unchanged += 1
            return
        if batch.is_shared[i] and was is not None and was.is_current and not self._is_same_text(doc_id, content, was):
            self._refuse_shared(i, was, batch)
            return
        if i in examined.places:
            self.shared.take(doc_id, examined.places[i])
            rows.read |= {examined.problem_id(i)} - {doc_id}
        if content is None:
            content = batch.numbers[examined.digests[i]] = self._new_content(examined.digests[i], examined, rows)
        came = _Came(
            doc_id=doc_id,
            content=content,
            digest=examined.digests[i],
            source=examined.sources[i],
            line=examined.lines[i],
            repeats_id=bool(batch.is_repeated[i]),
            origin=origin,
        )
        if was is not None and was.is_current:
            self._store_again(i, came, was, batch, may_return=self.brings_back or is_re_extracted)
        else:
            self.figures.count_new(doc_id, is_restored=was is not None and content in {was.content, *was.before})
            batch.newest[doc_id] = self._new_version(came, was, rows)

    def _store_again(self, i: int, came: _Came, was: Newest, batch: _LoadBatch, *, may_return: bool) -> None:
        """Store a document whose id is current, as a new version if its text is new."""
        doc_id, content = came.doc_id, came.content
        if was.content == content:  # texts waiting for this id preceded the current one: its history
            is_same_again = came.repeats_id and self._is_same_text(doc_id, content, was)
            self.figures.n_unchanged += len(self.waiting.pop(doc_id, ()))
            self.figures.count_unchanged(is_repeated=is_same_again)
            if came.origin is not None:
                self.origins.complete(was.row, doc_id, came.origin)
        elif content in was.in_wave and not was.is_of_wave and not may_return:
            is_same_again = came.repeats_id and self._is_same_text(doc_id, content, was)
            self.figures.count_unchanged(is_repeated=is_same_again)  # an old text does not undo that of another wave
            if self.shared.skipped(doc_id) is None:
                self.figures.count_replaced(doc_id)
            self.shared.skip(doc_id, content)
        elif content in was.before and not was.is_of_load and not may_return:
            self._wait(came)
        else:
            self._note_name_of_place(i, batch.examined)
            if batch.examined.is_named_after_file(i) and not was.is_of_load:
                batch.changed_files.append((doc_id, was.content, content))
            batch.newest[doc_id] = self._new_versions([*self.waiting.pop(doc_id, ()), came], was, batch.rows)

    def _is_same_text(self, doc_id: str, content: int | None, was: Newest) -> bool:
        """Whether the earlier document of this load with an id has a text, also if it undid no later text."""
        if waiting := self.waiting.get(doc_id):
            return content in {one.content for one in waiting}
        skipped = self.shared.skipped(doc_id)
        return content is not None and content == (was.content if skipped is None else skipped)

    def _list(self, i: int, batch: _LoadBatch) -> None:
        """Store the problem of a document that cannot be stored."""
        examined, rows, was = batch.examined, batch.rows, batch.newest.get(batch.examined.doc_ids[i])
        doc_id, problem, origin = examined.problem_id(i), examined.problems[i], examined.origins.get(i)
        self.figures.n_erased += problem == PURGED
        self.figures.n_not_stored += problem is not None and is_about_id_or_size(problem)
        if origin is not None and examined.doc_ids[i] not in batch.gone:
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

    def _refuse_shared(self, i: int, was: Newest, batch: _LoadBatch) -> None:
        """Store a problem in place of a document whose id another document of this load has, too."""
        examined, rows = batch.examined, batch.rows
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
        """Whether another extractor made another text of the same bytes."""
        if was is None or not was.is_current or was.content == content:
            return False
        return self.origins.is_of_same_file(was.row, origin)

    def _wait(self, one: _Came) -> None:
        waiting = self.waiting.setdefault(one.doc_id, [])
        if waiting and waiting[-1].content == one.content:
            self.figures.n_unchanged += 1
        else:
            waiting.append(one)

    def _new_versions(self, came: Iterable[_Came], was: Newest, rows: LoadRows) -> Newest:
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

    def _new_content(self, digest: bytes, examined: Examined, rows: LoadRows) -> int:
        number = self.next_content
        self.next_content += 1
        rows.contents.append((number, *examined.contents[digest]))
        rows.profiles.append((number, *examined.profiles[digest]))
        return number

    def _new_version(self, one: _Came, was: Newest | None, rows: LoadRows) -> Newest:
        version, row = 1 if was is None else was.version + 1, self.next_row
        self.next_row += 1
        self.changes_ids |= was is not None
        values = row, one.doc_id, version, one.content, self.number, one.source, one.line
        rows.documents[row] = [*values, True, None]
        self.digest.take(one.doc_id, one.digest)
        if one.origin is not None:
            self.origins.take(row, one.doc_id, one.origin)
        return Newest(version=version, row=row, content=one.content, is_current=True)

    def finish(self) -> Figures:
        """Write the load's counts and digest; a load that added nothing leaves no trace."""
        self._bring_back()
        self._remove_gone()
        origins.forget_solved(self.connection, self.failed.solved())
        loads, waves, figures = schema.loads, schema.waves, self.figures
        mine = loads.c.load == self.number
        is_any = figures.n_new or figures.n_new_versions or self.writer.n_new_problems or self.origins.n_written
        if is_any or self.removed.number is not None:
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

    def _remove_gone(self) -> None:
        """Remove what the added files contained before."""
        if self.files is None:
            return
        gone = self.files.gone(self.connection, self.seen, self.wave)
        self.removed = remove_rows(
            self.connection,
            [schema.documents.c.row.in_(some) for some in in_slices(gone.rows)],
            [schema.origins.c.number.in_(some) for some in in_slices(gone.unread)],
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
        for some in in_slices(list(self.waiting)):
            newest = newest_of(self.connection, set(some), wave=self.wave, load=self.number)
            rows = LoadRows()
            for doc_id in some:
                self._new_versions(self.waiting[doc_id], newest[doc_id], rows)
            self.writer.write(rows, self.origins, self.figures)
        self.waiting.clear()


def _new_name(connection: Connection, number: int) -> str:
    """Return the default name of a wave: the first free one from this number."""
    names = set(connection.execute(select(schema.waves.c.name)).scalars())
    return next(name for name in (f"wave {i}" for i in count(number)) if name not in names)
