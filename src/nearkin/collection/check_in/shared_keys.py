"""Which stored texts share keys with one that is checked in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, text

from nearkin.collection.counting import SIGNATURE, TextCounting
from nearkin.collection.keys import BAND, EXACT, SAMPLE, keys_of
from nearkin.collection.stored_keys import Marks, driver_of, lost_texts, stored_marks, texts_from
from nearkin.records import I64, U8
from nearkin.runs.progress import Silent
from nearkin.store.store import Store

MAX_OF_A_KEY = 256
"""Texts that are looked at for the key of a whole text or of a band."""
MAX_OF_A_SAMPLE = 64
"""Texts that are looked at for a sampled shingle: what more texts say is the wording of everybody."""
_KINDS = EXACT, BAND, SAMPLE
_IS_CURRENT = "EXISTS (SELECT 1 FROM documents WHERE documents.content = check_keys.content AND documents.is_current)"
"""Asked where there are too many: texts of removed documents, and older versions, displace nothing."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Which stored contents share keys, but for those that share too few sampled shingles to matter.

    Parameters
    ----------
    marks : Marks
        Of each content once.
    n_shared : int64 array, shape (3, n_contents)
        How many keys of each kind: EXACT, BAND, SAMPLE.
    n_skewed : int
        Keys that more texts have than were looked at.
    lost : tuple of int
        Contents that were not looked at: they have no keys, because their stored texts are damaged.
    """

    marks: Marks
    n_shared: I64
    n_skewed: int
    lost: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AskedKeys:
    """Keys of a text, to be looked up.

    Parameters
    ----------
    keys, kinds : int64 and uint8 arrays, shape (n_keys,)
        Distinct.
    n_samples : int
        Sampled shingles of the text; not all of them need be among the keys.
    least : int64 array
        How many of them a text must share at the least, of so many as the shorter of the two has; the last also for
        more.
    """

    keys: I64
    kinds: U8
    n_samples: int
    least: I64

    @property
    def most(self) -> I64:
        """Texts that are looked at for each key."""
        return np.where(self.kinds == SAMPLE, MAX_OF_A_SAMPLE, MAX_OF_A_KEY).astype(np.int64)

    def min_of(self, marks: Marks) -> I64:
        """What each content must share."""
        return self.least[np.minimum(np.minimum(marks.n_samples, self.n_samples), len(self.least) - 1)]

    def chosen(self, marks: Marks, n_shared: I64, n_skewed: int) -> Shared:
        """Those contents that matter."""
        matters = (n_shared[:2] > 0).any(axis=0) | (n_shared[2] >= self.min_of(marks))
        return Shared(marks.where(marks.contents[matters]), n_shared[:, matters], n_skewed)


@dataclass(frozen=True, slots=True)
class Searched:
    """Where is looked: a snapshot of a store, how its texts are counted, and from where on none has stored keys."""

    connection: Connection
    store: Store
    counting: TextCounting
    first_without_keys: int | None


def shared_with(searched: Searched, asked: AskedKeys) -> Shared:
    """The contents that share keys, from the table, and from the texts of what has no stored keys yet."""
    first = searched.first_without_keys
    found, lost = list[Shared](), list[int]()
    if first != 0:  # else what is stored is of another method, which a user who may not write cannot mend
        lost += lost_texts(searched.connection, searched.store)
        found.append((_in_sqlite if searched.store.dialect == "sqlite" else _in_postgresql)(searched, asked))
    if first is not None:
        found += _in_texts(searched, asked, first, lost)
    marks = Marks.joined([one.marks for one in found])
    n_shared = np.concatenate([one.n_shared for one in found], axis=1)
    return Shared(marks, n_shared, sum(one.n_skewed for one in found), tuple(lost))


def _in_texts(searched: Searched, asked: AskedKeys, first: int, lost: list[int]) -> list[Shared]:
    found = []
    for numbers, texts, lost_here in texts_from(searched.connection, first, Silent()):
        lost += lost_here
        made = keys_of(texts)
        is_shared = np.isin(made.values, asked.keys)
        kinds, owners = made.kinds[is_shared], made.texts[is_shared]
        n_shared = np.stack([np.bincount(owners[kinds == kind], minlength=len(texts)) for kind in _KINDS])
        found.append(asked.chosen(Marks.of(searched.counting, numbers, texts, made), n_shared, 0))
    return found


def _in_sqlite(searched: Searched, asked: AskedKeys) -> Shared:
    """A question a key: that costs microseconds there, and each may end early."""
    ask = driver_of(searched.connection).execute
    query, of_current = (
        f"SELECT content FROM check_keys WHERE key = ? {more} ORDER BY content LIMIT ?"
        for more in ("", f"AND {_IS_CURRENT}")
    )
    contents, kinds, n_skewed = list[int](), list[int](), 0
    for key, kind, most in zip(asked.keys.tolist(), asked.kinds.tolist(), asked.most.tolist(), strict=True):
        rows = ask(query, (key, most + 1)).fetchall()
        if len(rows) > most:
            rows = ask(of_current, (key, most + 1)).fetchall()
        n_skewed += len(rows) > most
        found = [row[0] for row in rows[:most] if isinstance(row[0], int)]  # SQLite stores anything in any column
        contents += found
        kinds += [kind] * len(found)
    numbers, of_row = np.unique(np.array(contents, np.int64), return_inverse=True)
    is_of = np.array(kinds, np.uint8)
    n_shared = np.stack([np.bincount(of_row[is_of == kind], minlength=len(numbers)) for kind in _KINDS])
    marks = stored_marks(searched.connection, searched.store, numbers).where(numbers)
    return asked.chosen(marks, n_shared, n_skewed)


_QUERY = text(f"""
    WITH first AS MATERIALIZED (
        SELECT asked.key, asked.kind, asked.most, there.content, count(*) OVER (PARTITION BY asked.key) AS n
        FROM unnest(CAST(:keys AS bigint[]), CAST(:kinds AS integer[]), CAST(:most AS bigint[]))
            AS asked (key, kind, most)
        CROSS JOIN LATERAL (
            SELECT content FROM check_keys WHERE check_keys.key = asked.key ORDER BY content LIMIT asked.most + 1
        ) AS there
    ), skewed AS (
        SELECT DISTINCT key, kind, most FROM first WHERE n > most
    ), found AS MATERIALIZED (
        SELECT kind, most, content, 0 AS place FROM first WHERE n <= most
        UNION ALL
        SELECT skewed.kind, skewed.most, there.content, there.place
        FROM skewed CROSS JOIN LATERAL (
            SELECT content, row_number() OVER (ORDER BY content) AS place
            FROM check_keys WHERE check_keys.key = skewed.key AND {_IS_CURRENT}
            ORDER BY content LIMIT skewed.most + 1
        ) AS there
    ), shared AS (
        SELECT content, count(*) FILTER (WHERE kind = 0) AS n_exact, count(*) FILTER (WHERE kind = 1) AS n_bands,
            count(*) FILTER (WHERE kind = 2) AS n_shared
        FROM found WHERE place <= most GROUP BY content
    )
    SELECT NULL, count(*), 0, 0, 0, NULL FROM found WHERE place > most
    UNION ALL
    SELECT content, n_exact, n_bands, n_shared, n_samples, signature
    FROM shared JOIN checked_contents USING (content)
    WHERE n_exact > 0 OR n_bands > 0
        OR n_shared >= (CAST(:least AS integer[]))[1 + least(n_samples, CAST(:n_samples AS integer))]
""")


def _in_postgresql(searched: Searched, asked: AskedKeys) -> Shared:
    """One question, of which the server keeps to itself what does not matter."""
    n_samples = min(asked.n_samples, len(asked.least) - 1)
    values: dict[str, Sequence[int] | int] = {
        "keys": asked.keys.tolist(),
        "kinds": asked.kinds.tolist(),
        "most": asked.most.tolist(),
        "least": asked.least[: n_samples + 1].tolist(),
        "n_samples": n_samples,
    }
    told, *rows = sorted(
        searched.connection.execute(_QUERY, values).all(), key=lambda row: -1 if row[0] is None else row[0]
    )
    n_shared = np.array([[row[1 + kind] for row in rows] for kind in _KINDS], np.int64).reshape(3, len(rows))
    marks = Marks.of_rows([(row[0], row[4], row[5]) for row in rows], SIGNATURE.bits // 8)
    return Shared(marks, n_shared, int(told[1]))
