"""Keys of texts (whole, bands of the signature, sampled shingles), and the table of those of all stored texts.

Source: Andrei Z. Broder, "On the resemblance and containment of documents", 1997.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, bindparam, func, select, text

from nearkin.collection.counting import NORMALISE, SHINGLES, SIGNATURE, TextCounting
from nearkin.collection.stored.contents import texts_from
from nearkin.errors import CollectionError
from nearkin.kernels.buffers import strings
from nearkin.kernels.hashing import GOLDEN, spread
from nearkin.records import I64, U8, U64, Bool, ShingleSets
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.documents.ignoring import NOTHING, Ignored
from nearkin.stages.search.bands import Bands
from nearkin.stages.search.sampling import Sampling
from nearkin.stages.signatures.minhash import MinHash
from nearkin.store import schema
from nearkin.store.bulk import in_slices, insert_integers, insert_rows, number_after_last
from nearkin.store.schema import contents, facts
from nearkin.store.store import Store

BANDS = Bands(12, 3)
"""Bands and rows: a pair with Jaccard similarity 0.7 shares a band with probability 0.994."""
SAMPLING = Sampling(1 / 32)
"""Sampling rate of shingles: a text of 100 shingles that is part of another shares a sampled one with probability
0.96."""
_MINHASH = MinHash(BANDS.size)
EXACT, BAND, SAMPLE = 0, 1, 2
"""Kinds of keys: of the whole text, ignoring case and spacing; of a band; a sampled shingle."""
FINGERPRINT = ";".join((NORMALISE.fingerprint, SHINGLES.fingerprint, _MINHASH.fingerprint, BANDS.fingerprint)) + (
    f";{SAMPLING.fingerprint};bits=32;marked"
)
_APART = {EXACT: np.uint64(0x243F6A8885A308D3), BAND: np.uint64(0x13198A2E03707344), SAMPLE: np.uint64(0)}
"""Constants that keep keys of different kinds apart: they are as unlikely to be equal as any two numbers."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys of some texts, each once per text.

    Parameters
    ----------
    texts : int64 array, shape (n_keys,)
        Position of the text that each belongs to.
    kinds : uint8 array, shape (n_keys,)
        EXACT, BAND or SAMPLE.
    """

    values: I64
    texts: I64
    kinds: NDArray[np.uint8]
    sets: ShingleSets


def keys_of(texts: Sequence[str], ignored: Ignored = NOTHING) -> Keys:
    """Return the keys of some texts, without what does not count."""
    normalised = NORMALISE.ignoring(ignored).apply(strings(texts))
    sets = SHINGLES.sets(normalised)
    digests = [hashlib.sha256(text.as_buffer()).digest()[:8] for text in normalised]
    exact = np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)
    everything = np.arange(len(texts), dtype=np.int64)
    has_shingles = np.flatnonzero(sets.sizes)
    bands: U64 = BANDS.keys(_MINHASH.sign(sets))[:, has_shingles] if len(has_shingles) else np.zeros((0, 0), np.uint64)
    sampled, set_of_key = SAMPLING.keys(sets)
    parts = [
        (EXACT, exact, everything),
        (BAND, bands.ravel(), np.tile(has_shingles.astype(np.int64), len(bands))),
        (SAMPLE, sampled, set_of_key),
    ]
    hashes = np.concatenate([part ^ _APART[kind] for kind, part, _ in parts])
    values = hashes.view(np.int64) >> 32  # a database takes a fifth less space for such short ones
    owners = np.concatenate([owner for _, _, owner in parts])
    kinds = np.concatenate([np.full(len(part), kind, np.uint8) for kind, part, _ in parts])
    order = np.lexsort((values, owners))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(values[order]) != 0) | (np.diff(owners[order]) != 0)
    kept = order[is_first]
    return Keys(values[kept], owners[kept], kinds[kept], sets)


@dataclass(frozen=True, slots=True)
class DerivedData:
    """Data derived from the texts: the fact with the fingerprint of its method, and that of today's."""

    name: str
    fingerprint: str

    def end(self, connection: Connection) -> int | None:
        """Return the content up to which data of today's method is stored; None if it is unusable."""
        return self._state(connection)[0]

    def first_missing(self, connection: Connection) -> int | None:
        """Return the first content without stored data; None if there is none."""
        end, last = self._state(connection)
        return end or 0 if (end or 0) < last else None

    def n_missing(self, connection: Connection) -> int:
        """Return the number of contents without stored data, erased ones among them."""
        end, last = self._state(connection)
        return max(0, last - (end or 0))

    def _state(self, connection: Connection) -> tuple[int | None, int]:
        """Return the end of the stored data and the number of contents, which one statement reads."""
        names = {"name": self.name, "end": f"{self.name}_end"}
        fingerprint, fact, n_stored = connection.execute(_STATE, names).one()
        is_number = fact is not None and fact.isascii() and fact.isdecimal() and len(fact) < 19
        is_usable = fingerprint == self.fingerprint and is_number and int(fact) <= n_stored
        return int(fact) if is_usable else None, int(n_stored)

    def write_end(self, connection: Connection, store: Store, end: int) -> None:
        """Record, in a write transaction, that all contents below a number have today's data."""
        store.write_facts(connection, {self.name: self.fingerprint, f"{self.name}_end": str(end)})


