"""Restoration of damaged and missing stored texts by the added ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from nearkin.collection.counting import TextCounting
from nearkin.collection.loads.figures import Figures
from nearkin.collection.loads.incoming import Examined
from nearkin.collection.loads.known_texts import repair, with_lost_digests
from nearkin.collection.loads.missing_texts import missing_of, proven, put_back
from nearkin.collection.stored.newest import Newest
from nearkin.collection.stored.segments import believable_loads
from nearkin.store.store import Store


@dataclass(slots=True, kw_only=True)
class Restoring:
    """Stored texts that a load restores.

    Attributes
    ----------
    connection : Connection
        In a write transaction.
    collection_store : Store
    counting : TextCounting
    repaired : set of bytes
        Digests of the texts that were damaged.
    missing : set of int
        Numbers of the texts that were missing, whether they have been restored or not.
    """

    connection: Connection
    collection_store: Store
    counting: TextCounting
    repaired: set[bytes] = field(default_factory=set)
    missing: set[int] = field(default_factory=set)

    def copy(self) -> Restoring:
        """Copy the state; see `Load.copy`."""
        return replace(self, repaired=set(self.repaired), missing=set(self.missing))

    def restore(
        self, examined: Examined, newest: dict[str, Newest], numbers: dict[bytes, int], figures: Figures
    ) -> None:
        """Restore what the texts of a batch prove, before they are stored.

        Parameters
        ----------
        examined : Examined
        newest : dict of str to Newest
            What is stored of the ids.
        numbers : dict of bytes to int
            By digest, the number of each stored text; restored texts are entered.
        figures : Figures
            Restored and missing texts are counted.
        """
        self._repair_damaged(examined, numbers, figures)
        lost = with_lost_digests(self.connection, self._added_to(examined, newest, numbers))
        numbers |= lost
        figures.n_repaired += len(lost)
        self._put_back_missing(examined, newest, numbers, figures)

    def _repair_damaged(self, examined: Examined, numbers: dict[bytes, int], figures: Figures) -> None:
        for digest in examined.damaged - self.repaired:
            number = numbers.get(digest)
            if number is not None:
                content, profile = examined.contents[digest], examined.profiles[digest]
                repair(self.connection, self.collection_store, self.counting, number, content, profile)
                self.repaired.add(digest)
                figures.n_repaired += 1

    def _put_back_missing(
        self, examined: Examined, newest: dict[str, Newest], numbers: dict[bytes, int], figures: Figures
    ) -> None:
        """Restore missing texts if the digest of their load proves that the added ones are the same."""
        came = dict[int, set[bytes]]()
        for was, digest in _texts_for(examined, newest):
            if was.content >= 0 and was.content != numbers.get(digest):
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
        figures.n_repaired += len(found)
        figures.n_missing += len(missing) - len(found)

    @staticmethod
    def _added_to(examined: Examined, newest: dict[str, Newest], numbers: dict[bytes, int]) -> dict[int, set[bytes]]:
        """Return, by content, the digests of unknown texts that are added for a document with this content."""
        added = dict[int, set[bytes]]()
        for was, digest in _texts_for(examined, newest):
            if digest not in numbers:
                added.setdefault(was.content, set()).add(digest)
        return added


def _texts_for(examined: Examined, newest: dict[str, Newest]) -> Iterator[tuple[Newest, bytes]]:
    """Yield each added text whose id is stored, with the newest version of the id."""
    for doc_id, digest, problem in zip(examined.doc_ids, examined.digests, examined.problems, strict=True):
        was = newest.get(doc_id)
        if problem is None and was is not None:
            yield was, digest
