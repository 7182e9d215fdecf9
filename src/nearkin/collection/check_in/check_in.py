"""Check-in: a similar text is searched for, and the text stored in a transaction in which the answer is true."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection, func, select

from nearkin.collection.check_in import results
from nearkin.collection.check_in.candidates import Query
from nearkin.collection.check_in.checking import TextCheck
from nearkin.collection.loads.incoming import Examined, examine, incoming_of, known_texts
from nearkin.collection.loads.loading import Load
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored.contents import PURGED
from nearkin.collection.stored.documents import checked_wave, is_current
from nearkin.collection.stored.key_table import KEYS, fill, fill_in_steps
from nearkin.errors import CollectionError, InputError, NearkinError, ParameterError, quoted
from nearkin.stages.documents.members import UNKNOWN_FILE
from nearkin.store.schema import activity, facts, loads

Answer = TypeVar("Answer")
_SIMILAR = frozenset(results.VERDICTS) - {"new"}


def with_keys(collection: OpenedCollection, ask: Callable[[Connection, int | None], Answer]) -> Answer:
    """Return the answer in a snapshot, after missing keys were stored; and the first content without stored keys."""
    with collection.store.reading() as connection:
        first = KEYS.first_missing(connection)
        if first is None:
            return ask(connection, None)
    if first == 0:
        collection.progress.say("computing the keys of the stored texts (first check only)")
    fill_all = partial(fill_in_steps, collection.store, collection.counting, collection.progress)
    collection.stores("the keys of stored texts", fill_all)
    with collection.store.reading() as connection:
        return ask(connection, KEYS.first_missing(connection))


def check_one(
    collection: OpenedCollection, text: str, options: results.CheckOptions, under: results.CheckIn | None
) -> results.Checked:
    """Check a text, and store it on request; see `Collection.check`."""
    started = time.perf_counter()
    doc_id = None if under is None else under.doc_id
    (outcome,) = _outcomes(collection, [(doc_id, text)], options, under, stops=True, refused=_SIMILAR)
    if isinstance(outcome, NearkinError):
        raise outcome
    return replace(outcome, elapsed_s=_since(started))


def check_many(
    collection: OpenedCollection,
    documents: Sequence[tuple[str, str]],
    options: results.CheckOptions,
    under: results.CheckInMany | None,
    *,
    stops: bool,
) -> tuple[results.CheckAnswer, ...]:
    """Check documents in order, and store them in one exclusive transaction; see `Collection.check_many`."""
    for entry in documents:
        if not isinstance(entry, tuple | list) or len(entry) != 2:
            raise ParameterError.of("documents", "an iterable of pairs (id, text)", entry)
    outcomes = _outcomes(collection, documents, options, under, stops=stops, refused=results.DROPPED_FROM_STREAMS)
    return tuple(_answer(doc_id, entry) for (doc_id, _), entry in zip(documents, outcomes))


def _answer(doc_id: str, checked: results.Checked | NearkinError) -> results.CheckAnswer:
    if isinstance(checked, results.Checked):
        return results.CheckAnswer(doc_id=doc_id, checked=checked)
    return results.CheckAnswer(doc_id=doc_id, problem=str(checked), is_purged=isinstance(checked, InputError))


def _outcomes(
    collection: OpenedCollection,
    documents: Sequence[tuple[str | None, str]],
    options: results.CheckOptions,
    under: results.CheckInMany | None,
    *,
    stops: bool,
    refused: Collection[results.Verdict],
) -> list[results.Checked | NearkinError]:
    checks = [_prepared(collection, *document, options, is_stored=under is not None) for document in documents]
    if under is not None:
        return _stored(collection, documents, checks, under, stops=stops, refused=refused)

    def answers(connection: Connection, first_missing: int | None) -> list[results.Checked | NearkinError]:
        return _in_order(connection, checks, lambda _, check: check.answer(connection, first_missing), stops=stops)

    return with_keys(collection, answers)


def _prepared(
    collection: OpenedCollection, doc_id: str | None, text: str, options: results.CheckOptions, *, is_stored: bool
) -> TextCheck | ParameterError:
    try:
        if is_stored:
            results.check_name("doc_id", doc_id)
        query = Query.of(collection.counting, text, with_index=options.measure == "index")
    except ParameterError as error:
        return error
    return TextCheck(collection.counting, query, options, doc_id)


def _in_order(
    connection: Connection,
    checks: Sequence[TextCheck | ParameterError],
    ask: Callable[[int, TextCheck], results.Checked],
    store: Callable[[int, TextCheck, results.Checked], results.Checked] = lambda _, check, checked: checked,
    *,
    stops: bool,
) -> list[results.Checked | NearkinError]:
    """Check and store in order; if the check stops at a problem, up to the first document with a problem."""
    outcomes = list[results.Checked | NearkinError]()
    for place, check in enumerate(checks):
        started = time.perf_counter()
        try:
            if isinstance(check, ParameterError):
                raise check
            checked = ask(place, check)
        except (ParameterError, InputError, CollectionError) as error:
            if connection.invalidated:  # the database does not answer: that concerns all documents
                raise
            outcomes.append(error)
            if stops:
                break
        else:
            outcomes.append(replace(store(place, check, checked), elapsed_s=_since(started)))
    return outcomes


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 4)


_STATE = select(
    select(facts.c.value).where(facts.c.name == "generation").scalar_subquery(),
    select(func.max(loads.c.load)).scalar_subquery(),
    select(func.max(activity.c.number)).scalar_subquery(),
)


class _State(NamedTuple):
    """While it stays the same, no document was stored, replaced or removed; while its generation does, none erased."""

    generation: str
    load: int | None
    activity: int | None
    first_missing: int | None

    @classmethod
    def of(cls, connection: Connection, first_missing: int | None) -> _State:
        return cls(*connection.execute(_STATE).one(), first_missing)


def _stored(
    collection: OpenedCollection,
    documents: Sequence[tuple[str | None, str]],
    checks: Sequence[TextCheck | ParameterError],
    under: results.CheckInMany,
    *,
    stops: bool,
    refused: Collection[results.Verdict],
) -> list[results.Checked | NearkinError]:
    """Check and store in one transaction, each document compared also with those stored before it."""
    wave, lines = checked_wave(under.wave), under.lines or range(1, len(documents) + 1)
    if len(lines) != len(documents):
        raise ParameterError.of("lines", f"one line per document, {len(documents)}", lines)
    good = [i for i, check in enumerate(checks) if isinstance(check, TextCheck)]
    places = {i: place for place, i in enumerate(good)}
    file = under.file if isinstance(under, results.CheckIn) else UNKNOWN_FILE
    ids, texts = [documents[i][0] or "" for i in good], [documents[i][1] for i in good]
    incoming = incoming_of(ids, texts, [lines[i] for i in good], under.source, file)

    def examined(connection: Connection) -> Examined:
        known, dialect = partial(known_texts, connection), collection.store.dialect
        return examine(incoming, collection.counting, known=known, wave=wave, dialect=dialect)

    def snapshot(connection: Connection, first_missing: int | None) -> tuple[_State, Examined, results.Checked | None]:
        state, answer = _State.of(connection, first_missing), None
        with suppress(CollectionError):  # it is raised again in the transaction, unless the damage was repaired
            if len(checks) == 1 and isinstance(checks[0], TextCheck):
                answer = checks[0].answer(connection, first_missing)
        return state, examined(connection), answer

    state, ready, answer = with_keys(collection, snapshot)
    with collection.store.writing() as connection:
        if isinstance(under, results.CheckIn) and under.id_is_new is not None:
            under.refuse_other_id(is_current(connection, under.doc_id))
        now = _State.of(connection, None)
        if now.generation != state.generation:  # texts may have been erased
            ready = examined(connection)
        if now != state:
            fill(connection, collection.store, collection.counting)
            answer = None
        load: Load | None = None

        def ask(place: int, check: TextCheck) -> results.Checked:
            doc_id, problem = ready.doc_ids[places[place]], ready.problems[places[place]]
            if problem is not None:
                kind = InputError if problem == PURGED else ParameterError
                raise kind(f"The document {quoted(doc_id)} cannot be stored: {problem}.")
            return answer or check.answer(connection, None)

        def store(place: int, check: TextCheck, checked: results.Checked) -> results.Checked:
            nonlocal load
            if under.only_new and checked.verdict in refused:
                return checked
            if load is None:
                load = Load.begin(connection, collection.store, collection.counting, wave)
                load.takes_repeated_ids, load.by = True, under.by
            doc_id = ready.doc_ids[places[place]]
            version = load.store(ready.at(places[place]), check.query.made())[doc_id].version
            return replace(checked, stored_as=doc_id, version=version)

        outcomes = _in_order(connection, checks, ask, store, stops=stops)
        if load is not None:
            load.finish()
            # keys are made again after a text was repaired; before the first text, none could be stored
            if KEYS.end(connection) is not None or not load.first_content:
                KEYS.write_end(connection, collection.store, load.next_content)
    return outcomes
