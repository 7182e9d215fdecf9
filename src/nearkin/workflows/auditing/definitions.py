"""True results of each search method of a collection, from comparing a sample with every stored text.

No segments, tables or SQL conditions are used: letter counts come from the store, shared words and similarity
indexes from the texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from sqlalchemy import Connection

from nearkin.collection.check_in.results import MIN_COMMON
from nearkin.collection.counting import TextCounting
from nearkin.collection.stored.contents import Content, contents_of
from nearkin.collection.stored.segments import read_contents
from nearkin.collection.stored.word_sets import some_at_a_time
from nearkin.collection.tolerance import Method, Tolerance
from nearkin.engines.local import map_ordered
from nearkin.kernels.buffers import strings
from nearkin.records import F64, I64, U32, Bool, ShingleSets
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.search.inverted import InvertedSets
from nearkin.stages.search.ranges.index import RangeQueries
from nearkin.stages.signatures.similarity_index import interval

SIMILARITY: dict[Method, str] = {
    "range": "1 - distance / length",
    "minhash": "jaccard",
    "si": "1 - difference / similarity index",
    "containment": "containment",
}
"""Measure of the similarity of a pair, by method."""
_CONTENTS_AT_A_TIME = 1 << 13
TrueOnes = tuple[I64, I64, F64]
"""Places in the sample, contents, similarities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Sampled contents.

    Parameters
    ----------
    numbers : int64 array, shape (n_sampled,)
    counts : uint32 array, shape (n_sampled, n_dimensions)
    sets : ShingleSets
        Shingle sets, from which Jaccard similarity is computed.
    indexes : sequence of int or None
    """

    numbers: I64
    counts: U32
    sets: ShingleSets
    indexes: Sequence[int | None]

    @classmethod
    def of(cls, counting: TextCounting, found: Sequence[Content], indexes: Sequence[int | None]) -> Asked:
        """Make it from contents in the store."""
        return cls(
            numbers=np.array([one.number for one in found], np.int64),
            counts=np.array([one.counts for one in found], np.uint32).reshape(len(found), -1),
            sets=counting.shingles(strings([one.text for one in found])),
            indexes=indexes,
        )

    @classmethod
    def joined(cls, parts: Sequence[Asked]) -> Asked:
        """Concatenate at least one of them."""
        offsets = np.cumsum(np.concatenate([[0], *(part.sets.sizes for part in parts)]))
        sets = ShingleSets(
            np.concatenate([part.sets.hashes for part in parts]),
            offsets.astype(np.int64),
            np.concatenate([part.sets.n_units for part in parts]),
            parts[0].sets.fingerprint,
        )
        return cls(
            numbers=np.concatenate([part.numbers for part in parts]),
            counts=np.concatenate([part.counts for part in parts]),
            sets=sets,
            indexes=[index for part in parts for index in part.indexes],
        )


def compare_with_all(
    connection: Connection,
    counting: TextCounting,
    asked: Asked,
    current: I64,
    tolerance: Tolerance,
    *,
    threads: int,
    progress: Progress,
) -> Iterator[TrueOnes]:
    """Yield the contents within the tolerance of each sampled content, in parts.

    Parameters
    ----------
    connection : Connection
    counting : TextCounting
    asked : Asked
    current : int64 array
        Ascending: the contents to compare.
    tolerance : Tolerance
    threads : int
    progress : Progress
    """
    progress.start("compare", len(current), "documents")
    if tolerance.method in ("minhash", "si", "containment"):
        yield from _by_texts(connection, counting, asked, current, tolerance, progress)
    else:
        yield from _by_letters(connection, counting, asked, current, tolerance, threads, progress)
    progress.finish()


def _by_letters(
    connection: Connection,
    counting: TextCounting,
    asked: Asked,
    current: I64,
    tolerance: Tolerance,
    threads: int,
    progress: Progress,
) -> Iterator[TrueOnes]:
    last = int(current[-1]) + 1 if len(current) else 0
    vectors = counting.vectors_of_counts(asked.counts, np.ones(len(asked.numbers), np.bool_))
    queries = RangeQueries.of(counting.letters.fingerprint, vectors, tolerance.value)
    for first in range(0, last, _CONTENTS_AT_A_TIME):
        span = first, min(first + _CONTENTS_AT_A_TIME, last)
        stored, _, _ = read_contents(connection, counting, span, Silent())
        is_live = np.isin(np.arange(*span), current)
        near = partial(_near_letters, stored.counts, is_live & stored.is_counted, queries)
        for place, (rows, similarity) in enumerate(map_ordered(near, range(len(asked.numbers)), threads=threads)):
            yield np.full(len(rows), place), rows + first, similarity
        progress.advance(int(is_live.sum()))


def _near_letters(counts: U32, counts_at_all: Bool, queries: RangeQueries, place: int) -> tuple[I64, F64]:
    gaps = counts - queries.vectors.counts[place].astype(np.int64)
    squares = np.einsum("ij,ij->i", gaps, gaps)
    rows = np.flatnonzero(counts_at_all & (squares <= queries.limits[place]))
    relative = np.sqrt(squares[rows] / max(1, int(queries.lengths[place])))
    return rows, np.maximum(1 - relative, 0.0)


def _by_texts(
    connection: Connection, counting: TextCounting, asked: Asked, current: I64, tolerance: Tolerance, progress: Progress
) -> Iterator[TrueOnes]:
    index = InvertedSets.of(asked.sets)
    for some in some_at_a_time(connection, current.tolist()):
        found = list(contents_of(connection, some).values())
        numbers = np.array([one.number for one in found], np.int64)
        texts = strings([one.text for one in found])
        if tolerance.method == "minhash":
            shared = index.shared(counting.shingles(texts))
            alike = shared.where(shared.jaccard >= tolerance.value)
            yield alike.left.astype(np.int64), numbers[alike.right], alike.jaccard
        elif tolerance.method == "containment":
            shared = index.shared(counting.shingles(texts))
            alike = shared.where((shared.containment >= tolerance.value) & (shared.n_common >= MIN_COMMON))
            yield alike.left.astype(np.int64), numbers[alike.right], alike.containment
        else:
            made = counting.index(texts)
            yield from _near_indexes(asked.indexes, numbers[made.has_value], made.values[made.has_value], tolerance)
        progress.advance(len(some))


def _near_indexes(own: Sequence[int | None], numbers: I64, values: I64, tolerance: Tolerance) -> Iterator[TrueOnes]:
    order = np.argsort(values, kind="stable")
    for place, index in enumerate(own):
        if index is None:
            continue
        low, high = interval(index, tolerance.value)
        rows = order[np.searchsorted(values, low, "left", order) : np.searchsorted(values, high, "right", order)]
        away = np.abs(values[rows].astype(np.float64) - index) / abs(index)
        yield np.full(len(rows), place), numbers[rows], np.maximum(1 - away, 0.0)
