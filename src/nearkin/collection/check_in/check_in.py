"""Checks whether a similar text is stored, and storage of the text in the same transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection, select

from nearkin.collection.check_in.candidates import Query
from nearkin.collection.check_in.checking import check, mark_resent
from nearkin.collection.check_in.results import (
    DROPPED_FROM_STREAMS,
    VERDICTS,
    CheckAnswer,
    Checked,
    CheckIn,
    CheckInMany,
    CheckOptions,
    Verdict,
    check_name,
)
from nearkin.collection.loads.incoming import Examined, Incoming, examine
from nearkin.collection.loads.known_texts import known_texts
from nearkin.collection.loads.loading import Load
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored.documents import checked_wave, is_current
from nearkin.collection.stored.key_table import KEYS, append, fill
from nearkin.collection.stored.purged import PURGED, purged_digests
from nearkin.errors import CollectionError, InputError, ParameterError, quoted
from nearkin.store import schema
from nearkin.store.failures import reason_of

Answer = TypeVar("Answer")
_SIMILAR = frozenset(VERDICTS) - {"new"}


def with_keys(collection: OpenedCollection, ask: Callable[[Connection, int | None], Answer]) -> Answer:
    """Return the answer in a snapshot, after missing keys were stored; and with the first that could not be stored."""
    with collection.store.reading() as connection:
        first = KEYS.first_missing(connection, collection.store)
        if first is None:
            return ask(connection, None)
    if first == 0:
        collection.progress.say("computing the keys of the stored texts (first check only)")
    try:
        with collection.store.writing() as connection:
            fill(connection, collection.store, collection.counting, collection.progress)
    except CollectionError as error:  # permission is denied, or another process is writing
        collection.progress.say(
            f"the keys of stored texts cannot be stored ({reason_of(error)}): they are computed for this call only, "
            "which is slower"
        )
    with collection.store.reading() as connection:
        return ask(connection, KEYS.first_missing(connection, collection.store))


def check_only(collection: OpenedCollection, text: str, options: CheckOptions) -> Checked:
    """Check a text without storing it; see `Collection.check`."""
    started = time.perf_counter()
    query = _query(collection, text, options)

    def ask(connection: Connection, first_missing: int | None) -> Checked:
        checked = check(connection, collection.counting, query, options, first_missing=first_missing)
        return replace(checked, is_purged=bool(purged_digests(connection, [query.digest])), elapsed_s=_since(started))

    return with_keys(collection, ask)


def check_in(collection: OpenedCollection, text: str, options: CheckOptions, under: CheckIn) -> Checked:
    """Check and store a text in one exclusive transaction; see `Collection.check`."""
    from nearkin.collection.loads.incoming import incoming_of

    wave, started = checked_wave(under.wave), time.perf_counter()
    query = _query(collection, text, options)  # refuses anything but text
    incoming = incoming_of([under.doc_id], [text], [1], under.source, under.file)
    prepared = _Ready.of(collection, incoming, wave)
    with collection.store.writing() as connection:
        if under.id_is_new is not None:
            under.refuse_other_id(is_current(connection, under.doc_id))
        inside = CheckInTransaction(connection, collection, prepared, wave, by=under.by)
        checked = inside.checked(0, query, options)
        checked = inside.stored(0, query, checked, refused=_SIMILAR if under.only_new else ())
        inside.finish()
    return replace(checked, elapsed_s=_since(started))


def check_many(
    collection: OpenedCollection,
    documents: Sequence[tuple[str, str]],
    options: CheckOptions,
    under: CheckInMany | None,
    *,
    stops: bool,
) -> tuple[CheckAnswer, ...]:
    """Check documents in order, and store them in one exclusive transaction; see `Collection.check_many`."""
    for one in documents:
        if not isinstance(one, tuple | list) or len(one) != 2:
            raise ParameterError.of("documents", "an iterable of pairs (id, text)", one)
    if under is not None:
        return _check_in_many(collection, documents, options, under, stops=stops)

    def answers(connection: Connection, first_missing: int | None) -> tuple[CheckAnswer, ...]:
        def ask(place: int) -> Checked:
            doc_id, text = documents[place]
            query = _query(collection, text, options)
            checked = check(connection, collection.counting, query, options, first_missing=first_missing)
            checked = mark_resent(connection, checked, doc_id, query)
            return replace(checked, is_purged=bool(purged_digests(connection, [query.digest])))

        return _answers(connection, documents, ask, stops=stops)

    return with_keys(collection, answers)


def _check_in_many(
    collection: OpenedCollection,
    documents: Sequence[tuple[str, str]],
    options: CheckOptions,
    under: CheckInMany,
    *,
    stops: bool,
) -> tuple[CheckAnswer, ...]:
    from nearkin.collection.loads.incoming import incoming_of

    wave, lines = checked_wave(under.wave), under.lines or range(1, len(documents) + 1)
    if len(lines) != len(documents):
        raise ParameterError.of("lines", f"one line per document, {len(documents)}", lines)
    queries = [_query_of_many(collection, doc_id, text, options) for doc_id, text in documents]
    ready = {i: query for i, query in enumerate(queries) if isinstance(query, Query)}
    places = {i: place for place, i in enumerate(ready)}
    incoming = incoming_of(
        [documents[i][0] for i in ready], [documents[i][1] for i in ready], [lines[i] for i in ready], under.source
    )
    refused = DROPPED_FROM_STREAMS if under.only_new else frozenset[Verdict]()
    prepared = _Ready.of(collection, incoming, wave)
    with collection.store.writing() as connection:
        inside = CheckInTransaction(connection, collection, prepared, wave, by=under.by)

        def take(place: int) -> Checked:
            query = queries[place]
            if isinstance(query, ParameterError):
                raise query
            return inside.checked(places[place], query, options)

        def store(place: int, checked: Checked) -> Checked:
            return inside.stored(places[place], ready[place], checked, refused=refused)

        answers = _answers(connection, documents, take, store, stops=stops)
        inside.finish()
    purged = {i for i, place in places.items() if inside.is_purged(place)}
    return tuple(replace(one, is_purged=True) if i in purged else one for i, one in enumerate(answers))


def _query(collection: OpenedCollection, text: str, options: CheckOptions) -> Query:
    return Query.of(collection.counting, text, with_index=options.measure == "index")


def _query_of_many(
    collection: OpenedCollection, doc_id: str, text: str, options: CheckOptions
) -> Query | ParameterError:
    try:
        check_name("doc_id", doc_id)
        return _query(collection, text, options)
    except ParameterError as error:
        return error


def _answers(
    connection: Connection,
    documents: Sequence[tuple[str, str]],
    ask: Callable[[int], Checked],
    store: Callable[[int, Checked], Checked] = lambda _, checked: checked,
    *,
    stops: bool,
) -> tuple[CheckAnswer, ...]:
    """Return the answers in order; if the check stops at a problem, those up to the first document with a problem.

    If a document cannot be checked, the others are checked all the same; if one cannot be stored, none is.
    """
    answers = list[CheckAnswer]()
    for place, (doc_id, _) in enumerate(documents):
        started = time.perf_counter()
        try:
            checked = ask(place)
        except (ParameterError, InputError, CollectionError) as error:
            if connection.invalidated:  # the database does not answer: that concerns all documents
                raise
            answers.append(CheckAnswer(doc_id=doc_id, problem=str(error)))
            if stops:
                break
        else:
            checked = replace(store(place, checked), elapsed_s=_since(started))
            answers.append(CheckAnswer(doc_id=doc_id, checked=checked))
    return tuple(answers)


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 4)


@dataclass(frozen=True, slots=True)
class _Ready:
    """Documents that were examined before others are kept from writing.

    Parameters
    ----------
    incoming : Incoming
    examined : Examined
    generation : int
        See `Store.generation`; if it was raised since, texts may have been erased or repaired.
    """

    incoming: Incoming
    examined: Examined
    generation: int

    @classmethod
    def of(cls, collection: OpenedCollection, incoming: Incoming, wave: str) -> _Ready:
        """Examine documents."""
        with collection.store.reading() as connection:
            generation = collection.store.generation(connection)
            return cls(incoming, _examined(connection, collection, incoming, wave), generation)

    def now(self, connection: Connection, collection: OpenedCollection, wave: str) -> Examined:
        """Return what is true in a write transaction."""
        if collection.store.generation(connection) == self.generation:
            return self.examined
        return _examined(connection, collection, self.incoming, wave)


def _examined(connection: Connection, collection: OpenedCollection, incoming: Incoming, wave: str) -> Examined:
    known, dialect = partial(known_texts, connection), collection.store.dialect
    return examine(incoming, collection.counting, known=known, wave=wave, dialect=dialect)


class CheckInTransaction:
    """Check-ins in one write transaction: each document is also compared with those stored before it.

    Parameters
    ----------
    connection : Connection
        In a write transaction.
    collection : OpenedCollection
    ready : _Ready
        The documents, in order.
    wave : str
    by : str, optional
        Name of the person in the log, which otherwise has nothing of what is stored.
    """

    def __init__(
        self,
        connection: Connection,
        collection: OpenedCollection,
        ready: _Ready,
        wave: str,
        *,
        by: str | None = None,
    ) -> None:
        self._connection, self._collection, self._wave, self._by = connection, collection, wave, by
        self._examined = ready.now(connection, collection, wave)
        self._load: Load | None = None
        fill(connection, collection.store, collection.counting, collection.progress)

    def checked(self, place: int, query: Query, options: CheckOptions) -> Checked:
        """Check the document at a position.

        Raises
        ------
        ParameterError
            The document cannot be stored, whatever the answer is.
        InputError
            Its text was erased by a purge.
        CollectionError
            The stored text of a candidate is damaged.
        """
        doc_id, problem = self._examined.doc_ids[place], self._examined.problems[place]
        if problem is not None:
            kind = InputError if problem == PURGED else ParameterError
            raise kind(f"The document {quoted(doc_id)} cannot be stored: {problem}.")
        checked = check(self._connection, self._collection.counting, query, options, first_missing=None)
        return mark_resent(self._connection, checked, doc_id, query)

    def stored(self, place: int, query: Query, checked: Checked, *, refused: Container[Verdict]) -> Checked:
        """Store the document at a position with the keys of its text, unless its verdict is refused."""
        if checked.verdict in refused:
            return checked
        if self._load is None:
            self._load = Load.begin(self._connection, self._collection.store, self._collection.counting, self._wave)
            self._load.takes_repeated_ids, self._load.by = True, self._by
        load, number, doc_id = self._load, self._load.next_content, self._examined.doc_ids[place]
        load.store(_document_at(self._examined, place))
        if load.next_content > number and not load.writer.keeps_words:
            append(self._connection, query.marks(number), query.keys)
        documents = schema.documents.c
        is_it = (documents.doc_id == doc_id) & documents.is_current
        version = int(self._connection.execute(select(documents.version).where(is_it)).scalar_one())
        return replace(checked, stored_as=doc_id, version=version)

    def is_purged(self, place: int) -> bool:
        """Whether the document at a position is refused because its text was erased by a purge."""
        return self._examined.problems[place] == PURGED

    def finish(self) -> None:
        """Write the counts of the stored documents."""
        if self._load is not None:
            self._load.finish()
            KEYS.write_end(self._connection, self._collection.store, self._load.next_content)


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
        words={one: examined.words[one] for one in of_text},
        damaged={digest} & examined.damaged,
        origins={0: examined.origins[place]} if place in examined.origins else {},
        blank=frozenset({0} if place in examined.blank else ()),
    )
