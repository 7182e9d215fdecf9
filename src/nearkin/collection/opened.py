"""An open collection: store, index, methods, and snapshots of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection

from nearkin.collection.counting import DEFAULT_ALPHABET, TextCounting
from nearkin.collection.stored.load_spans import Loads
from nearkin.errors import CollectionError, FingerprintError, ParameterError
from nearkin.paths import path_of
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.documents.ignoring import NOTHING, Ignored
from nearkin.stages.features.letters import Alphabet, LetterCounts
from nearkin.stages.signatures.similarity_index import SimilarityIndex
from nearkin.store.environment import usual_cache
from nearkin.store.failures import reason_of
from nearkin.store.place import FILE, Place
from nearkin.store.store import Access, Store

if TYPE_CHECKING:
    from nearkin.collection.stored.segment_files import Segment
    from nearkin.collection.stored.segments import Segments

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """View of one query: the store at one moment, and the segments that belong to it."""

    connection: Connection
    segments: tuple[Segment, ...]


class OpenedCollection:
    """Store, index and methods that all queries and changes of a collection use."""

    def __init__(self, store: Store, cache: Path | None, progress: Progress) -> None:
        self.place, self.store, self.progress = store.place, store, progress
        self.counting = TextCounting.of(store.facts)
        self.loads, self._cache = Loads(store), cache
        # beside SQLite's file, or in the cache
        folder = None if self.place.directory is None else self.place.directory.absolute() / "segments"
        self._folder = folder or (cache or usual_cache()) / self.place.name_outside(store.facts["collection"])

    @classmethod
    def open(
        cls,
        path_or_url: str | Path,
        *,
        create: bool = False,
        alphabet: Alphabet | None = None,
        similarity_index: SimilarityIndex | str | None = None,
        ignored: Ignored | None = None,
        cache: str | Path | None = None,
        access: Access | None = None,
        progress: Progress | None = None,
    ) -> OpenedCollection:
        """Open a collection; see `Collection.open`."""
        place = Place.parse(path_or_url)
        index = chosen(similarity_index) or SimilarityIndex()
        if ignored is not None and not isinstance(ignored, Ignored):
            raise ParameterError.of("ignored", "an Ignored", ignored)
        letters = LetterCounts(DEFAULT_ALPHABET if alphabet is None else alphabet)
        facts = TextCounting(letters, index, NOTHING if ignored is None else ignored).facts()
        own_cache = None if cache is None else path_of(cache, "cache").absolute()
        progress = Silent() if progress is None else progress
        store = Store.open(place, facts, create=create, access=access)
        try:
            opened = cls(store, own_cache, progress)
            counting = opened.counting
            for name, given, kept, kind in (
                ("alphabet", alphabet, counting.letters.alphabet, ParameterError),
                ("ignored", ignored, counting.ignored, ParameterError),
                ("similarity_index", similarity_index and index.spec, counting.similarity_index.spec, FingerprintError),
            ):
                if given is not None and given != kept:
                    was, now = (str(setting).strip(";") or "nothing" for setting in (kept, given))
                    raise kind(
                        f"{place} was created with {was!r}, which cannot be changed later. Omit it, or add the "
                        f"documents to a new collection. Got: {now!r}",
                        parameter=name,
                    )
        except BaseException:
            store.close()
            raise
        return opened

    @cached_property
    def index(self) -> Segments:
        """Segments derived from the store, rebuilt whenever they are missing."""
        from nearkin.collection.stored.segments import Segments  # a check or a comparison needs none

        return Segments(
            self._folder,
            self.store.facts["collection"],
            self.counting,
            is_read_only=self.store.access.is_read_only,
            database=None if self.place.directory is None else self._folder.with_name(FILE),
        )

    def stores(self, what: str, store: Callable[[], object]) -> bool:
        """Store derived data; False, with a remark, if permission is denied or another process is writing."""
        try:
            store()
        except CollectionError as error:
            self.progress.say(
                f"{what} cannot be stored ({reason_of(error)}): they are computed for this call only, which is slower"
            )
            return False
        return True

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Open the store at this moment, with segments for all of its contents."""
        with self.store.reading() as connection:
            loads = self.loads.now(connection)
            yield Snapshot(connection, self.index.cover(connection, loads, self.progress, settle=False))

    def answered(self, ask: Callable[[Snapshot], Answer]) -> Answer:
        """Return the result of ``ask`` in a snapshot."""
        with self.snapshot() as seen:
            return ask(seen)

    def settle(self) -> None:
        """Index what was added, so that the first query need not."""
        with self.store.reading() as connection:
            self.index.cover(connection, self.loads.now(connection), self.progress, settle=True)

    def close(self) -> None:
        """Close the database."""
        self.store.close()

    def __enter__(self) -> OpenedCollection:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as arguments with which another process opens the collection again."""
        directory = self._folder.parent  # absolute: the other process may work elsewhere
        name = self.place.address if self.place.directory is None else str(directory)
        return partial(OpenedCollection.open, cache=self._cache, access=self.store.access), (name,)


def chosen(index: SimilarityIndex | str | None) -> SimilarityIndex | None:
    """Return the method named by the user."""
    if index is None or isinstance(index, SimilarityIndex):
        return index
    return SimilarityIndex.parse(index)
