"""The keys of all stored texts: derived from the store, and brought up to date when they are asked for.

Only collections into which documents are checked in pay for them. The table is complete up to a content, of which a
fact tells the number; the keys of what came after it are worked out for each question, until they are stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, func, select, text

from nearkin.collection.check_in.keys import FINGERPRINT, keys_of
from nearkin.collection.documents import text_of
from nearkin.errors import CollectionError
from nearkin.records import I64, U64
from nearkin.runs.progress import Progress, Silent
from nearkin.store import schema
from nearkin.store.bulk import insert_integers
from nearkin.store.store import Store

MOST_OF_A_KEY = 256
"""Texts that are looked at for one key: what more texts share is the wording of everybody."""
_END, _METHOD = "check_keys_end", "check_keys"
_TEXT_BYTES_AT_A_TIME, _TEXTS_AT_A_TIME = 1 << 23, 1 << 12
_ROWS_AT_A_TIME = 1 << 16
_ODD = np.uint64(0x9E3779B97F4A7C15)
_KEYS_AT_A_TIME = 1 << 21  # sorted before they are stored: the pages of the table are then written in their order


@dataclass(frozen=True, slots=True)
class Shared:
    """Which stored contents share which keys.

    Parameters
    ----------
    contents : int64 array, shape (n_found,)
    keys : int64 array, shape (n_found,)
        The place, among the keys that were asked for, of the one that is shared.
    n_crowded : int
        Keys that more texts have than were looked at.
    """

    contents: I64
    keys: I64
    n_crowded: int


def shared_with(connection: Connection, store: Store, keys: I64) -> Shared:
    """The contents that share keys, from the table and from what came since.

    Parameters
    ----------
    connection : Connection
    store : Store
    keys : int64 array, shape (n_keys,)
        Distinct.
    """
    look_up = _look_up_in_sqlite if store.dialect == "sqlite" else _look_up_in_postgresql
    rows = look_up(connection, keys.tolist(), MOST_OF_A_KEY + 1)
    found = np.array(rows, np.int64).reshape(-1, 2)
    parts = [found]
    for first, batch in _texts_from(connection, _end(connection, store), Silent()):
        made = keys_of(batch)
        is_shared = np.isin(made.values, keys)
        order = np.argsort(keys)
        places = order[np.searchsorted(keys[order], made.values[is_shared])]
        parts.append(np.stack([places, first[made.texts[is_shared]]], axis=1))
    found = np.concatenate(parts)
    counts = np.bincount(found[:, 0], minlength=len(keys))
    found = found[np.argsort(found[:, 0], kind="stable")]
    rank = np.arange(len(found)) - np.concatenate([[0], np.cumsum(counts)])[found[:, 0]]
    kept = found[rank < MOST_OF_A_KEY]
    return Shared(kept[:, 1], kept[:, 0], int((counts > MOST_OF_A_KEY).sum()))


def fill(connection: Connection, store: Store, progress: Progress) -> None:
    """Store the keys of every content that has none yet, inside a transaction that writes."""
    if store.fact(connection, _METHOD) != FINGERPRINT:  # of an older Nearkin, or none
        connection.execute(schema.check_keys.delete())
        store.say(connection, {_METHOD: FINGERPRINT, _END: "0"})
    end = _end(connection, store)
    parts, n_held = list[tuple[I64, I64]](), 0
    for numbers, batch in _texts_from(connection, end, progress):
        made = keys_of(batch)
        parts.append((made.values, numbers[made.texts]))
        n_held += len(made.values)
        if n_held >= _KEYS_AT_A_TIME:
            _write(connection, parts)
            parts, n_held = [], 0
    _write(connection, parts)
    n_contents = _n_contents(connection)
    if n_contents > end:
        store.say(connection, {_END: str(n_contents)})


def is_behind(connection: Connection, store: Store) -> bool:
    """Whether there are contents without stored keys."""
    return _end(connection, store) < _n_contents(connection)


def difference(connection: Connection, store: Store, progress: Progress) -> str | None:
    """What the table has otherwise than the texts, or None; what was not stored yet is no difference."""
    end = _end(connection, store)
    if end == 0:
        return None
    expected = np.zeros(2, np.uint64)
    for numbers, batch in _texts_from(connection, 0, progress, end):
        made = keys_of(batch)
        expected += _checksum(made.values, numbers[made.texts])
    stored = np.zeros(2, np.uint64)
    rows = connection.execute(select(schema.check_keys.c.key, schema.check_keys.c.content))
    for some in rows.partitions(_ROWS_AT_A_TIME):
        keys, contents = np.array([tuple(row) for row in some], np.int64).T
        stored += _checksum(keys, contents)
    if np.array_equal(expected, stored):
        return None
    return f"keys of check-ins: {int(stored[0]):,} are stored, not the {int(expected[0]):,} that the texts have"


def remake(connection: Connection, store: Store, progress: Progress) -> None:
    """Store all keys anew."""
    store.unsay(connection, _METHOD)
    fill(connection, store, progress)


def _checksum(keys: I64, contents: I64) -> U64:
    """How many rows there are, and a sum over them that does not depend on their order; both wrap around."""
    mixed = keys.view(np.uint64) * _ODD + contents.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * _ODD
    mixed ^= mixed >> np.uint64(32)
    return np.array([len(keys), mixed.sum(dtype=np.uint64)], np.uint64)


def _end(connection: Connection, store: Store) -> int:
    """The content from which on none has stored keys."""
    facts = store.facts_now(connection, (_METHOD, _END))
    if facts.get(_METHOD) != FINGERPRINT:
        return 0
    end = facts.get(_END, "")
    if not end.isdecimal():
        raise CollectionError(f"{store.place} says {end!r} where the number of its keys should be; it is damaged.")
    return int(end)


def _n_contents(connection: Connection) -> int:
    last = connection.execute(select(func.max(schema.contents.c.content))).scalar()
    return 0 if last is None else int(last) + 1


def _write(connection: Connection, parts: Sequence[tuple[I64, I64]]) -> None:
    if not parts:
        return
    values, numbers = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((numbers, values))
    insert_integers(connection, schema.check_keys, [values[order], numbers[order]])


def _texts_from(
    connection: Connection, first: int, progress: Progress, end: int = 2**63 - 1
) -> Iterator[tuple[I64, list[str]]]:
    """The contents from a number on, as many at a time as memory may hold, and their texts; of damaged ones nothing."""
    contents = schema.contents.c
    is_wanted = (contents.content >= first) & (contents.content < end)
    sizes = connection.execute(
        select(contents.content, contents.n_bytes).where(is_wanted).order_by(contents.content)
    ).all()
    if not sizes:
        return
    progress.start("keys", len(sizes), "documents")
    start = 0
    while start < len(sizes):
        stop, n_bytes = start, 0
        while stop < len(sizes) and stop - start < _TEXTS_AT_A_TIME and n_bytes < _TEXT_BYTES_AT_A_TIME:
            n_bytes += sizes[stop].n_bytes if isinstance(sizes[stop].n_bytes, int) else 0
            stop += 1
        yield _texts_between(connection, sizes[start].content, sizes[stop - 1].content)
        progress.advance(stop - start)
        start = stop
    progress.finish()


def _texts_between(connection: Connection, first: int, last: int) -> tuple[I64, list[str]]:
    contents = schema.contents.c
    columns = contents.content, contents.text, contents.n_bytes, contents.digest
    query = select(*columns).where(contents.content.between(first, last)).order_by(contents.content)
    numbers, texts = list[int](), list[str]()
    for content, stored, n_bytes, digest in connection.execute(query):
        try:
            texts.append(text_of(content, stored, n_bytes, bytes(digest)))
            numbers.append(content)
        except CollectionError:  # nearkin verify tells it, and whoever would show the text
            continue
    return np.array(numbers, np.int64), texts


def _look_up_in_sqlite(connection: Connection, keys: Sequence[int], most: int) -> list[tuple[int, int]]:
    """A question a key: that costs microseconds there, and each may end early."""
    driver = connection.connection.driver_connection
    if driver is None:
        raise CollectionError("The connection was given back before its answer was read.")
    query = "SELECT content FROM check_keys WHERE key = ? ORDER BY content LIMIT ?"
    return [(place, row[0]) for place, key in enumerate(keys) for row in driver.execute(query, (key, most))]


def _look_up_in_postgresql(connection: Connection, keys: Sequence[int], most: int) -> list[tuple[int, int]]:
    query = text("""
        SELECT asked.place - 1, shared.content
        FROM unnest(CAST(:keys AS bigint[])) WITH ORDINALITY AS asked (key, place)
        CROSS JOIN LATERAL (
            SELECT content FROM check_keys WHERE check_keys.key = asked.key ORDER BY content LIMIT :most
        ) AS shared
    """)
    return [(row[0], row[1]) for row in connection.execute(query, {"keys": list(keys), "most": most})]