_STATE: Select[Any] = select(
    *(select(facts.c.value).where(facts.c.name == bindparam(name)).scalar_subquery() for name in ("name", "end")),
    select(func.coalesce(func.max(contents.c.content) + 1, 0)).scalar_subquery(),
)
KEYS = DerivedData("check_keys", FINGERPRINT)
_NAME = "index of nearkin check"
_ROWS_AT_A_TIME = 1 << 16
_CONTENTS_AT_A_TIME = 1 << 16
_KEYS_AT_A_TIME = 1 << 20  # sorted before they are stored, so that the table's pages are written in order


class Marks(NamedTuple):
    """Values of some contents that show whether they are worth comparing.

    Parameters
    ----------
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
    def joined(cls, parts: Sequence[Marks]) -> Marks:
        """Concatenate marks."""
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def where(self, places: I64) -> Marks:
        """Select the marks of the contents at some places."""
        return Marks._make(column[places] for column in self)

    def columns(self) -> list[list[Any]]:
        """Return the marks as columns for a database."""
        signatures = [row.tobytes() if has else None for row, has in zip(self.signatures, self.is_signed)]
        return [self.contents.tolist(), self.n_samples.tolist(), signatures]


class MissingKeys(NamedTuple):
    """Keys of a range of contents that have none yet, ascending."""

    first: int
    end: int
    values: I64
    owners: I64
    marks: Marks


def fill(connection: Connection, store: Store, counting: TextCounting) -> None:
    """Store the keys of every content that has none, inside a write transaction."""
    while (keys := _missing(connection, counting)) is not None:
        _store(connection, store, keys)


def fill_in_steps(store: Store, counting: TextCounting, progress: Progress) -> None:
    """Store the same in transactions that begin when their keys are computed."""
    store.refuse_read_only()
    with store.reading() as connection:
        n_missing = KEYS.n_missing(connection)
    if not n_missing:
        return
    progress.start("keys", n_missing, "documents")
    try:
        while True:
            with store.reading() as connection:
                keys, generation = _missing(connection, counting), store.generation(connection)
            if keys is None:
                return
            with store.writing() as connection:
                if store.generation(connection) != generation or (KEYS.end(connection) or 0) != keys.first:
                    continue  # another process has stored them, or erased texts
                _store(connection, store, keys)
            progress.advance(keys.end - keys.first)
    finally:
        progress.finish()


def _missing(connection: Connection, counting: TextCounting) -> MissingKeys | None:
    first = KEYS.first_missing(connection)
    if first is None:
        return None
    values, owners, marks, n_keys = list[I64](), list[I64](), list[Marks](), 0
    lowest = connection.execute(select(func.min(contents.c.content)).where(contents.c.content >= first)).scalar_one()
    end = min(
        lowest + _CONTENTS_AT_A_TIME, number_after_last(connection, contents.c.content)
    )  # not the sizes of all texts in each step
    for numbers, texts, _ in texts_from(connection, first, Silent(), end):
        keys = keys_of(texts, counting.ignored)
        values.append(keys.values)
        owners.append(numbers[keys.texts])
        marks.append(Marks.of(counting, numbers, texts, keys))
        n_keys += len(keys.values)
        if n_keys >= _KEYS_AT_A_TIME:
            end = int(numbers[-1]) + 1
            break
    return MissingKeys(first, end, *_sorted(np.concatenate(values), np.concatenate(owners)), Marks.joined(marks))


def _store(connection: Connection, store: Store, keys: MissingKeys) -> None:
    if not keys.first:  # there are none yet, or those of another method
        connection.execute(schema.check_keys.delete())
        connection.execute(schema.checked_contents.delete())
    insert_rows(connection, schema.checked_contents, keys.marks.columns())
    insert_integers(connection, schema.check_keys, [keys.values, keys.owners])
    KEYS.write_end(connection, store, keys.end)


def append(connection: Connection, marks: Marks, keys: Keys) -> None:
    """Store the marks and keys of new texts; `DerivedData.write_end` follows in the same transaction."""
    insert_integers(connection, schema.check_keys, _sorted(keys.values, marks.contents[keys.texts]))
    insert_rows(connection, schema.checked_contents, marks.columns())


def remake(connection: Connection, store: Store, counting: TextCounting, _progress: Progress) -> None:
    """Store all keys again."""
    store.delete_fact(connection, KEYS.name)
    fill(connection, store, counting)


def forget(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete the keys of erased texts; none are expected any more."""
    for block in in_slices(numbers):
        connection.execute(schema.check_keys.delete().where(schema.check_keys.c.content.in_(block)))
        connection.execute(schema.checked_contents.delete().where(schema.checked_contents.c.content.in_(block)))


