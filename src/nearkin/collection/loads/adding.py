"""A load: the documents of one command, stored in one transaction.

Readers see all of a load or nothing, and an interrupted process leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial

from sqlalchemy import select

from nearkin.collection.counting import TextCounting
from nearkin.collection.decisions.contradictions import contradiction_of_load
from nearkin.collection.loads.gone_members import AddedFiles
from nearkin.collection.loads.incoming import Examined, FailedRecords, Incoming, examine
from nearkin.collection.loads.known_texts import KnownTexts, known_texts
from nearkin.collection.loads.loading import Load
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored.documents import checked_wave
from nearkin.collection.stored.origins import failed_places
from nearkin.collection.stored.purged import PURGED
from nearkin.engines.local import map_ordered
from nearkin.errors import DocumentError, NearkinError, ParameterError
from nearkin.stages.documents.members import place_text
from nearkin.stages.documents.rules import ReadingRules
from nearkin.store import schema
from nearkin.store.store import Store
from nearkin.wording import WarningMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """Counts of what a load stored.

    Parameters
    ----------
    wave : str
    n_new : int
        Documents whose ids were not in the collection, or had been removed.
    n_restored : int
        Number of the new documents that had been removed, and were added again with a text that they had before.
    first_restored : tuple of str
        Ids of the first five of them.
    n_new_versions : int
        Documents whose text differs from the current one of their id.
    n_unchanged : int
        Documents already stored with the same id and text; also documents whose text this wave added before, and
        another wave has replaced.
    n_replaced : int
        Number of documents of the latter kind: their added text is not current.
    first_replaced : tuple of str
        Ids of the first five of them.
    n_problems : int
        Documents that could not be stored; listed in the table of problems.
    n_erased : int
        Number of these whose text was purged.
    n_not_stored : int
        Number of these that were read, and are not stored because of their id or size.
    n_listed_before : int
        Number of these, without those whose text was purged, that an earlier load listed under their id with the same
        problem: they are not listed again.
    n_shared_ids : int
        Number of the latter whose id another document of the load has, with another text.
    first_shared_id : str or None
        File of the first of them: its path from the folder above all files that share a name.
    folder_above : str or None
        That folder, if files of several folders share a name: added as a whole, it gives each file its own id.
    n_changed_places : int
        Number of the new versions whose document has no id of its own: it is named after its line, or is standard
        input. If lines moved, or the source is another one, these are other documents.
    first_changed_places : tuple of str
        Ids of the first five of them.
    n_unlike : int
        Number of the new versions that are named after their file, and have a text that has almost nothing in common
        with the one before: they may be other files with the same name.
    first_unlike : tuple of str
        Ids of the first five of them.
    n_contents : int
        Texts that the collection did not have under any id.
    n_repeated : int
        New versions whose id occurred before in the same load.
    n_same_again : int
        Number of the unchanged documents whose id occurred before in the same load, with the same text.
    n_earlier_texts : int
        New versions whose text the document had had before this load.
    n_repaired : int
        Stored texts that were damaged, and have been replaced by the added ones.
    n_no_text, n_partial : int
        Exceptions, as `nearkin exceptions` lists them: documents without text, including blank ones; documents with
        only a part of their text.
    n_extracted : int
        Documents that were extracted from files, with or without text.
    n_members : int
        Number of these that were inside another file: attachments, and members of archives.
    n_in_part, n_not_read : int
        Extracted documents of which a part of the text is missing; extracted documents without text.
    n_other_extractor : int
        Documents with the same bytes as the stored ones, but from which another extractor made another text. The stored
        text is kept, and these documents are also counted as unchanged.
    n_by_ocr : int
        Documents whose text was recognised in images, wholly or partly.
    removed : tuple of str
        Documents that their files contained when the files were added before, and no longer contain.
    removed_unread : tuple of str
        Such documents that had no text.
    contradiction : str or None
        Decisions that contradict each other with the texts that are stored now: groups are refused until one of them is
        undone. Not computed, and None, if no stored id got another text: new ids have no decisions.
    is_dry_run : bool
        Whether nothing was stored, and the counts are what a load would store.
    """

    wave: str
    n_new: int
    n_new_versions: int
    n_unchanged: int
    n_problems: int
    n_contents: int
    n_erased: int = 0
    n_repeated: int = 0
    n_same_again: int = 0
    n_earlier_texts: int = 0
    n_repaired: int = 0
    n_no_text: int = 0
    n_partial: int = 0
    n_extracted: int = 0
    n_members: int = 0
    n_in_part: int = 0
    n_not_read: int = 0
    n_other_extractor: int = 0
    n_by_ocr: int = 0
    removed: tuple[str, ...] = ()
    removed_unread: tuple[str, ...] = ()
    contradiction: str | None = None
    is_dry_run: bool = False
    n_not_stored: int = 0
    n_listed_before: int = 0
    n_shared_ids: int = 0
    first_shared_id: str | None = None
    folder_above: str | None = None
    n_restored: int = 0
    first_restored: tuple[str, ...] = ()
    n_changed_places: int = 0
    first_changed_places: tuple[str, ...] = ()
    n_unlike: int = 0
    first_unlike: tuple[str, ...] = ()
    n_replaced: int = 0
    first_replaced: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return asdict(self)

    @property
    def n_documents(self) -> int:
        """Number of the load's documents that are now in the collection."""
        return self.n_new + self.n_new_versions + self.n_unchanged


