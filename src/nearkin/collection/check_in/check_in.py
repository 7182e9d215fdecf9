"""Checks whether a similar text is stored, and storage of the text in a transaction in which the answer is true.

All that can be computed about a text is computed before the transaction: its keys, its signature, its rows, and, of a
single document, the answer of a snapshot. The transaction keeps other writers waiting, so it only looks whether
anything was stored since; if so, the texts that came since are compared, too. Documents that are stored together are
answered in the transaction only: each is compared with those before it, so an answer of the snapshot would not last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection, func, select

from nearkin.collection.check_in.candidates import Query
from nearkin.collection.check_in.checking import TextCheck
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
from nearkin.collection.loads.incoming import Examined, Incoming, examine, incoming_of, known_texts
from nearkin.collection.loads.loading import Load
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored.contents import PURGED
from nearkin.collection.stored.documents import checked_wave, is_current
from nearkin.collection.stored.key_table import KEYS, fill
from nearkin.errors import CollectionError, InputError, ParameterError, quoted
from nearkin.store.failures import reason_of
from nearkin.store.schema import activity, facts, loads

Answer = TypeVar("Answer")
_SIMILAR = frozenset(VERDICTS) - {"new"}


def with_keys(collection: OpenedCollection, ask: Callable[[Connection, int | None], Answer]) -> Answer:
    """Return the answer in a snapshot, after missing keys were stored; and with the first that could not be stored."""
    with collection.store.reading() as connection:
        first = KEYS.first_missing(connection)
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
        return ask(connection, KEYS.first_missing(connection))


def check_only(collection: OpenedCollection, text: str, options: CheckOptions) -> Checked:
    """Check a text without storing it; see `Collection.check`."""
    started = time.perf_counter()
    checked = with_keys(collection, _check(collection, text, options).answer)
    return replace(checked, elapsed_s=_since(started))


def check_in(collection: OpenedCollection, text: str, options: CheckOptions, under: CheckIn) -> Checked:
    """Check and store a text in one exclusive transaction; see `Collection.check`."""
    wave, started = checked_wave(under.wave), time.perf_counter()
    check = _check(collection, text, options, under.doc_id)  # refuses anything but text
    incoming = incoming_of([under.doc_id], [text], [1], under.source, under.file)
    ready = _Ready.of(collection, incoming, [check], wave)
    with collection.store.writing() as connection:
        if under.id_is_new is not None:
            under.refuse_other_id(is_current(connection, under.doc_id))
        inside = _CheckInTransaction(connection, collection, ready, wave, by=under.by)
        checked = inside.stored(0, inside.checked(0), refused=_SIMILAR if under.only_new else ())
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
            return _check(collection, text, options, doc_id).answer(connection, first_missing)

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
    wave, lines = checked_wave(under.wave), under.lines or range(1, len(documents) + 1)
    if len(lines) != len(documents):
        raise ParameterError.of("lines", f"one line per document, {len(documents)}", lines)
    checks = [_check_of_many(collection, doc_id, text, options) for doc_id, text in documents]
    good = [i for i, check in enumerate(checks) if isinstance(check, TextCheck)]
    places = {i: place for place, i in enumerate(good)}
    ids, texts = [documents[i][0] for i in good], [documents[i][1] for i in good]
    incoming = incoming_of(ids, texts, [lines[i] for i in good], under.source)
    refused = DROPPED_FROM_STREAMS if under.only_new else frozenset[Verdict]()
    ready = _Ready.of(collection, incoming, [check for check in checks if isinstance(check, TextCheck)], wave)
    with collection.store.writing() as connection:
        inside = _CheckInTransaction(connection, collection, ready, wave, by=under.by)

        def take(place: int) -> Checked:
            check = checks[place]
            if isinstance(check, ParameterError):
                raise check
            return inside.checked(places[place])

        def store(place: int, checked: Checked) -> Checked:
            return inside.stored(places[place], checked, refused=refused)

        answers = _answers(connection, documents, take, store, stops=stops)
        inside.finish()
    purged = {i for i, place in places.items() if inside.is_purged(place)}
    return tuple(replace(one, is_purged=True) if i in purged else one for i, one in enumerate(answers))


def _check(collection: OpenedCollection, text: str, options: CheckOptions, doc_id: str | None = None) -> TextCheck:
    query = Query.of(collection.counting, text, with_index=options.measure == "index")
    return TextCheck(collection.counting, query, options, doc_id)


def _check_of_many(
    collection: OpenedCollection, doc_id: str, text: str, options: CheckOptions
) -> TextCheck | ParameterError:
    try:
        check_name("doc_id", doc_id)
        return _check(collection, text, options, doc_id)
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


_STATE = select(
    select(facts.c.value).where(facts.c.name == "generation").scalar_subquery(),
    select(func.max(loads.c.load)).scalar_subquery(),
    select(func.max(activity.c.number)).scalar_subquery(),
)
"""While it stays the same, no text was erased or repaired, and no document was stored, replaced or removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """Documents that were examined in a snapshot, and a single one also checked, before others are kept from writing.

    Parameters
    ----------
    incoming : Incoming
    examined : Examined
    checks : sequence of TextCheck
    answer : Checked or None
        None: the document could not be checked, or is one of several.
    state : tuple
        Of the snapshot; see ``_STATE``.
    has_keys : bool
        Whether the keys of all stored texts were stored.
    """

    incoming: Incoming
    examined: Examined
    checks: Sequence[TextCheck]
    answer: Checked | None
    state: tuple[object, ...]
    has_keys: bool

    @classmethod
    def of(cls, collection: OpenedCollection, incoming: Incoming, checks: Sequence[TextCheck], wave: str) -> _Ready:
        """Examine documents, and check a single one."""

        def ready(connection: Connection, first_missing: int | None) -> _Ready:
            state = tuple(connection.execute(_STATE).one())
            examined = _examined(connection, collection, incoming, wave)
            answer = _answer(checks[0], connection, first_missing) if len(checks) == 1 else None
            return cls(
                incoming=incoming,
                examined=examined,
                checks=checks,
                answer=answer,
                state=state,
                has_keys=first_missing is None,
            )

        return with_keys(collection, ready)