def difference(connection: Connection, store: Store, counting: TextCounting, progress: Progress) -> str | None:
    """Return how the table differs from the texts, or None; keys not stored yet are no difference."""
    try:
        is_right = _is_right(connection, store, counting, progress)
    except (CollectionError, TypeError, ValueError, OverflowError) as error:  # SQLite stores any type in any column
        return f"{_NAME}: invalid ({error})"
    return None if is_right else f"{_NAME}: its keys do not match the texts"


def _is_right(connection: Connection, store: Store, counting: TextCounting, progress: Progress) -> bool:
    """Whether keys and marks are those of the texts; a damaged text has none."""
    end = KEYS.end(connection)
    if not end:
        return True
    expected, n_marks = np.zeros(2, np.uint64), 0
    for numbers, batch, _ in texts_from(connection, 0, progress, end):
        keys = keys_of(batch, counting.ignored)
        expected += _checksum(keys.values, numbers[keys.texts])
        if stored_marks(connection, numbers).columns() != Marks.of(counting, numbers, batch, keys).columns():
            return False
        n_marks += len(numbers)
    stored = np.zeros(2, np.uint64)
    rows = connection.execute(select(schema.check_keys.c.key, schema.check_keys.c.content))
    for block in rows.partitions(_ROWS_AT_A_TIME):
        values, contents = np.array([tuple(row) for row in block], np.int64).T
        stored += _checksum(values, contents)
    n_stored = connection.execute(select(func.count()).select_from(schema.checked_contents)).scalar_one()
    return n_stored == n_marks and np.array_equal(expected, stored)


def _checksum(keys: I64, contents: I64) -> U64:
    """Return the number of rows, and a sum over them that does not depend on their order; both wrap around."""
    mixed = spread(keys.view(np.uint64) * GOLDEN + contents.astype(np.uint64))
    return np.array([len(keys), mixed.sum(dtype=np.uint64)], np.uint64)


def _sorted(values: I64, owners: I64) -> tuple[I64, I64]:
    order = np.lexsort((owners, values))
    return values[order], owners[order]


def numbers_in(connection: Connection, name: str) -> str:
    """Return SQL for a parameter, made by `sent`, as a table with the column ``number``."""
    if connection.dialect.name == "sqlite":
        return f"(SELECT value AS number FROM json_each(:{name}))"
    return f"(SELECT unnest(CAST(:{name} AS bigint[])) AS number)"


def sent(connection: Connection, numbers: Sequence[int]) -> object:
    """Return the value of a parameter with integers."""
    return json.dumps(list(numbers)) if connection.dialect.name == "sqlite" else list(numbers)


def array_of(connection: Connection, query: str) -> str:
    """Return SQL for the values of a query as one value: JSON in SQLite."""
    if connection.dialect.name == "sqlite":
        return f"(SELECT json_group_array(content) FROM ({query}))"
    return f"ARRAY({query})"


def stored_marks(connection: Connection, contents: I64) -> Marks:
    """Return the marks of those contents that have any, in ascending order."""
    n_bytes, rows = SIGNATURE.bits // 8, list[Any]()
    if len(contents):
        query = text(
            "SELECT content, n_samples, signature FROM checked_contents "
            f"WHERE content IN (SELECT number FROM {numbers_in(connection, 'numbers')} AS asked) ORDER BY content"
        )
        rows = list(connection.execute(query, {"numbers": sent(connection, contents.tolist())}))
    is_signed = np.array([row.signature is not None and len(row.signature) == n_bytes for row in rows], np.bool_)
    packed = b"".join(row.signature if is_it else bytes(n_bytes) for row, is_it in zip(rows, is_signed))
    numbers, n_samples = (np.array([row[i] for row in rows], np.int64) for i in range(2))
    return Marks(numbers, n_samples, np.frombuffer(packed, np.uint8).reshape(-1, n_bytes), is_signed)
