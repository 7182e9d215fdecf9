"""Documents that are checked and stored one after another, in one exclusive transaction."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from functools import partial

from sqlalchemy import Connection, select

from nearkin.collection.check_in.candidates import Query
from nearkin.collection.check_in.checking import check, mark_resent
from nearkin.collection.check_in.results import Checked, CheckOptions, Verdict
from nearkin.collection.loads.incoming import Examined, Incoming, examine
from nearkin.collection.loads.known_texts import known_texts, numbers_of, repair
from nearkin.collection.loads.loading import Load
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored.key_table import KEYS, append, fill, mark_complete
from nearkin.collection.stored.purged import PURGED
from nearkin.errors import InputError, ParameterError, quoted
from nearkin.store import schema


class CheckInTransaction:
    """Check-ins in one write transaction: each document is also compared with those stored before it.

    Parameters
    ----------
    connection : Connection
        In a write transaction.
    collection : OpenedCollection
    incoming : Incoming
        The documents, in order.
    wave : str
    by : str, optional
        Name of the person in the log, which otherwise has nothing of what is stored.
    """

    def __init__(
        self,
        connection: Connection,
        collection: OpenedCollection,
        incoming: Incoming,
        wave: str,
        *,
        by: str | None = None,
    ) -> None:
        self._connection, self._collection, self._wave, self._by = connection, collection, wave, by
        self._examined = examine(incoming, collection.counting, known=partial(known_texts, connection), wave=wave)
        self._load: Load | None = None
        fill(connection, collection.store, collection.counting, collection.progress)
        self._state = KEYS.reach(connection, collection.store)  # what is stored below is stored with its keys

    def take(
        self,
        place: int,
        query: Query,
        options: CheckOptions,
        *,
        refused: Container[Verdict],
    ) -> Checked:
        """Check the document at a position, and store it unless its verdict is refused.

        Raises
        ------
        ParameterError
            The document cannot be stored, whatever the answer is.
        InputError
            Its text was erased by a purge.
        CollectionError
            Nothing similar was found, but a damaged stored text may be similar.
        """
        one = _document_at(self._examined, place)
        if one.problems[0] is not None:
            kind = InputError if one.problems[0] == PURGED else ParameterError
            raise kind(f"The document {quoted(one.doc_ids[0])} cannot be stored: {one.problems[0]}.")
        is_repaired = self._repaired(one)
        store, counting = self._collection.store, self._collection.counting
        checked = check(self._connection, store, counting, query, options, state=self._state)
        checked = replace(checked, is_repaired=is_repaired)
        checked = mark_resent(self._connection, checked, one.doc_ids[0], query)
        if checked.verdict not in refused:
            checked = replace(checked, stored_as=one.doc_ids[0], version=self._stored(one, query))
        return checked

    def is_purged(self, place: int) -> bool:
        """Whether the document at a position is refused because its text was erased by a purge."""
        return self._examined.problems[place] == PURGED

    def finish(self) -> None:
        """Write the counts and seals of the stored documents."""
        if self._load is not None:
            self._load.finish()
            mark_complete(self._connection, self._collection.store, self._load.next_content)

    def _repaired(self, one: Examined) -> bool:
        """Replace the damaged stored copy of a text, even if the document itself is not stored."""
        digest = one.digests[0]
        if digest not in self._examined.damaged:
            return False
        repair(
            self._connection, self._collection.store, self._collection.counting,
            numbers_of(self._connection, [digest])[digest], one.contents[digest], one.profiles[digest],
        )  # fmt: skip
        self._examined.damaged.discard(digest)
        return True

    def _stored(self, one: Examined, query: Query) -> int:
        """Store a document and the keys of its text, or neither; return its version."""
        with self._connection.begin_nested():
            load = self._load.copy() if self._load is not None else self._begun()
            number = load.next_content
            load.store(replace(one, damaged=set()))
            if load.next_content > number and not load.writer.keeps_words:
                append(self._connection, self._collection.counting, [number], [query.text], query.keys)
            documents = schema.documents.c
            is_it = (documents.doc_id == one.doc_ids[0]) & documents.is_current
            version = int(self._connection.execute(select(documents.version).where(is_it)).scalar_one())
        self._load = load
        return version

    def _begun(self) -> Load:
        load = Load.begin(self._connection, self._collection.store, self._collection.counting, self._wave)
        load.brings_back, load.by = True, self._by
        return load


def _document_at(examined: Examined, place: int) -> Examined:
    """Return one of the documents as a batch."""
    digest = examined.digests[place]
    of_text = {digest} & examined.contents.keys()
    return Examined(
        doc_ids=[examined.doc_ids[place]],
        sources=[examined.sources[place]],
        lines=[examined.lines[place]],
        problems=[examined.problems[place]],
        digests=[digest],
        contents={one: examined.contents[one] for one in of_text},
        profiles={one: examined.profiles[one] for one in of_text},
        damaged=set(),
        origins={0: examined.origins[place]} if place in examined.origins else {},
        blank=frozenset({0} if place in examined.blank else ()),
    )
