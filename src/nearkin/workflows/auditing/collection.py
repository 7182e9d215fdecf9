"""Audit of a collection: results of ``nearkin similar`` for a sample of its documents, compared with all documents."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from sqlalchemy import ColumnElement, Connection, select

from nearkin.collection.check_in.results import MIN_COMMON
from nearkin.collection.counting import TextCounting
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.similar import near, prepare
from nearkin.collection.stored.contents import Content, contents_of, similarity_indexes
from nearkin.collection.stored.segments import read_contents
from nearkin.collection.stored.word_sets import some_at_a_time
from nearkin.collection.tolerance import Measure, Tolerance
from nearkin.engines.local import map_ordered
from nearkin.kernels.buffers import strings
from nearkin.nouns import counted
from nearkin.records import F64, I64, U32, U64, Bool, ShingleSets
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.search.inverted import InvertedSets
from nearkin.stages.search.ranges.index import RangeQueries
from nearkin.stages.search.stretches import keys_of
from nearkin.stages.signatures.similarity_index import interval
from nearkin.store.bulk import in_slices
from nearkin.store.schema import contents, documents
from nearkin.store.store import Access
from nearkin.workflows.auditing.audited import Audited, AuditOptions, Pair, PairTally

_LACKING: dict[Measure, str] = {
    "letters": "too few letters for --measure letters",
    "jaccard": "no words",
    "index": "no similarity index, or 0",
    "containment": "no words",
}
_SIMILARITY: dict[Measure, str] = {
    "letters": "1 - distance / length",
    "jaccard": "jaccard",
    "index": "1 - difference / similarity index",
    "containment": "containment",
}
"""Measure of the similarity of a pair, by method."""
_CONTENTS_AT_A_TIME = 1 << 13
TrueOnes = tuple[I64, I64, F64]
"""Places in the sample, contents within the tolerance, similarities."""


def audit_collection(place: str | Path, options: AuditOptions, progress: Progress) -> Audited:
    """Search a collection for documents similar to each of a sample, and compare the results with everything."""
    access = Access(is_read_only=options.is_read_only)
    with OpenedCollection.open(place, cache=options.cache, access=access, progress=progress) as collection:
        return audit_opened(collection, options, progress)


def audit_opened(collection: OpenedCollection, options: AuditOptions, progress: Progress) -> Audited:
    """Audit a collection that is open; see `audit_collection`."""
    started, tolerance = time.perf_counter(), options.tolerance or Tolerance.of()
    prepare(collection, tolerance)
    return collection.answered(partial(_audit, collection, tolerance, options, progress, started))


def _audit(
    collection: OpenedCollection,
    tolerance: Tolerance,
    options: AuditOptions,
    progress: Progress,
    started: float,
    seen: Snapshot,
) -> Audited:
    connection, counting = seen.connection, collection.counting
    rows = connection.execute(select(documents.c.content).where(documents.c.is_current)).scalars().all()
    current = np.unique(np.array(rows, np.int64))
    population = _queryable(connection, tolerance.measure, current)
    sample = options.drawn(population)
    tally = PairTally(len(sample))
    if len(sample):
        neighbours = _found(collection, seen, sample, tolerance, progress)
        progress.start("compare", len(current), "documents")
        for place, content, similarity in _true_pairs(
            connection, counting, sample, current, tolerance, options, progress
        ):
            is_other = sample[place] != content
            place, content, similarity = place[is_other], content[is_other], similarity[is_other]
            was_found = np.isin(keys_of(place, content), neighbours)
            tally.count(place, was_found)
            tally.miss(_named(connection, sample[place[~was_found]], content[~was_found], similarity[~was_found]))
        progress.finish()
    return tally.audited(
        n_population=len(population),
        started=started,
        what=f"nearkin similar {tolerance.in_options()}, {collection.place}",
        pairs=f"different texts {tolerance.in_words()}",
        counting="a pair counts once for each of its texts that is in the sample",
        similarity=_SIMILARITY[tolerance.measure],
        predicted_recall=tolerance.recall,
        drawn="distinct texts" + " that can be queried" * (len(population) < len(current)),
        claims_all=tolerance.recall == 1,
        notes=tuple(_notes(len(rows) - len(current), len(current) - len(population), tolerance.measure)),
    )


def _notes(n_copies: int, n_lacking: int, measure: Measure) -> Iterator[str]:
    if n_copies:
        yield f"not counted: {counted(n_copies, 'document')} with the text of another"
    if n_lacking:
        yield f"not part of the recall: {counted(n_lacking, 'text')} with {_LACKING[measure]}"


def _queryable(connection: Connection, measure: Measure, current: I64) -> I64:
    numbers: list[int] = []
    for contents_here in in_slices(current.tolist()):
        has_it: ColumnElement[bool] = contents.c.signature.is_not(None)
        if measure == "index":
            has_it = contents.c.similarity_index.is_not(None) & (contents.c.similarity_index != 0)
        elif measure == "letters":
            has_it = contents.c.is_counted
        query = select(contents.c.content).where(contents.c.content.in_(contents_here), has_it)
        numbers += connection.execute(query).scalars()
    return np.sort(np.array(numbers, np.int64))


def _found(collection: OpenedCollection, seen: Snapshot, sample: I64, tolerance: Tolerance, progress: Progress) -> U64:
    progress.start("ask", len(sample), "documents")
    keys: list[U64] = []
    for batch in _contents(seen.connection, sample):
        for content in batch:
            neighbours = near(collection, seen, content, tolerance).contents
            keys.append(keys_of(np.full(len(neighbours), len(keys)), neighbours))
            progress.advance(1)
    progress.finish()
    return np.concatenate(keys)


def _contents(connection: Connection, numbers: I64) -> Iterator[list[Content]]:
    for numbers_here in some_at_a_time(connection, numbers.tolist()):
        held = contents_of(connection, numbers_here)
        yield [held[number] for number in numbers_here]


def _named(connection: Connection, sampled: I64, other: I64, similarities: F64) -> Iterator[Pair]:
    names: dict[int, str] = {}
    for contents_here in in_slices(np.unique(np.concatenate([sampled, other])).tolist()):
        query = select(documents.c.content, documents.c.doc_id).where(
            documents.c.content.in_(contents_here), documents.c.is_current
        )
        for content, doc_id in connection.execute(query.order_by(documents.c.row)):
            names.setdefault(content, doc_id)
    for a, b, similarity in zip(sampled.tolist(), other.tolist(), similarities.tolist(), strict=True):
        yield names[a], names[b], similarity


def _true_pairs(
    connection: Connection,
    counting: TextCounting,
    sample: I64,
    current: I64,
    tolerance: Tolerance,
    options: AuditOptions,
    progress: Progress,
) -> Iterator[TrueOnes]:
    if tolerance.measure == "letters":
        yield from _by_letters(connection, counting, sample, current, tolerance.value, options.threads, progress)
    elif tolerance.measure == "index":
        yield from _by_index(similarity_indexes(connection, current.tolist()), sample, tolerance.value)
        progress.advance(len(current))
    else:
        yield from _by_words(connection, counting, sample, current, tolerance, progress)


def _by_letters(
    connection: Connection,
    counting: TextCounting,
    sample: I64,
    current: I64,
    gamma: float,
    threads: int,
    progress: Progress,
) -> Iterator[TrueOnes]:
    counts = np.stack([content.counts for batch in _contents(connection, sample) for content in batch])
    vectors = counting.vectors_of_counts(counts, np.ones(len(sample), np.bool_))
    queries = RangeQueries.of(counting.letters.fingerprint, vectors, gamma)
    last = int(current[-1]) + 1
    for first in range(0, last, _CONTENTS_AT_A_TIME):
        span = first, min(first + _CONTENTS_AT_A_TIME, last)
        stored, _, _ = read_contents(connection, counting, span, Silent())
        is_current = np.isin(np.arange(*span), current)
        near_query = partial(_near_letters, stored.counts, is_current & stored.is_counted, queries)
        for place, (rows, similarity) in enumerate(map_ordered(near_query, range(len(sample)), threads=threads)):
            yield np.full(len(rows), place), rows + first, similarity
        progress.advance(int(is_current.sum()))


def _near_letters(counts: U32, is_compared: Bool, queries: RangeQueries, place: int) -> tuple[I64, F64]:
    gaps = counts - queries.vectors.counts[place].astype(np.int64)
    squares = np.einsum("ij,ij->i", gaps, gaps)
    rows = np.flatnonzero(is_compared & (squares <= queries.limits[place]))
    relative = np.sqrt(squares[rows] / max(1, int(queries.lengths[place])))
    return rows, np.maximum(1 - relative, 0.0)


def _by_words(
    connection: Connection,
    counting: TextCounting,
    sample: I64,
    current: I64,
    tolerance: Tolerance,
    progress: Progress,
) -> Iterator[TrueOnes]:
    def shingles(batch: Sequence[Content]) -> ShingleSets:
        return counting.shingles(strings([content.text for content in batch]))

    index = InvertedSets.of([shingles(batch) for batch in _contents(connection, sample)])
    for batch in _contents(connection, current):
        numbers = np.array([content.number for content in batch], np.int64)
        shared = index.shared(shingles(batch))
        if tolerance.measure == "jaccard":
            is_near, similarity = shared.jaccard >= tolerance.value, shared.jaccard
        else:
            similarity = shared.containment
            is_near = (similarity >= tolerance.value) & (shared.n_common >= MIN_COMMON)
        yield shared.left[is_near].astype(np.int64), numbers[shared.right[is_near]], similarity[is_near]
        progress.advance(len(batch))


def _by_index(indexes: dict[int, int | None], sample: I64, tolerance: float) -> Iterator[TrueOnes]:
    known = {content: index for content, index in indexes.items() if index is not None}
    values, numbers = np.array(sorted(zip(known.values(), known, strict=True)), np.int64).reshape(-1, 2).T
    for place, content in enumerate(sample.tolist()):
        index = known[content]
        low, high = interval(index, tolerance)
        near_it = slice(np.searchsorted(values, low), np.searchsorted(values, high, "right"))
        away = np.abs(values[near_it].astype(np.float64) - index) / abs(index)
        yield np.full(len(away), place), numbers[near_it], np.maximum(1 - away, 0.0)