def _answer(check: TextCheck, connection: Connection, first_missing: int | None) -> Checked | None:
    try:
        return check.answer(connection, first_missing)
    except CollectionError:  # it is raised again in the transaction, unless the damage was repaired meanwhile
        return None


def _examined(connection: Connection, collection: OpenedCollection, incoming: Incoming, wave: str) -> Examined:
    known, dialect = partial(known_texts, connection), collection.store.dialect
    return examine(incoming, collection.counting, known=known, wave=wave, dialect=dialect)


class _CheckInTransaction:
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
        self, connection: Connection, collection: OpenedCollection, ready: _Ready, wave: str, *, by: str | None = None
    ) -> None:
        self._connection, self._collection, self._wave, self._by = connection, collection, wave, by
        self._ready, self._examined = ready, ready.examined
        self._load: Load | None = None
        state = tuple(connection.execute(_STATE).one())
        self._is_as_before = state == ready.state and ready.has_keys
        if not self._is_as_before:
            fill(connection, collection.store, collection.counting, collection.progress)
            if state[0] != ready.state[0]:  # texts may have been erased or repaired
                self._examined = _examined(connection, collection, ready.incoming, wave)

    def checked(self, place: int) -> Checked:
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
        before = self._ready.answer
        if before is not None and self._is_as_before and self._load is None:
            return before
        return self._ready.checks[place].answer(self._connection, None)

    def stored(self, place: int, checked: Checked, *, refused: Container[Verdict]) -> Checked:
        """Store the document at a position with the keys of its text, unless its verdict is refused."""
        if checked.verdict in refused:
            return checked
        if self._load is None:
            self._load = Load.begin(self._connection, self._collection.store, self._collection.counting, self._wave)
            self._load.takes_repeated_ids, self._load.by = True, self._by
        doc_id, query = self._examined.doc_ids[place], self._ready.checks[place].query
        version = self._load.store(self._examined.at(place), query.made())[doc_id].version
        return replace(checked, stored_as=doc_id, version=version)

    def is_purged(self, place: int) -> bool:
        """Whether the document at a position is refused because its text was erased by a purge."""
        return self._examined.problems[place] == PURGED

    def finish(self) -> None:
        """Write the counts of the stored documents."""
        if self._load is not None:
            self._load.finish()
            KEYS.write_end(self._connection, self._collection.store, self._load.next_content)
