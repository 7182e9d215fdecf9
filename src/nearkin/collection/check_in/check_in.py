"""Checks whether a similar text is stored, and storage of the text in the same transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from functools import partial

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
from nearkin.collection.check_in.shared_keys import MissingKeysError
from nearkin.collection.loads.incoming import Examined, Incoming, examine
from nearkin.collection.loads.known_texts import known_texts, numbers_of, repair
from nearkin.collection.loads.loading import Load
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored.documents import checked_wave, is_current
from nearkin.collection.stored.key_table import KEYS, append, fill, mark_complete
from nearkin.collection.stored.purged import PURGED, purged_digests
from nearkin.collection.stored.reach import Reach
from nearkin.errors import CollectionError, InputError, ParameterError, quoted
from nearkin.store import schema
from nearkin.store.failures import reason_of

_SIMILAR = frozenset(VERDICTS) - {"new"}


def check_only(collection: OpenedCollection, text: str, options: CheckOptions) -> Checked:
    """Check a text without storing it; see `Collection.check`."""
    store, counting = collection.store, collection.counting
    started = time.perf_counter()
    query = Query.of(counting, text, with_index=options.method == "si")

    def ask(connection: Connection, state: Reach | None) -> Checked:
        checked = check(connection, store, counting, query, options, state=state)
        is_purged = bool(purged_digests(connection, [query.digest]))
        return replace(checked, is_purged=is_purged, elapsed_s=_since(started))

    try:
        with store.reading() as connection:
            return ask(connection, None)
    except MissingKeysError as missing:
        _fill_keys(collection, missing.first)
    with store.reading() as connection:
        return ask(connection, KEYS.reach(connection, store))


def make_keys(collection: OpenedCollection) -> None:
    """Store missing keys, if there are any."""
    with collection.store.reading() as connection:
        first = KEYS.reach(connection, collection.store).first_missing
    if first is not None:
        _fill_keys(collection, first)


def _fill_keys(collection: OpenedCollection, first: int) -> None:
    """Store missing keys, unless permission is denied or another process is writing."""
    if first == 0:
        collection.progress.say("computing the keys of the stored texts (first check only)")
    try:
        with collection.store.writing() as connection:
            fill(connection, collection.store, collection.counting, collection.progress)
    except CollectionError as error:
        collection.progress.say(
            f"the keys of stored texts cannot be stored ({reason_of(error)}): they are computed for this call only, "
            "which is slower"
        )


def check_in(collection: OpenedCollection, text: str, options: CheckOptions, under: CheckIn) -> Checked:
    """Check and store a text in one exclusive transaction; see `Collection.check`."""
    from nearkin.collection.loads.incoming import incoming_of

    wave, started = checked_wave(under.wave), time.perf_counter()
    query = Query.of(collection.counting, text, with_index=options.method == "si")  # refuses anything but text
    incoming = incoming_of([under.doc_id], [text], [1], under.source, under.file)
    with collection.store.writing() as connection:
        if under.id_is_new is not None:
            under.refuse_other_id(is_current(connection, under.doc_id))
        inside = CheckInTransaction(connection, collection, incoming, wave, by=under.by)
        checked = inside.take(0, query, options, refused=_SIMILAR if under.only_new else ())
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
    make_keys(collection)
    with collection.store.reading() as connection:
        state, digests = KEYS.reach(connection, collection.store), dict[int, bytes]()

        def ask(place: int) -> Checked:
            doc_id, text = documents[place]
            query = Query.of(collection.counting, text, with_index=options.method == "si")
            digests[place] = query.digest
            checked = check(connection, collection.store, collection.counting, query, options, state=state)
            return mark_resent(connection, checked, doc_id, query)

        answers = _answers(connection, documents, ask, stops=stops)
        purged = purged_digests(connection, [*digests.values()])
    return tuple(_with_purge(one, is_purged=digests.get(place) in purged) for place, one in enumerate(answers))


def _with_purge(answer: CheckAnswer, *, is_purged: bool) -> CheckAnswer:
    """Say in an answer whether the text was erased."""
    if answer.checked is None or not is_purged:
        return answer
    return replace(answer, checked=replace(answer.checked, is_purged=True))


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
    queries = [_query(collection, doc_id, text, options) for doc_id, text in documents]
    usable = [i for i, query in enumerate(queries) if isinstance(query, Query)]
    places = {i: place for place, i in enumerate(usable)}
    incoming = incoming_of(
        [documents[i][0] for i in usable], [documents[i][1] for i in usable], [lines[i] for i in usable], under.source
    )
    refused = DROPPED_FROM_STREAMS if under.only_new else frozenset[Verdict]()
    with collection.store.writing() as connection:
        inside = CheckInTransaction(connection, collection, incoming, wave)

        def take(place: int) -> Checked:
            query = queries[place]
            if isinstance(query, ParameterError):
                raise query
            return inside.take(places[place], query, options, refused=refused)

        answers = _answers(connection, documents, take, stops=stops)
        inside.finish()
    purged = {i for i, place in places.items() if inside.is_purged(place)}
    return tuple(replace(one, is_purged=True) if i in purged else one for i, one in enumerate(answers))


def _query(collection: OpenedCollection, doc_id: str, text: str, options: CheckOptions) -> Query | ParameterError:
    has_nul = isinstance(doc_id, str) and "\0" in doc_id  # `examine` refuses it, in the words of nearkin add
    try:
        check_name("doc_id", "usual" if has_nul else doc_id)
        return Query.of(collection.counting, text, with_index=options.method == "si")
    except ParameterError as error:
        return error


def _answers(
    connection: Connection,
    documents: Sequence[tuple[str, str]],
    ask: Callable[[int], Checked],
    *,
    stops: bool,
) -> tuple[CheckAnswer, ...]:
    """Return the answers in order; if the check stops at a problem, those up to the first document with a problem."""
    answers = list[CheckAnswer]()
    for place, (doc_id, _) in enumerate(documents):
        answers.append(_answer(connection, doc_id, partial(ask, place)))
        if stops and answers[-1].problem is not None:
            break
    return tuple(answers)


def _answer(connection: Connection, doc_id: str, ask: Callable[[], Checked]) -> CheckAnswer:
    """Return the answer for one of several documents; if it cannot be checked, the others are checked all the same."""
    started = time.perf_counter()
    try:
        checked = ask()
    except (ParameterError, InputError, CollectionError) as error:
        if connection.invalidated:  # the database does not answer: that concerns all documents
            raise
        return CheckAnswer(doc_id=doc_id, problem=str(error))
    return CheckAnswer(doc_id=doc_id, checked=replace(checked, elapsed_s=_since(started)))


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 4)


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
        """Write the counts of the stored documents."""
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
        load.takes_repeated_ids, load.by = True, self._by
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