def add_incoming(
    opened: OpenedCollection,
    incoming: Iterable[Incoming],
    *,
    wave: str | None,
    threads: int,
    rules: ReadingRules,
    re_extract: bool = False,
    are_files: bool = False,
    by: str | None = None,
    dry_run: bool = False,
) -> Added:
    """Store documents, and index them; see `add`."""
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise ParameterError.of("threads", "an int >= 1", threads)
    added = add(
        opened.store,
        opened.counting,
        incoming,
        wave=wave,
        threads=threads,
        rules=rules,
        re_extract=re_extract,
        are_files=are_files,
        by=by,
        dry_run=dry_run,
    )
    if dry_run:
        return added
    try:
        with noted_as_stored(is_done=True):
            opened.settle()
    except (NearkinError, OSError) as error:  # what was added is stored all the same
        told = f"the documents are stored; the next query makes their index ({error})"
        opened.progress.say(WarningMessage(told))
    return added


def add(
    store: Store,
    counting: TextCounting,
    incoming: Iterable[Incoming],
    *,
    wave: str | None,
    threads: int,
    rules: ReadingRules,
    re_extract: bool = False,
    are_files: bool = False,
    by: str | None = None,
    dry_run: bool = False,
) -> Added:
    """Store documents; if anything fails, none is stored.

    Parameters
    ----------
    store : Store
    counting : TextCounting
    incoming : iterable of Incoming
    wave : str, optional
        Name of a new wave or of an existing one, which grows; by default "wave 1", "wave 2", …
    threads : int
        Number of threads that count and sign.
    rules : ReadingRules
        Whether an unreadable document ends the load, and how many may be unreadable.
    advice : mapping
        See `OpenedCollection`.
    re_extract : bool
        Whether texts replace those that another extractor made of the same bytes.
    are_files : bool
        Whether every file among the sources is read whole: what it contained before and contains no more is removed.
    by : str, optional
        Name of a person: what is stored is then an activity of theirs in the log.
    dry_run : bool
        Store nothing: the transaction is rolled back.

    Raises
    ------
    DocumentError, SourceError
        See `ReadingRules`; nothing is stored.
    """
    wave = None if wave is None else checked_wave(wave)

    def known(digests: Sequence[bytes]) -> KnownTexts:
        with store.reading() as own:
            return known_texts(own, digests)

    commit = Commit(store)
    with _rolled_back() if dry_run else commit.noted(), store.writing() as connection:
        load = Load.begin(connection, store, counting, wave)
        load.files = AddedFiles() if are_files else None
        load.origins.re_extract, load.by = re_extract, by
        load.failed = FailedRecords(failed_places(connection))
        unreadable = _Unreadable()
        work = partial(examine, counting=counting, known=known, wave=load.name)
        for examined in map_ordered(work, incoming, threads=threads):
            if rules.on_error == "stop":
                _stop_at_problems(examined)
            load.failed.take(examined)
            load.store(examined)
            if rules.on_error == "stop":
                _stop_at_problems(examined)  # ids that other documents have, too
            unreadable.take(examined)
        rules.check_readable(unreadable.n, unreadable.n_documents, unreadable.first)
        added = _added(load, is_dry_run=dry_run)
        if dry_run:
            raise _RolledBackError
        commit.load = load
    return added


