"""Lookup of the stored texts that share keys with a text that is checked in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, text

from nearkin.collection.counting import SIGNATURE, TextCounting
from nearkin.collection.stored.contents import texts_from
from nearkin.collection.stored.key_table import KEYS, Marks, damaged_keys, driver_of, stored_marks
from nearkin.collection.stored.reach import BAND, EXACT, SAMPLE, Reach, keys_of
from nearkin.records import I64, U8
from nearkin.runs.progress import Silent
from nearkin.store.store import Store

MAX_OF_A_KEY = 256
"""Maximum number of texts examined for the key of a whole text or of a band."""
MAX_OF_A_SAMPLE = 64
"""Maximum number of texts examined for a sampled shingle: a shingle in more texts is common wording."""
_KINDS = EXACT, BAND, SAMPLE


def _is_current(of: str) -> str:
    """Return the condition added if there are too many contents: old versions and removed documents must not count."""
    return f"EXISTS (SELECT 1 FROM documents WHERE documents.content = {of}.content AND documents.is_current)"


class MissingKeysError(Exception):
    """Keys of stored texts are missing, from the content ``first`` on."""

    def __init__(self, first: int) -> None:
        super().__init__(first)
        self.first = first


@dataclass(frozen=True, slots=True)
class KnownContents:
    """Lengths and documents of contents, returned by the search for keys.

    Parameters
    ----------
    same : list of int
        Contents with the digest of the text.
    sizes : dict of int to int
        Lengths in bytes of those that a current document has.
    seen : frozenset of int
        All contents of which something is known.
    """

    same: list[int]
    sizes: dict[int, int]
    seen: frozenset[int]

    def joined(self, other: KnownContents) -> KnownContents:
        """Add the data of other contents."""
        return KnownContents(self.same, self.sizes | other.sizes, self.seen | other.seen)


@dataclass(frozen=True, slots=True)
class Shared:
    """Stored contents that share keys, without those that share too few sampled shingles.

    Parameters
    ----------
    marks : Marks
        Marks of the contents, each once.
    n_shared : int64 array, shape (3, n_contents)
        Number of shared keys of each kind: EXACT, BAND, SAMPLE.
    n_skewed : int
        Number of keys that occur in more texts than were examined.
    lost : tuple of int
        Contents that were not examined: they have no keys, because their stored texts are damaged.
    known : KnownContents or None
        Lengths and documents, if the search returned them.
    """

    marks: Marks
    n_shared: I64
    n_skewed: int
    lost: tuple[int, ...] = ()
    known: KnownContents | None = None


@dataclass(frozen=True, slots=True)
class AskedKeys:
    """Keys of a text to look up.

    Parameters
    ----------
    keys, kinds : int64 and uint8 arrays, shape (n_keys,)
        Distinct keys.
    n_samples : int
        Number of sampled shingles of the text; not all of them need be among the keys.
    least : int64 array
        Minimum number of them that a text must share, indexed by the number of the shorter text; the last entry also
        serves for all larger numbers.
    digest : bytes
        SHA-256 of the text.
    """

    keys: I64
    kinds: U8
    n_samples: int
    least: I64
    digest: bytes

    @property
    def most(self) -> I64:
        """Maximum number of texts examined for each key."""
        return np.where(self.kinds == SAMPLE, MAX_OF_A_SAMPLE, MAX_OF_A_KEY).astype(np.int64)

    def min_of(self, marks: Marks) -> I64:
        """Return the minimum number of sampled shingles that each content must share."""
        return self.least[np.minimum(np.minimum(marks.n_samples, self.n_samples), len(self.least) - 1)]

    def chosen(self, marks: Marks, n_shared: I64, n_skewed: int) -> Shared:
        """Select the contents that share enough."""
        matters = (n_shared[:2] > 0).any(axis=0) | (n_shared[2] >= self.min_of(marks))
        return Shared(marks.where(marks.contents[matters]), n_shared[:, matters], n_skewed)


@dataclass(frozen=True, slots=True)
class Searched:
    """Data to search: a snapshot of the store, the methods for its texts, and the reach of its keys, if known."""

    connection: Connection
    store: Store
    counting: TextCounting
    state: Reach | None


def shared_with(searched: Searched, asked: AskedKeys) -> Shared:
    """Return the contents that share keys, from the table and from the texts whose keys are not stored yet."""
    state, found, lost = searched.state, list[Shared](), list[int]()
    is_sqlite = searched.store.dialect == "sqlite"
    if is_sqlite and state is None:
        state = _complete(KEYS.reach(searched.connection, searched.store))
    if state is None or state.first_missing != 0:  # 0: stored keys are of another method
        if is_sqlite:
            found.append(_in_sqlite(searched, asked))
        else:
            in_table, now = shared_in_postgresql(searched, asked)
            state = state or _complete(now)
            found.append(in_table)
        lost += state.lost if state is not None else ()
    if state is not None and state.first_missing is not None:
        found += _in_texts(searched, asked, state.first_missing, lost)
    marks = Marks.joined([one.marks for one in found])
    n_shared = np.concatenate([one.n_shared for one in found], axis=1)
    known = next((one.known for one in found if one.known is not None), None)
    return Shared(marks, n_shared, sum(one.n_skewed for one in found), tuple(lost), known)


def _complete(state: Reach) -> Reach:
    if state.first_missing is not None:
        raise MissingKeysError(state.first_missing)
    return state


def _in_texts(searched: Searched, asked: AskedKeys, first: int, lost: list[int]) -> list[Shared]:
    found = []
    for numbers, texts, lost_here in texts_from(searched.connection, first, Silent()):
        lost += lost_here
        made = keys_of(texts, searched.counting.ignored)
        is_shared = np.isin(made.values, asked.keys)
        kinds, owners = made.kinds[is_shared], made.texts[is_shared]
        n_shared = np.stack([np.bincount(owners[kinds == kind], minlength=len(texts)) for kind in _KINDS])
        found.append(asked.chosen(Marks.of(searched.counting, numbers, texts, made), n_shared, 0))
    return found


def _in_sqlite(searched: Searched, asked: AskedKeys) -> Shared:
    """Look up each key in a separate query: in SQLite this takes microseconds, and a query can end early."""
    ask = driver_of(searched.connection).execute
    query, of_current = (
        f"SELECT content FROM check_keys WHERE key = ? {more} ORDER BY content LIMIT ?"
        for more in ("", f"AND {_is_current('check_keys')}")
    )
    contents, kinds, n_skewed = list[int](), list[int](), 0
    for key, kind, most in zip(asked.keys.tolist(), asked.kinds.tolist(), asked.most.tolist(), strict=True):
        rows = ask(query, (key, most + 1)).fetchall()
        if len(rows) > most:
            rows = ask(of_current, (key, most + 1)).fetchall()
        n_skewed += len(rows) > most
        found = [row[0] for row in rows[:most]]
        contents += found
        kinds += [kind] * len(found)
    numbers, of_row = np.unique(np.array(contents, np.int64), return_inverse=True)
    is_of = np.array(kinds, np.uint8)
    n_shared = np.stack([np.bincount(of_row[is_of == kind], minlength=len(numbers)) for kind in _KINDS])
    marks = stored_marks(searched.connection, searched.store, numbers)
    if len(marks) != len(numbers):
        raise damaged_keys()
    return asked.chosen(marks.where(numbers), n_shared, n_skewed)


_QUERY = text(f"""
    WITH first AS MATERIALIZED (
        SELECT asked.key, asked.kind, asked.most, there.content, there.place
        FROM unnest(CAST(:keys AS bigint[]), CAST(:kinds AS integer[]), CAST(:most AS bigint[]))
            AS asked (key, kind, most)
        CROSS JOIN LATERAL (
            SELECT content, row_number() OVER (ORDER BY content) AS place
            FROM check_keys WHERE check_keys.key = asked.key ORDER BY content LIMIT asked.most + 1
        ) AS there
    ), skewed AS (
        SELECT key, kind, most FROM first WHERE place > most
    ), of_skewed AS (
        SELECT DISTINCT content FROM first JOIN skewed USING (key)
    ), not_current AS (
        SELECT content FROM of_skewed WHERE NOT {_is_current("of_skewed")}
    ), displaced AS MATERIALIZED (
        SELECT DISTINCT skewed.* FROM skewed JOIN first USING (key) JOIN not_current USING (content)
    ), found AS MATERIALIZED (
        SELECT kind, most, content, place FROM first WHERE key NOT IN (SELECT key FROM displaced)
        UNION ALL
        SELECT displaced.kind, displaced.most, there.content, there.place
        FROM displaced CROSS JOIN LATERAL (
            SELECT content, row_number() OVER (ORDER BY content) AS place
            FROM check_keys WHERE check_keys.key = displaced.key AND {_is_current("check_keys")}
            ORDER BY content LIMIT displaced.most + 1
        ) AS there
    ), shared AS (
        SELECT content, count(*) FILTER (WHERE kind = 0) AS n_exact, count(*) FILTER (WHERE kind = 1) AS n_bands,
            count(*) FILTER (WHERE kind = 2) AS n_shared
        FROM found WHERE place <= most GROUP BY content
    ), chosen AS (
        SELECT content, n_exact, n_bands, n_shared, n_samples, signature
        FROM shared LEFT JOIN checked_contents USING (content)
        WHERE n_exact > 0 OR n_bands > 0 OR n_samples IS NULL
            OR n_shared >= (CAST(:least AS integer[]))[1 + least(n_samples, CAST(:n_samples AS integer))]
        UNION ALL
        SELECT content, NULL, NULL, NULL, NULL, NULL FROM contents WHERE digest = :digest
    ), known AS (
        SELECT chosen.*, contents.n_bytes, {_is_current("chosen")} AS is_current
        FROM chosen LEFT JOIN contents ON contents.content = chosen.content
    )
    SELECT (SELECT count(*) FROM found WHERE place > most) AS n_skewed,
        (SELECT max(content) FROM contents) AS last,
        (SELECT json_agg(json_build_array(name, value)) FROM facts
            WHERE name = ANY(CAST(:facts AS text[]))) AS facts,
        (SELECT json_agg(json_build_array(content, n_exact, n_bands, n_shared, n_samples, encode(signature, 'hex'),
            n_bytes, is_current) ORDER BY content) FROM known) AS contents
