"""A load: the documents of one command, stored in one transaction."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain

from sqlalchemy import Connection

from nearkin.collection.loads.incoming import Examined, Incoming, KnownTexts, examine, known_texts
from nearkin.collection.loads.loading import Load, new_name
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored.contents import PURGED
from nearkin.collection.stored.documents import checked_wave
from nearkin.engines.local import map_ordered
from nearkin.errors import CollectionBusyError, DocumentError, NearkinError, check_int
from nearkin.stages.documents.members import place_text
from nearkin.stages.documents.rules import ReadingRules, is_beside
from nearkin.store.connections import BETWEEN_TRIES_S
from nearkin.store.store import Store
from nearkin.tabular import AnswerRecord
from nearkin.wording import WarningMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Added(AnswerRecord):
    """Counts of what a load stored.

    Parameters
    ----------
    n_new
        Documents whose ids were not in the collection, or had been removed.
    n_new_versions, n_unchanged
        Documents whose text differs from the current one of their id, or is the same.
    n_exceptions
        Documents that are not stored, or have no text or only a part of it, as `nearkin exceptions` lists them.
    n_problems
        Number of those that are not stored.
    n_contents
        Texts that the collection did not have under any id.
    """

    wave: str
    n_new: int
    n_new_versions: int
    n_unchanged: int
    n_exceptions: int
    n_problems: int
    n_contents: int
    is_dry_run: bool = False

    @property
    def n_documents(self) -> int:
        """Number of the load's documents that are now in the collection."""
        return self.n_new + self.n_new_versions + self.n_unchanged


_PREPARED_BYTES = 1 << 26
"""Bytes of documents that are read and prepared before the load begins; only the rest of a longer one waits for it."""


def add_incoming(
    opened: OpenedCollection,
    incoming: Iterable[Incoming],
    *,
    wave: str | None,
    threads: int,
    rules: ReadingRules,
    by: str | None = None,
    dry_run: bool = False,
) -> Added:
    """Store documents, and index them; if anything fails, none is stored."""
    check_int("threads", threads, 1)
    wave, store, counting = None if wave is None else checked_wave(wave), opened.store, opened.counting

    def known(digests: Sequence[bytes]) -> KnownTexts:
        with store.reading() as reader:
            return known_texts(reader, digests)

    rest, began_at = iter(incoming), time.monotonic()
    look = partial(examine, counting=counting, known=known, dialect=store.dialect)
    first, n_bytes = list[Incoming](), 0
    while n_bytes < _PREPARED_BYTES and (batch := next(rest, None)) is not None:
        first.append(batch)
        n_bytes += batch.batch.nbytes
    with store.reading() as reader:
        generation, name = store.generation(reader), wave or new_name(reader)
    # before others are kept from writing
    ready = list(map_ordered(partial(look, wave=name), first, threads=threads))
    took_s = time.monotonic() - began_at
    with suppress(_RolledBackError), _writing(store, at_least_s=took_s) as connection:
        load = Load.begin(connection, store, counting, wave)
        load.by = by
        n_unreadable, n_beside, n_documents, first_problem = 0, 0, 0, ""
        if (store.generation(connection), load.name) != (generation, name):
            rest, ready = chain(first, rest), []  # meanwhile texts were erased, or another wave has got the name
        for examined in chain(ready, map_ordered(partial(look, wave=load.name), rest, threads=threads)):
            load.store(examined)
            n_documents += len(examined.problems)
            for place, problem in _problems(examined):
                if rules.on_error == "stop":
                    raise DocumentError(f"{place}: {problem}. Nothing was stored.")
                if problem != PURGED:
                    n_unreadable += 1
                    n_beside += is_beside(problem, with_ocr=rules.ocr is not None)
                    first_problem = first_problem or f"{place}: {problem}"
        rules.check_readable(n_unreadable, n_documents, first_problem, n_beside=n_beside)
        n_contents = load.next_content - load.first_content
        added = Added(wave=load.name, n_contents=n_contents, is_dry_run=dry_run, **asdict(load.finish()))
        if dry_run:
            raise _RolledBackError
    try:
        if not dry_run:
            opened.settle()
    except (NearkinError, OSError) as error:  # what was added is stored all the same
        sentence = f"the documents are stored; the next query makes their index ({error})"
        opened.progress.say(WarningMessage(sentence))
    return added


@contextmanager
def _writing(store: Store, *, at_least_s: float) -> Iterator[Connection]:
    """Begin to write; who would lose long work waits for the other writer as long as that work took."""
    until = time.monotonic() + at_least_s
    with ExitStack() as entered:
        while True:
            try:
                connection = entered.enter_context(store.writing())
                break
            except CollectionBusyError:
                if time.monotonic() >= until:
                    raise
                time.sleep(BETWEEN_TRIES_S)
        yield connection


class _RolledBackError(Exception):
    """Ends the transaction of a dry run."""


def _problems(examined: Examined) -> Iterator[tuple[str, str]]:
    columns = examined.doc_ids, examined.sources, examined.lines, examined.problems
    for doc_id, source, line, problem in zip(*columns, strict=True):
        if problem is not None:
            yield place_text(doc_id, source, line), problem