class _RolledBackError(Exception):
    """Ends the transaction of a dry run."""


@contextmanager
def _rolled_back() -> Iterator[None]:
    with suppress(_RolledBackError):
        yield


def _added(load: Load, *, is_dry_run: bool) -> Added:
    figures = asdict(load.finish()) | asdict(load.origins.figures)
    return Added(
        wave=load.name,
        n_contents=load.next_content - load.first_content,
        removed=load.removed.doc_ids,
        removed_unread=load.removed.unread_ids,
        contradiction=contradiction_of_load(load.connection) if load.changes_ids else None,
        is_dry_run=is_dry_run,
        **figures,
    )


def _stop_at_problems(examined: Examined) -> None:
    columns = examined.doc_ids, examined.sources, examined.lines, examined.problems
    for doc_id, source, line, problem in zip(*columns):
        if problem is not None:
            raise DocumentError(f"{place_text(doc_id, source, line)}: {problem}. Nothing was stored.")


@dataclass(slots=True)
class _Unreadable:
    """Documents of a load that cannot be stored, counted."""

    n: int = 0
    n_documents: int = 0
    first: str = ""

    def take(self, examined: Examined) -> None:
        """Count the problems of a batch."""
        self.n_documents += len(examined.problems)
        columns = examined.doc_ids, examined.sources, examined.lines, examined.problems
        for doc_id, source, line, problem in zip(*columns):
            if problem not in (None, PURGED):
                self.n += 1
                self.first = self.first or f"{place_text(doc_id, source, line)}: {problem}"


_STORED = "All documents of this command are stored."


@dataclass(slots=True)
class Storing:
    """Whether the documents of a command are stored."""

    is_done: bool = False


@contextmanager
def noted_as_stored(*, is_done: bool = False) -> Iterator[Storing]:
    """Say that the documents are stored if the block is interrupted after it set ``is_done``."""
    storing = Storing(is_done)
    try:
        yield storing
    except KeyboardInterrupt as error:
        if storing.is_done:
            _note(error)
        raise


class Commit:
    """The end of a load's transaction, during which an interruption can arrive before or after the load is stored.

    Attributes
    ----------
    load : Load or None
        The load, once all of it was written.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.load: Load | None = None

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Say that the documents are stored if the block is interrupted and the database has the load."""
        try:
            yield
        except KeyboardInterrupt as error:
            if self.load is not None and self._is_stored(self.load):
                _note(error)
            raise

    def _is_stored(self, load: Load) -> bool:
        loads = schema.loads.c
        same = (loads.load == load.number, loads.added_at == load.added_at, loads.digest == load.digest.digest())
        with suppress(NearkinError), self._store.reading() as connection:
            return connection.execute(select(loads.load).where(*same)).first() is not None
        return False


def _note(error: KeyboardInterrupt) -> None:
    if _STORED not in getattr(error, "__notes__", ()):
        error.add_note(_STORED)
