"""Sets of the word 5-grams of texts, and their Jaccard similarity.

Source: Paul Jaccard, "The distribution of the flora in the alpine zone", 1912.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.counting import SHINGLES, TextCounting
from nearkin.collection.stored.contents import texts_of
from nearkin.kernels.buffers import strings
from nearkin.kernels.overlap import n_common
from nearkin.records import F64, I64, U64, ShingleSets
from nearkin.stages.verification.difference_names import Difference
from nearkin.store.bulk import among, in_slices
from nearkin.store.schema import contents

_TEXT_BYTES_AT_A_TIME, _TEXTS_AT_A_TIME = 1 << 24, 1 << 10
_PAIRS_AT_A_TIME = 1 << 10
_MAX_HASHES = 1 << 24
"""Maximum number of hashes kept for further pairs, 128 MiB."""
_FIRST_ROOM = 1 << 16
_NOT_HELD = -1
_LENGTHS = select(contents.c.content, contents.c.n_bytes).where(among(contents.c.content))
Item = TypeVar("Item")


def word_sets(counting: TextCounting, texts: Sequence[str]) -> list[U64]:
    """Return the sorted hashes of the set of word 5-grams of each text."""
    sets = counting.shingles(strings(list(texts)))
    return [np.sort(sets.hashes[a:b]) for a, b in zip(sets.offsets[:-1], sets.offsets[1:])]


class Shares(NamedTuple):
    """Jaccard similarity of two sets, the shares of each in the other, and the number of common elements."""

    jaccard: float
    contained: float
    contains: float
    n_common: int


def shares(a: U64, b: U64) -> Shares:
    """Return the overlap of two sets; all shares are 1 if both are empty.

    Examples
    --------
    >>> shares(np.array([1, 2], np.uint64), np.array([1, 2, 3, 4], np.uint64))
    Shares(jaccard=0.5, contained=1.0, contains=0.5, n_common=2)
    """
    n_both = len(np.intersect1d(a, b, assume_unique=True))
    n_all = len(a) + len(b) - n_both
    if not n_all:
        return Shares(1.0, 1.0, 1.0, 0)
    return Shares(n_both / n_all, n_both / max(1, len(a)), n_both / max(1, len(b)), n_both)


def some_at_a_time(connection: Connection, numbers: Sequence[int]) -> Iterator[list[int]]:
    """Yield contents in lots whose texts fit in memory; a single text is never too long."""
    yield from in_lots(sorted(lengths_of(connection, numbers).items()))


def lengths_of(connection: Connection, numbers: Iterable[int]) -> dict[int, int]:
    """Return the bytes of the texts of contents; 0 if that is damaged, as reading the text reports it."""
    rows = (row for block in in_slices(sorted(set(numbers))) for row in connection.execute(_LENGTHS, {"values": block}))
    return {row[0]: row[1] if isinstance(row[1], int) else 0 for row in rows}


def in_lots(
    sizes: Iterable[tuple[Item, int]], *, most: int | None = None, at_most: int = _TEXTS_AT_A_TIME
) -> Iterator[list[Item]]:
    """Yield things, given with their sizes, in lots of a total size and a number; a single one always fits."""
    batch, total, most = list[Item](), 0, most or _TEXT_BYTES_AT_A_TIME
    for item, size in sizes:
        if batch and (total + size > most or len(batch) == at_most):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
    if batch:
        yield batch


class WordSets:
    """Sets of stored texts, all numbered below ``n_contents``, kept for the next pairs while there is room."""

    def __init__(self, connection: Connection, counting: TextCounting, n_contents: int) -> None:
        self._connection, self._counting = connection, counting
        self._place = np.full(n_contents, _NOT_HELD, np.int64)
        self._hashes = np.zeros(_FIRST_ROOM, np.uint64)  # filled up to the last end; the rest is room
        self._ends = np.zeros(1, np.int64)

    def jaccards(self, left: I64, right: I64) -> F64:
        """Return the exact Jaccard similarity of each pair of contents; 1 for two without words."""
        similarities = np.ones(len(left))
        apart = np.flatnonzero(left != right)
        apart = apart[np.lexsort((right[apart], left[apart]))]
        for start in range(0, len(apart), _PAIRS_AT_A_TIME):
            block = apart[start : start + _PAIRS_AT_A_TIME]
            similarities[block] = self._measured(left[block], right[block])
        return similarities

    def differences(self, left: I64, right: I64) -> list[Difference]:
        """Return what differs in each pair of contents."""
        kinds: list[Difference] = ["nothing"] * len(left)
        apart = np.flatnonzero(left != right)
        lengths = lengths_of(self._connection, right[apart].tolist())
        n_bytes = np.cumsum([lengths.get(number, 0) for number in right[apart].tolist()])
        lots = np.maximum(n_bytes // _TEXT_BYTES_AT_A_TIME, np.arange(len(apart)) // _PAIRS_AT_A_TIME)
        for lot in np.unique(lots):
            pairs = apart[lots == lot]
            numbers = np.unique(np.concatenate([left[pairs], right[pairs]]))
            texts = texts_of(self._connection, numbers.tolist())
            a, b = np.searchsorted(numbers, left[pairs]), np.searchsorted(numbers, right[pairs])
            normalised = self._counting.with_numbers(strings([texts[number] for number in numbers.tolist()]))
            sets = SHINGLES.sets(normalised)
            if not self._counting.ignored.numbers and self._ends[-1] <= _MAX_HASHES:
                self._keep(numbers, sets)  # for `jaccards`
            differences = self._counting.differences(normalised, sets, a, b)
            for pair, difference in zip(pairs.tolist(), differences, strict=True):
                kinds[pair] = difference
        return kinds

    def _measured(self, left: I64, right: I64) -> F64:
        self._hold(np.unique(np.concatenate([left, right])))
        a, b = self._place[left], self._place[right]
        sizes = np.diff(self._ends)
        both = n_common(self._hashes, self._ends[:-1], self._ends[1:], a.astype(np.uint32), b.astype(np.uint32))
        n_all = sizes[a] + sizes[b] - both
        return np.where(n_all == 0, 1.0, both / np.maximum(n_all, 1))

    def _hold(self, numbers: I64) -> None:
        """Read the sets that are missing; forget all others first if there are too many."""
        missing = numbers[self._place[numbers] == _NOT_HELD]
        if not len(missing):
            return
        if self._ends[-1] > _MAX_HASHES:
            self._place[:] = _NOT_HELD
            self._ends = self._ends[:1]
            missing = numbers
        for block in some_at_a_time(self._connection, missing.tolist()):
            texts = texts_of(self._connection, block)
            sets = self._counting.shingles(strings([texts[number] for number in block]))
            self._keep(np.array(block, np.int64), sets)

    def _keep(self, numbers: I64, sets: ShingleSets) -> None:
        n_held, n_hashes = len(self._ends) - 1, int(self._ends[-1])
        self._reserve(n_hashes, len(sets.hashes))
        self._hashes[n_hashes : n_hashes + len(sets.hashes)] = sets.hashes
        self._place[numbers] = np.arange(n_held, n_held + len(numbers))
        self._ends = np.concatenate([self._ends, np.asarray(sets.offsets[1:], np.int64) + n_hashes])

    def _reserve(self, n_filled: int, n_more: int) -> None:
        """Make room for more hashes; doubled, as to copy all each time took longer than to read the texts."""
        if n_filled + n_more <= len(self._hashes):
            return
        grown = np.zeros(max(n_filled + n_more, 2 * len(self._hashes)), np.uint64)
        grown[:n_filled] = self._hashes[:n_filled]
        self._hashes = grown
