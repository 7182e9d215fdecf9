"""Audit of a collection: results of ``nearkin similar`` for a sample of its documents, compared with all documents."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.check_in.results import MIN_COMMON
from nearkin.collection.counting import TextCounting
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.similar import near, prepare
from nearkin.collection.stored.contents import Content, contents_of
from nearkin.collection.stored.profiles import similarity_indexes
from nearkin.collection.stored.segments import read_contents
from nearkin.collection.stored.word_sets import WordSets, some_at_a_time
from nearkin.collection.tolerance import THRESHOLD, Measure, Tolerance
from nearkin.engines.local import map_ordered
from nearkin.kernels.buffers import strings
from nearkin.nouns import agreeing, counted
from nearkin.planning.audit import estimate_recall, in_proportion, propose_samples
from nearkin.records import F64, I64, U32, U64, Bool, ShingleSets
from nearkin.reports.quantities import nearest_percent_text
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.search.inverted import InvertedSets
from nearkin.stages.search.ranges.index import RangeQueries
from nearkin.stages.signatures.similarity_index import interval
from nearkin.store.bulk import in_slices
from nearkin.store.schema import contents, documents, profiles
from nearkin.store.store import Access
from nearkin.workflows.auditing.audited import Audited, AuditOptions, MissedPairs, Pair
from nearkin.workflows.auditing.reported import keys_of, pairs_of

_ASKED_AT_A_TIME = 64
_MAX_COMPARED = 20_000
"""Maximum number of matches whose wording is compared."""
_LACKING: dict[Measure, str] = {
    "letters": "too few letters for --measure letters",
    "jaccard": "no words",
    "index": "no similarity index, or 0",
    "containment": "no words",
}
_BY_WORDING = ("jaccard", "containment")
"""Methods whose true pairs share wording; by them, unlike by the others, a text matches all texts that match it."""


def audit_collection(place: str | Path, options: AuditOptions, progress: Progress) -> Audited:
    """Search a collection for documents similar to each of a sample, and compare the results with everything.

    Raises
    ------
    CollectionError, ParameterError
        See `Collection`.
    """
    access = Access(is_read_only=options.is_read_only)
    with OpenedCollection.open(place, cache=options.cache, access=access, progress=progress) as collection:
        return audit_opened(collection, options, progress)


def audit_opened(collection: OpenedCollection, options: AuditOptions, progress: Progress) -> Audited:
    """Audit a collection that is open; see `audit_collection`."""
    started = time.perf_counter()
    prepare(collection, options.tolerance or Tolerance.of())
    audited = collection.answered(partial(_audit, collection, options, progress))
    elapsed_s = time.perf_counter() - started
    proposed = propose_samples(audited.estimate, in_proportion(audited.estimate.n_sampled, elapsed_s))
    return replace(audited, elapsed_s=round(elapsed_s, 3), proposed=proposed)


def _audit(collection: OpenedCollection, options: AuditOptions, progress: Progress, seen: Snapshot) -> Audited:
    tolerance = options.tolerance or Tolerance.of()
    rows = seen.connection.execute(select(documents.c.content).where(documents.c.is_current)).scalars().all()
    current = np.unique(np.array(rows, np.int64))
    population = _answered(seen.connection, tolerance.measure, current)
    sample = options.drawn(population)
    missed, n_true, n_found = MissedPairs(), np.zeros(len(sample), np.int64), np.zeros(len(sample), np.int64)
    by_wording, n_twice = tuple[str, ...](), 0
    if len(sample):
        asked, found = _ask(collection, seen, sample, tolerance, progress)
        everything = compare_with_all(
            seen.connection, collection.counting, asked, current, tolerance, threads=options.threads, progress=progress
        )
        for place, content, similarity in everything:
            is_other = sample[place] != content
            is_between = np.isin(content, sample) & (content < sample[place])
            n_twice += int(np.count_nonzero(is_other & is_between))
            was_found = np.isin(keys_of(place, content), found)
            n_true += np.bincount(place[is_other], minlength=len(sample))
            n_found += np.bincount(place[is_other & was_found], minlength=len(sample))
            lost = is_other & ~was_found
            if lost.any():
                missed.take(_named(seen.connection, sample[place[lost]], content[lost], similarity[lost].tolist()))
        if tolerance.measure not in _BY_WORDING:
            by_wording = _by_wording(collection, seen, sample, current, found)
    return Audited(
        what=f"nearkin similar {tolerance.in_options()}, {collection.place}",
        pairs=f"different texts {tolerance.in_words()}",
        counting=_counting(tolerance.measure, n_true=int(n_true.sum()), n_twice=n_twice),
        similarity=SIMILARITY[tolerance.measure],
        estimate=estimate_recall(n_true, n_found, n_population=len(population)),
        missed=missed.table(),
        elapsed_s=0.0,
        predicted_recall=tolerance.recall,
        drawn="distinct texts" + " that can be queried" * (len(population) < len(current)),
        claims_all=tolerance.recall == 1,
        is_truncated=missed.is_truncated,
        notes=(
            _measured(tolerance),
            *by_wording,
            *_notes(len(rows), len(current), len(population), tolerance.measure),
        ),
    )


def _counting(measure: Measure, *, n_true: int, n_twice: int) -> str:
    """Say how often a pair counts; ``n_twice``: number of pairs of two sampled texts.

    Examples
    --------
    >>> _counting("jaccard", n_true=222, n_twice=111)
    '111 pairs, each counted twice: once from each text'
    >>> _counting("jaccard", n_true=222, n_twice=110)
    'a pair counts once for each of its texts that is in the sample'
    """
    if measure in _BY_WORDING and n_true == 2 * n_twice > 0:
        each = "" if n_twice == 1 else "each "
        return f"{counted(n_twice, 'pair')}, {each}counted twice: once from each text"
    return "a pair counts once for each of its texts that is in the sample"


def _measured(tolerance: Tolerance) -> str:
    """Return the definition of a true pair: two versions of a document need not be such a pair."""
    if tolerance.measure == "jaccard":
        return f"A true pair is two texts {tolerance.in_words()}: versions that share fewer words are not counted"
    if tolerance.measure == "containment":
        return f"A true pair is two texts {tolerance.in_words()} and at least {MIN_COMMON} word 5-grams in common"
    by = ", by letter counts" if tolerance.measure == "letters" else ""
    return (
        f"A true pair is two texts {tolerance.in_words()}{by}: versions of a document can lie outside and are not "
        "counted. The measure jaccard audits shared wording"
    )


def _by_wording(collection: OpenedCollection, seen: Snapshot, sample: I64, current: I64, found: U64) -> tuple[str, ...]:
    """Report how many of the matches that the searches found are also matches by wording."""
    place, content = pairs_of(found)
    is_other = (sample[place] != content) & np.isin(content, current)
    left, right = sample[place[is_other]], content[is_other]
    n = len(left)
    if not n:
        return ()
    some = np.arange(n) if n <= _MAX_COMPARED else np.linspace(0, n - 1, _MAX_COMPARED).astype(np.int64)
    sets = WordSets(seen.connection, collection.counting, int(max(left.max(), right.max())) + 1)
    n_alike = int(np.count_nonzero(sets.jaccards(left[some], right[some]) >= THRESHOLD))
    of_all = "" if n == len(some) else f" of {n:,}"
    compared = f"{len(some):,}{of_all} {agreeing(len(some), 'match', 'matches')}"
    share = nearest_percent_text(n_alike / len(some))
    return (
        f"{compared} found: {n_alike:,} of them ({share}) also match by wording, with a Jaccard similarity of at "
        f"least {THRESHOLD:g}",
    )


def _notes(n_documents: int, n_texts: int, n_answered: int, measure: Measure) -> tuple[str, ...]:
    notes = []
    if n_documents > n_texts:
        n = n_documents - n_texts
        repeat = agreeing(n, "repeats the text of another and is", "repeat the texts of others and are")
        notes.append(f"{counted(n, 'document')} {repeat} not counted")
    if n_texts > n_answered:
        n = n_texts - n_answered
        are = agreeing(n, "it cannot be queried and is", "they cannot be queried and are")
        notes.append(f"{counted(n, 'text has', 'texts have')} {_LACKING[measure]}: {are} not part of the recall")
    return tuple(notes)


def _answered(connection: Connection, measure: Measure, current: I64) -> I64:
    """Return the contents that can be queried."""
    able: list[int] = []
    for some in in_slices(current.tolist()):
        if measure == "index":
            index = profiles.c.similarity_index
            query = select(profiles.c.content).where(profiles.c.content.in_(some), index.is_not(None), index != 0)
        else:
            has_it = contents.c.is_counted if measure == "letters" else contents.c.signature.is_not(None)
            query = select(contents.c.content).where(contents.c.content.in_(some), has_it)
        able += connection.execute(query).scalars()
    return np.sort(np.array(able, np.int64))


def _ask(
    collection: OpenedCollection, seen: Snapshot, sample: I64, tolerance: Tolerance, progress: Progress
) -> tuple[Asked, U64]:
    """Return the sampled contents, and the keys of the results of each."""
    progress.start("ask", len(sample), "documents")
    parts: list[Asked] = []
    keys: list[U64] = []
    for start in range(0, len(sample), _ASKED_AT_A_TIME):
        some = sample[start : start + _ASKED_AT_A_TIME].tolist()
        held = contents_of(seen.connection, some)
        indexes = similarity_indexes(seen.connection, some)
        for place, number in enumerate(some, start):
            found = near(collection, seen, held[number], tolerance).contents
            keys.append(keys_of(np.full(len(found), place), found))
            progress.advance(1)
        ordered = [held[number] for number in some]
        own = [indexes.get(number) for number in some]
        parts.append(Asked.of(collection.counting, ordered, own))
    progress.finish()
    return Asked.joined(parts), np.concatenate(keys)


def _named(connection: Connection, own: I64, other: I64, similarities: list[float]) -> list[Pair]:
    """Return the pairs, with the first document of each text."""
    names: dict[int, str] = {}
    for some in in_slices(np.unique(np.concatenate([own, other])).tolist()):
        query = select(documents.c.content, documents.c.doc_id).where(
            documents.c.content.in_(some), documents.c.is_current
        )
        for content, doc_id in connection.execute(query.order_by(documents.c.row)):
            names.setdefault(content, doc_id)
    ends = zip(own.tolist(), other.tolist(), similarities, strict=True)
    return [(names[a], names[b], similarity) for a, b, similarity in ends]


SIMILARITY: dict[Measure, str] = {
    "letters": "1 - distance / length",
    "jaccard": "jaccard",
    "index": "1 - difference / similarity index",
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
    if tolerance.measure in ("jaccard", "index", "containment"):
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
        if tolerance.measure == "jaccard":
            shared = index.shared(counting.shingles(texts))
            alike = shared.where(shared.jaccard >= tolerance.value)
            yield alike.left.astype(np.int64), numbers[alike.right], alike.jaccard
        elif tolerance.measure == "containment":
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
