"""Sets of word 5-grams of all stored texts, so that plain SQL computes exact Jaccard similarities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlalchemy import BigInteger, Column, Connection, LargeBinary, MetaData, Table, func, select
from sqlalchemy.exc import DBAPIError

from nearkin.collection.counting import NORMALISE, SHINGLES, TextCounting
from nearkin.collection.stored import key_table
from nearkin.collection.stored.contents import texts_from
from nearkin.collection.stored.key_table import DerivedData
from nearkin.collection.stored.word_sets import word_sets
from nearkin.errors import CollectionError
from nearkin.records import U64, ShingleSets
from nearkin.runs.progress import Progress, Silent
from nearkin.store.bulk import in_slices, insert_rows, number_after_last
from nearkin.store.schema import contents
from nearkin.store.store import Store

SHINGLES_TABLE = Table(
    "shingles",
    MetaData(),  # created by the statements below
    Column("content", BigInteger, primary_key=True, autoincrement=False),
    Column("hashes", LargeBinary, nullable=False),
)
"""Sets by contents: sorted hashes of 64 bits, each as eight bytes, the most significant first."""
FINGERPRINT = f"{NORMALISE.fingerprint};{SHINGLES.fingerprint};sorted;big-endian"
SETS = DerivedData("shingles", FINGERPRINT)
_MADE = (
    "CREATE TABLE shingles (content BIGINT PRIMARY KEY REFERENCES contents (content), hashes BYTEA NOT NULL)",
    "ALTER TABLE shingles ALTER COLUMN hashes SET STORAGE EXTERNAL",  # hashes cannot be compressed
    "CREATE INDEX IF NOT EXISTS check_keys_of_content ON check_keys (content)",
)
_TOLD = "sets of word 5-grams"


def are_kept(connection: Connection) -> bool:
    """Whether sets are stored with every text."""
    if connection.dialect.name == "sqlite":
        return False
    return bool(connection.exec_driver_sql("SELECT to_regclass('shingles') IS NOT NULL").scalar())


def keep(connection: Connection, store: Store, counting: TextCounting, progress: Progress) -> None:
    """Store the sets and keys of all texts, inside a write transaction, and of later ones from now on."""
    if not are_kept(connection):
        for statement in _MADE:
            connection.exec_driver_sql(statement)
    fill(connection, store, counting, progress)


def fill(connection: Connection, store: Store, counting: TextCounting, progress: Progress | None = None) -> None:
    """Store the missing sets and keys, inside a write transaction."""
    progress = progress or Silent()
    key_table.fill(connection, store, counting)
    first, last = SETS.end(connection) or 0, number_after_last(connection, contents.c.content)
    if first == last:
        return
    connection.execute(SHINGLES_TABLE.delete().where(SHINGLES_TABLE.c.content >= first))
    for numbers, texts, _ in texts_from(connection, first, progress, stage="words"):
        _write(connection, numbers.tolist(), word_sets(counting, texts))
    SETS.write_end(connection, store, last)


def append(connection: Connection, store: Store, numbers: Sequence[int], sets: ShingleSets) -> None:
    """Store the sets of new contents, whose keys are stored, before their documents."""
    bounds = zip(sets.offsets[:-1].tolist(), sets.offsets[1:].tolist(), strict=True)
    _write(connection, numbers, [np.sort(sets.hashes[a:b]) for a, b in bounds])
    for derived in (key_table.KEYS, SETS):
        derived.write_end(connection, store, numbers[-1] + 1)


def difference(connection: Connection, store: Store, counting: TextCounting, progress: Progress) -> str | None:
    """Return how the stored sets differ from the texts, or None; sets not stored yet are no difference."""
    if not are_kept(connection):
        return None
    try:
        return _difference(connection, store, counting, progress)
    except (DBAPIError, CollectionError, TypeError, ValueError, OverflowError) as error:
        return f"{_TOLD}: invalid ({error})"


def _difference(connection: Connection, store: Store, counting: TextCounting, progress: Progress) -> str | None:
    end = SETS.end(connection)
    if end is None:
        return f"{_TOLD}: missing or of another version"
    table, n_texts, is_right = SHINGLES_TABLE.c, 0, True
    for numbers, texts, _ in texts_from(connection, 0, progress, end, stage="words"):
        stored = dict[int, object]()
        for block in in_slices(numbers.tolist()):
            query = select(table.content, table.hashes).where(table.content.in_(block))
            stored |= {row.content: row.hashes for row in connection.execute(query)}
        right = dict(zip(numbers.tolist(), map(_packed, word_sets(counting, texts)), strict=True))
        is_right = is_right and stored == right
        n_texts += len(right)
    n_stored = connection.execute(select(func.count()).select_from(SHINGLES_TABLE)).scalar_one()
    return None if is_right and n_stored == n_texts else f"{_TOLD}: the stored sets do not match the texts"


def remake(connection: Connection, store: Store, counting: TextCounting, progress: Progress) -> None:
    """Store all sets again, inside a write transaction."""
    store.delete_fact(connection, SETS.name)
    fill(connection, store, counting, progress)


def forget(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete the sets of erased texts; none are expected any more."""
    if not are_kept(connection):
        return
    for block in in_slices(numbers):
        connection.execute(SHINGLES_TABLE.delete().where(SHINGLES_TABLE.c.content.in_(block)))


def _write(connection: Connection, numbers: Sequence[int], sets: Sequence[U64]) -> None:
    insert_rows(connection, SHINGLES_TABLE, [numbers, [_packed(hashes) for hashes in sets]])


def _packed(hashes: U64) -> bytes:
    return hashes.astype(">u8").tobytes()
