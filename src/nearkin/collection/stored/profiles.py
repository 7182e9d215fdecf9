"""Numbers of each text for plain SQL: its similarity index, and some of its letter counts.

Vectors of letter counts differ in length, and in each count, by at most their distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, select

from nearkin.collection.counting import TextCounting
from nearkin.kernels.letters import LATIN, N_LATIN
from nearkin.kernels.plain.mixing import mix
from nearkin.records import I64, U32, Bool
from nearkin.store import schema
from nearkin.store.bulk import among, in_slices

MEASURED = tuple(column.name for column in schema.contents.columns)[2:-1]
"""Columns of ``contents`` that are derived from the text."""
COLUMNS = tuple(column.name for column in schema.profiles.columns)[1:]
"""Row of a profile, without the number of its content."""
_INDEXES = select(schema.profiles.c.content, schema.profiles.c.similarity_index)
_INDEXES = _INDEXES.where(among(schema.profiles.c.content))
Profile = tuple[int | None, ...]
_PLACES = tuple(LATIN.index(letter) for letter in schema.LETTERS)
_OTHER_PLACES = tuple(N_LATIN + (mix(ord(letter)) >> 58) for letter in schema.OTHER_LETTERS)


def measured(texts: pa.LargeStringArray, counting: TextCounting) -> tuple[list[tuple[Any, ...]], list[Profile]]:
    """Compute the columns `MEASURED` of ``contents``, and the row of ``profiles``, for each text."""
    vectors, signed, indexed = counting.count(texts), counting.sign(texts), counting.index(texts)
    columns = [
        pc.binary_length(texts).to_pylist(),
        pc.utf8_length(texts).to_pylist(),
        vectors.n_counted.tolist(),
        vectors.n_others.tolist(),
        vectors.is_counted.tolist(),
        [np.trim_zeros(row, "b").tobytes() for row in np.ascontiguousarray(vectors.counts, "<u4")],
        [row.tobytes() if has else None for row, has in zip(signed.packed, signed.has_features)],
    ]
    profiles = profiles_of(vectors.counts, vectors.is_counted, indexed.values, indexed.has_value)
    return list(zip(*columns, strict=True)), profiles


def profiles_of(counts: U32, is_counted: Bool, values: I64, has_value: Bool) -> list[Profile]:
    """Return the rows of the table ``profiles``, without their numbers.

    Examples
    --------
    >>> counts = np.zeros((1, 62), np.uint32)
    >>> counts[0, [LATIN.index("e"), LATIN.index("t")]] = 30, 40
    >>> dict(zip(COLUMNS[:5], profiles_of(counts, np.ones(1, bool), np.array([-7]), np.ones(1, bool))[0]))
    {'similarity_index': -7, 'squared_length': 2500, 'length': 50, 'n_e': 30, 'n_t': 40}
    """
    from nearkin.stages.search.ranges.segment import squared_lengths  # a question makes no profiles

    squares = squared_lengths(counts)
    nothing = np.zeros(len(counts), np.int64)
    others = [counts[:, place] if place < counts.shape[1] else nothing for place in _OTHER_PLACES]
    columns = [squares, whole_roots(squares), *(counts[:, place] for place in _PLACES), *others]
    lists = [_told(values, has_value), *(_told(column, is_counted) for column in columns)]
    return list(zip(*lists, strict=True))


def _told(column: I64 | U32, mask: Bool) -> list[int | None]:
    numbers = column.astype(object)
    numbers[~mask] = None
    return numbers.tolist()  # type: ignore[no-any-return]


def whole_roots(squares: I64) -> I64:
    """Return the integer square roots, rounded down.

    Examples
    --------
    >>> whole_roots(np.array([0, 24, 25, 2**60 - 1, 2**60])).tolist()
    [0, 4, 5, 1073741823, 1073741824]
    """
    roots = np.sqrt(squares.astype(np.float64)).astype(np.int64)  # may be off by one in either direction
    roots -= roots * roots > squares
    roots += (roots + 1) * (roots + 1) <= squares
    return roots


def similarity_indexes(connection: Connection, numbers: Sequence[int]) -> dict[int, int | None]:
    """Return the similarity indexes of stored contents, by number."""
    rows = (row for block in in_slices(numbers) for row in connection.execute(_INDEXES, {"values": block}))
    return {row.content: row.similarity_index for row in rows}
