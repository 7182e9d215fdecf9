"""Ask whether something like a text is here; store it in the same transaction if that is wanted."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlalchemy import Connection

from nearkin.collection.check_in.candidates import Query
from nearkin.collection.check_in.checking import check
from nearkin.collection.check_in.results import Checked, CheckIn, CheckOptions
from nearkin.collection.documents import checked_wave, document
from nearkin.collection.known_texts import known_texts, numbers_of, repair
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.stored_keys import fill, first_without_keys
from nearkin.errors import CollectionError, ParameterError
from nearkin.records import DOCUMENTS_SCHEMA

if TYPE_CHECKING:
    from nearkin.collection.adding import Added


def check_only(collection: OpenedCollection, text: str, options: CheckOptions) -> Checked:
    """See `Collection.check`: nothing of the text is stored."""
    store, counting = collection.store, collection.counting
    started = time.perf_counter()
    query = Query.of(counting, text)

    def ask(connection: Connection, first: int | None) -> Checked:
        checked = check(connection, store, counting, query, options, first_without_keys=first)
        return replace(checked, elapsed_s=_since(started))

    with store.reading() as connection:
        first = first_without_keys(connection, store)
        if first is None:
            return ask(connection, None)
    if first == 0:
        collection.progress.say("making the keys of the stored texts, once")
    try:
        with store.writing() as connection:
            fill(connection, store, counting, collection.progress)
    except CollectionError as error:  # another process writes, or this user may not
        collection.progress.say(
            f"the keys of new documents cannot be stored and are computed for this call only: {error}"
        )
    with store.reading() as connection:
        return ask(connection, first_without_keys(connection, store))


def check_in(collection: OpenedCollection, text: str, options: CheckOptions, under: CheckIn) -> Checked:
    """See `Collection.check`: what is asked and what is stored are one transaction, and one such at a time."""
    from nearkin.collection.adding import add_one  # a mere question starts quicker without
    from nearkin.collection.incoming import Incoming, examine

    wave, store, counting = checked_wave(under.wave), collection.store, collection.counting
    started = time.perf_counter()
    query = Query.of(counting, text)  # which refuses what is no text
    columns = [[under.doc_id], [text.encode("utf-8")], [1], [None], [None], [None]]
    fields = zip(columns, DOCUMENTS_SCHEMA, strict=True)
    batch = pa.RecordBatch.from_arrays([pa.array(c, f.type) for c, f in fields], schema=DOCUMENTS_SCHEMA)
    incoming = Incoming(batch, pa.array([under.source], pa.large_string()), None)
    with store.writing() as connection:
        examined = examine(incoming, counting, known=partial(known_texts, connection), wave=wave)
        is_repaired = query.digest in examined.damaged
        if is_repaired:  # the bytes are here: whatever is stored besides, the damaged text is whole again
            repair(
                connection, store, counting, numbers_of(connection, [query.digest])[query.digest],
                examined.contents[query.digest], examined.profiles[query.digest],
            )  # fmt: skip
            examined = replace(examined, damaged=set())
        fill(connection, store, counting, collection.progress)
        checked = check(connection, store, counting, query, options, first_without_keys=None)
        checked = replace(checked, is_repaired=is_repaired)
        if under.only_new and checked.verdict != "new":
            return replace(checked, elapsed_s=_since(started))
        _check_stored(add_one(connection, store, counting, examined, wave=wave), under)
        fill(connection, store, counting, collection.progress)
        version = document(connection, under.doc_id).version
    return replace(checked, stored_as=under.doc_id, version=version, elapsed_s=_since(started))


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 4)


def _check_stored(added: tuple[Added, str | None], under: CheckIn) -> None:
    """A document that cannot be stored ends the transaction: nothing of it stays."""
    _, problem = added
    if problem is not None:
        raise ParameterError(f"The document {under.doc_id[:200]!r} cannot be stored: {problem}. Nothing was stored.")
