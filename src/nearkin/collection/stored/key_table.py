"""Keys of all stored texts: derived from the store, and updated when they are needed.

Only collections that use check-ins have them. The table is complete up to the content whose number is stored as a fact;
keys of later contents are computed for each query until they are stored. Another fact lists the contents below that
number that have no keys, because their stored texts are damaged.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select, text

from nearkin.collection.counting import SIGNATURE, TextCounting
from nearkin.collection.stored.contents import texts_from
from nearkin.collection.stored.reach import FINGERPRINT, SAMPLE, DerivedData, Keys, keys_of
from nearkin.errors import CollectionError
from nearkin.kernels.buffers import strings
from nearkin.kernels.mixing import GOLDEN, spread
from nearkin.records import I64, U8, U64, Bool
from nearkin.runs.progress import Progress
from nearkin.store import schema
from nearkin.store.bulk import in_slices, insert_integers, insert_rows
from nearkin.store.store import Store

KEYS = DerivedData("check_keys", FINGERPRINT)
_NAME = "index of nearkin check"
_ROWS_AT_A_TIME = 1 << 16
_KEYS_AT_A_TIME = 1 << 21  # sorted before they are stored, so that the table's pages are written in order


@dataclass(frozen=True, slots=True)
class Marks:
    """Values of some contents that show whether they are worth comparing.

    Parameters
    ----------
    contents : int64 array, shape (n_contents,)
    n_samples : int64 array, shape (n_contents,)
        Number of sampled shingles of each.
    signatures : uint8 array, shape (n_contents, n_bytes)
    is_signed : bool array, shape (n_contents,)
        False: the content has no words, and its signature means nothing.
    """

    contents: I64
    n_samples: I64
    signatures: U8
    is_signed: Bool

    @classmethod
    def of(cls, counting: TextCounting, contents: I64, texts: Sequence[str], keys: Keys) -> Marks:
        """Make the marks of texts from their keys."""
        n_samples = np.bincount(keys.texts[keys.kinds == SAMPLE], minlength=len(texts))
        signed = counting.sign(strings(texts))
        return cls(contents, n_samples, signed.packed, signed.has_features)

    @classmethod
    def of_rows(cls, rows: Sequence[tuple[Any, ...]], n_bytes: int) -> Marks:
        """Make the marks from stored rows."""
        is_signed = np.array([row[2] is not None and len(row[2]) == n_bytes for row in rows], np.bool_)
        packed = b"".join(row[2] if is_it else bytes(n_bytes) for row, is_it in zip(rows, is_signed))
        contents, n_samples = (np.array([row[i] for row in rows], np.int64) for i in range(2))
        return cls(contents, n_samples, np.frombuffer(packed, np.uint8).reshape(-1, n_bytes), is_signed)

    @classmethod
    def joined(cls, parts: Sequence[Marks]) -> Marks:
        """Concatenate marks."""
        return cls(
            np.concatenate([part.contents for part in parts]),
            np.concatenate([part.n_samples for part in parts]),
            np.concatenate([part.signatures for part in parts]),
            np.concatenate([part.is_signed for part in parts]),
        )

    def where(self, contents: I64) -> Marks:
        """Select the marks of some contents, in order; contents without marks are omitted."""
        order = np.argsort(self.contents)
        places = np.searchsorted(self.contents[order], contents)
        is_there = np.zeros(len(contents), np.bool_)
        inside = places < len(order)
        is_there[inside] = self.contents[order[places[inside]]] == contents[inside]
        chosen = order[places[is_there]]
        n_samples, is_signed = np.zeros(len(contents), np.int64), np.zeros(len(contents), np.bool_)
        signatures = np.zeros((len(contents), self.signatures.shape[1]), np.uint8)
        n_samples[is_there], is_signed[is_there] = self.n_samples[chosen], self.is_signed[chosen]
        signatures[is_there] = self.signatures[chosen]
        return Marks(contents, n_samples, signatures, is_signed)

    def __len__(self) -> int:
        return len(self.contents)


def damaged_keys() -> CollectionError:
    """Return the error for keys, or data stored with them, that are missing or were changed."""
    return CollectionError("Data stored with the keys of check-ins is damaged; nearkin fsck COLLECTION rebuilds it.")


def fill(connection: Connection, store: Store, counting: TextCounting, progress: Progress) -> None:
    """Store the keys of every content that has none yet, inside a write transaction."""
    state = KEYS.reach(connection, store)
    end, n_contents, lost = state.end, state.n_contents, list(state.lost)
    if end is None:  # none yet, or damaged
        connection.execute(schema.check_keys.delete())
        connection.execute(schema.checked_contents.delete())
        store.delete_fact(connection, KEYS.lost)
        store.write_facts(connection, {KEYS.method: FINGERPRINT, KEYS.end: "0"})
        end, lost = 0, []
    if end == n_contents:
        return
    parts, n_held = list[tuple[I64, I64]](), 0
    for numbers, batch, lost_here in texts_from(connection, end, progress):
        lost += lost_here
        made = keys_of(batch, counting.ignored)
        parts.append((made.values, numbers[made.texts]))
        insert_rows(connection, schema.checked_contents, _columns(Marks.of(counting, numbers, batch, made)))
        n_held += len(made.values)
        if n_held >= _KEYS_AT_A_TIME:
            _write(connection, parts)
            parts, n_held = [], 0
    _write(connection, parts)
    KEYS.write(connection, store, n_contents, lost)


def append(
    connection: Connection, counting: TextCounting, numbers: Sequence[int], texts: Sequence[str], keys: Keys
) -> None:
    """Store the keys of new texts; `mark_complete` follows in the same transaction."""
    contents = np.array(numbers, np.int64)
    _write(connection, [(keys.values, contents[keys.texts])])
    insert_rows(connection, schema.checked_contents, _columns(Marks.of(counting, contents, texts, keys)))


def mark_complete(connection: Connection, store: Store, end: int) -> None:
    """Record that all contents below a number have stored keys."""
    store.write_facts(connection, {KEYS.end: str(end)})


def difference(connection: Connection, store: Store, counting: TextCounting, progress: Progress) -> str | None:
    """Return how the table differs from the texts, or None; keys not stored yet are no difference."""
    try:
        is_right = _is_right(connection, store, counting, progress)
    except (CollectionError, TypeError, ValueError, OverflowError) as error:  # SQLite stores any type in any column
        return f"{_NAME}: invalid ({error})"
    return None if is_right else f"{_NAME}: its keys do not match the texts"


def _is_right(connection: Connection, store: Store, counting: TextCounting, progress: Progress) -> bool:
    """Whether keys and marks are those of the texts; a damaged text has none."""
    state = KEYS.reach(connection, store)
    if not state.end:
        return True
    expected, n_marks, lost = np.zeros(2, np.uint64), 0, list[int]()
    for numbers, batch, lost_here in texts_from(connection, 0, progress, state.end):
        made = keys_of(batch, counting.ignored)
        expected += _checksum(made.values, numbers[made.texts])
        if _columns(stored_marks(connection, store, numbers)) != _columns(Marks.of(counting, numbers, batch, made)):
            return False
        n_marks += len(numbers)
        lost += lost_here
    stored = np.zeros(2, np.uint64)
    rows = connection.execute(select(schema.check_keys.c.key, schema.check_keys.c.content))
    for some in rows.partitions(_ROWS_AT_A_TIME):
        keys, contents = np.array([tuple(row) for row in some], np.int64).T
        stored += _checksum(keys, contents)
    n_stored = connection.execute(select(func.count()).select_from(schema.checked_contents)).scalar_one()
    return n_stored == n_marks and lost == list(state.lost) and np.array_equal(expected, stored)


def remake(connection: Connection, store: Store, counting: TextCounting, progress: Progress) -> None:
    """Store all keys again."""
    store.delete_fact(connection, KEYS.method)
    fill(connection, store, counting, progress)


def restore(connection: Connection, store: Store, counting: TextCounting, number: int, text: str) -> None:
    """Store the keys of a repaired text, if it should have stored keys by now."""
    state = KEYS.reach(connection, store)
    if state.end is None or number >= state.end:
        return  # they are stored together with all others
    made, numbers = keys_of([text], counting.ignored), np.array([number], np.int64)
    there = set(
        connection.execute(select(schema.check_keys.c.key).where(schema.check_keys.c.content == number)).scalars()
    )
    missing = np.array([key for key in made.values.tolist() if key not in there], np.int64)
    insert_integers(connection, schema.check_keys, [missing, np.full(len(missing), number)])
    connection.execute(schema.checked_contents.delete().where(schema.checked_contents.c.content == number))
    insert_rows(connection, schema.checked_contents, _columns(Marks.of(counting, numbers, [text], made)))
    lost = [one for one in state.lost if one != number]
    store.write_facts(connection, {KEYS.lost: ",".join(map(str, lost))})


def forget(connection: Connection, store: Store, numbers: Sequence[int]) -> None:
    """Delete the keys of erased texts; no keys are expected of them any more."""
    for some in in_slices(numbers):
        connection.execute(schema.check_keys.delete().where(schema.check_keys.c.content.in_(some)))
        connection.execute(schema.checked_contents.delete().where(schema.checked_contents.c.content.in_(some)))
    state = KEYS.reach(connection, store)
    if state.end:
        lost = set(state.lost) - set(numbers)
        store.write_facts(connection, {KEYS.lost: ",".join(map(str, sorted(lost)))})


def _columns(marks: Marks) -> list[list[Any]]:
    """Return the marks as columns for a database."""
    signatures = [row.tobytes() if has else None for row, has in zip(marks.signatures, marks.is_signed)]
    return [marks.contents.tolist(), marks.n_samples.tolist(), signatures]


def _checksum(keys: I64, contents: I64) -> U64:
    """Return the number of rows, and a sum over them that does not depend on their order; both wrap around."""
    mixed = spread(keys.view(np.uint64) * GOLDEN + contents.astype(np.uint64))
    return np.array([len(keys), mixed.sum(dtype=np.uint64)], np.uint64)


def _write(connection: Connection, parts: Sequence[tuple[I64, I64]]) -> None:
    if not parts:
        return
    values, numbers = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((numbers, values))
    insert_integers(connection, schema.check_keys, [values[order], numbers[order]])


def stored_marks(connection: Connection, store: Store, contents: I64) -> Marks:
    """Return the marks of those contents that have any."""
    columns = "SELECT content, n_samples, signature FROM checked_contents WHERE content"
    if store.dialect == "sqlite":
        query = f"{columns} IN (SELECT value FROM json_each(?)) ORDER BY content"
        rows = driver_of(connection).execute(query, (json.dumps(contents.tolist()),)).fetchall()
    else:
        query = f"{columns} = ANY(CAST(:contents AS bigint[])) ORDER BY content"
        rows = connection.execute(text(query), {"contents": contents.tolist()}).all()
    return Marks.of_rows([tuple(row) for row in rows], SIGNATURE.bits // 8)


def driver_of(connection: Connection) -> Any:
    """Return SQLite's own connection in the same transaction: SQLAlchemy's overhead would exceed the query's time."""
    driver = connection.connection.driver_connection
    if driver is None:
        raise CollectionError("The connection was closed before its result was read.")
    return driver