""")
"""Query with a single row as its result: the driver reads many rows more slowly than the server finds them."""


def shared_in_postgresql(searched: Searched, asked: AskedKeys) -> tuple[Shared, Reach]:
    """Look up all keys in one query, which returns the data of the contents and the reach of the stored keys."""
    n_samples = min(asked.n_samples, len(asked.least) - 1)
    values: dict[str, Sequence[int] | Sequence[str] | int | bytes] = {
        "keys": asked.keys.tolist(),
        "kinds": asked.kinds.tolist(),
        "most": asked.most.tolist(),
        "least": asked.least[: n_samples + 1].tolist(),
        "n_samples": n_samples,
        "digest": asked.digest,
        "facts": list(KEYS.facts),
    }
    found = searched.connection.execute(_QUERY, values).one()
    told = [_Told(*row) for row in found.contents or ()]
    by_keys = [one for one in told if one.n_exact is not None]
    known = KnownContents(
        [one.content for one in told if one.n_exact is None],
        {one.content: one.n_bytes or 0 for one in told if one.is_current},
        frozenset(one.content for one in told),
    )
    n_shared = np.array([[one.n_exact, one.n_bands, one.n_shared] for one in by_keys], np.int64).reshape(-1, 3).T
    marks = Marks.of_rows([(one.content, one.n_samples, one.packed) for one in by_keys], SIGNATURE.bits // 8)
    return Shared(marks, n_shared, found.n_skewed, known=known), KEYS.reach_of(dict(found.facts or ()), found.last)


class _Told(NamedTuple):
    """Answer of the query for PostgreSQL about a content; without numbers of keys if it has the digest of the text."""

    content: int
    n_exact: int | None
    n_bands: int | None
    n_shared: int | None
    n_samples: int | None
    signature: str | None
    n_bytes: int | None
    is_current: bool

    @property
    def packed(self) -> bytes | None:
        return None if self.signature is None else bytes.fromhex(self.signature)
