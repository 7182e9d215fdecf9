"""One load: the documents of one command, stored in one transaction.

Whoever reads sees all of a load or nothing of it, and a process that ends in the middle leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from sqlalchemy import Connection

from nearkin.collection.counting import TextCounting
from nearkin.collection.documents import checked_wave
from nearkin.collection.incoming import Examined, Incoming, examine
from nearkin.collection.known_texts import KnownTexts, known_texts
from nearkin.collection.loading import Load
from nearkin.engines.local import map_ordered
from nearkin.errors import DocumentError
from nearkin.stages.documents.rules import ReadingRules
from nearkin.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
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
        Documents that could not be stored; told in the table of problems.
    n_contents : int
        Texts that the collection did not have under any id.
    n_repeated : int
        Of the new versions those whose id came before in the same load.
    n_repaired : int
        Stored texts, and rows of documents, that were damaged or missing and are as they were again.
    n_missing : int
        Texts of documents that came which are missing from the store. What came is not proven to be the same, and is
        stored as a new version.
    """

    wave: str
    n_new: int
    n_new_versions: int
    n_unchanged: int
    n_problems: int
    n_contents: int
    n_repeated: int = 0
    n_repaired: int = 0
    n_missing: int = 0

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)

    @property
    def n_documents(self) -> int:
        """Documents that are in the collection now, of those that came."""
        return self.n_new + self.n_new_versions + self.n_unchanged


def add(
    store: Store,
    counting: TextCounting,
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
    counting : TextCounting
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

    def known(digests: Sequence[bytes]) -> KnownTexts:
        with store.reading() as own:
            return known_texts(own, digests)

    with store.writing() as connection:
        load = Load.begin(connection, store, counting, wave)
        unreadable = _Unreadable()
        work = partial(examine, counting=counting, known=known, wave=load.name)
        for examined in map_ordered(work, incoming, threads=threads):
            if rules.on_error == "stop":
                _stop_at_problems(examined)
            unreadable.take(examined)
            load.store(examined)
        rules.check_readable(unreadable.n, unreadable.n_documents, unreadable.first)
        return _added(load)


def add_one(
    connection: Connection, store: Store, counting: TextCounting, examined: Examined, *, wave: str
) -> tuple[Added, str | None]:
    """Store a batch inside a transaction of the caller's, and tell the first problem of its documents, if any.

    Each is meant as it comes: one that the same wave brought before becomes current again.
    """
    load = Load.begin(connection, store, counting, wave)
    load.brings_back = True
    load.store(examined)
    return _added(load), next((problem for problem in examined.problems if problem is not None), None)


def _added(load: Load) -> Added:
    return Added(wave=load.name, n_contents=load.next_content - load.first_content, **asdict(load.finish()))


def _stop_at_problems(examined: Examined) -> None:
    for source, line, problem in zip(examined.sources, examined.lines, examined.problems):
        if problem is not None:
            raise DocumentError(
                f"{source}:{line}: {problem}. The run stops at bad documents because of --on-error stop; nothing was "
                "stored."
            )


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
