"""Documents within a tolerance of a query: candidates by one of four searches, verified."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from sqlalchemy import select

from nearkin.collection.check_in.candidates import PARTS_JACCARD, Query, candidates_by_keys
from nearkin.collection.check_in.results import MIN_COMMON, CheckOptions
from nearkin.collection.measuring import compare_with, verified
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.results import SimilarDocument, SimilarDocuments, StoredDocument
from nearkin.collection.stored.contents import Content, content_of, contents_of
from nearkin.collection.stored.documents import current_documents, document, sizes_of_current
from nearkin.collection.stored.key_table import KEYS
from nearkin.collection.stored.word_sets import Shares, in_lots, word_sets
from nearkin.collection.tolerance import Tolerance, check_limit, is_letters_only
from nearkin.kernels.buffers import strings
from nearkin.planning.part_recall import PartRecall
from nearkin.records import I64, U64
from nearkin.stages.search.hamming.neighbours import rows_within
from nearkin.stages.signatures.similarity_index import interval
from nearkin.store.schema import contents

MAX_COMPARED = 20_000
"""Maximum number of texts that a query by Jaccard similarity compares word by word, the nearest signatures first; takes
a few seconds."""
MAX_CONTAINING = 2_000
"""Maximum number of candidates compared by containment, the most promising first."""
_NOTHING = np.zeros(0, np.int64)
_MOST, _LEAST = 2**63 - 1, -(2**63)
"""Range of values of the column of similarity indexes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Contents near a query, the nearest first."""

    contents: I64
    is_answered: bool
    shares: Mapping[int, Shares] = field(default_factory=dict)
    n_not_compared: int = 0
    n_hot_keys: int = 0
    part_recall: PartRecall | None = None
    similarity_index: int | None = None


def near(collection: OpenedCollection, seen: Snapshot, query: Content, tolerance: Tolerance) -> Near:
    """Return the contents within the tolerance, including those of removed documents."""
    search = {"jaccard": by_jaccard, "containment": by_containment, "letters": by_letters, "index": by_index}
    answer = search[tolerance.measure](collection, seen, query, tolerance)
    if not answer.is_answered and query.number >= 0 and tolerance.measure != "containment":
        return replace(answer, contents=np.array([query.number]))
    return answer


def by_letters(collection: OpenedCollection, seen: Snapshot, query: Content, tolerance: Tolerance) -> Near:
    """Search the letter counts, which misses nothing."""
    from nearkin.stages.search.ranges.index import RangeIndex  # other measures need no range search

    counting = collection.counting
    index = RangeIndex(tuple(segment.vectors for segment in seen.segments), counting.letters.fingerprint)
    counts = query.counts[: counting.letters.n_dimensions].reshape(1, -1)
    vectors = counting.vectors_of_counts(counts, np.array([query.is_counted]))
    matches = index.search(vectors, tolerance.value)
    return Near(contents=matches.row, is_answered=query.is_counted)


def by_jaccard(collection: OpenedCollection, seen: Snapshot, query: Content, tolerance: Tolerance) -> Near:
    """Search the signatures; verify the candidates that current documents have."""
    if query.signature is None:
        return Near(contents=_NOTHING, is_answered=False)
    words: U64 = np.ascontiguousarray(query.signature).view(np.uint64)
    rows, bits = [_NOTHING], [_NOTHING]
    for segment in seen.segments:
        places, distances = rows_within(segment.words, words, tolerance.reach)
        has_features = np.asarray(segment.has_features)[places]
        rows.append(places[has_features] + segment.first)
        bits.append(distances[has_features])
    all_rows, all_bits = np.concatenate(rows), np.concatenate(bits)
    nearest = all_rows[np.lexsort((all_rows, all_bits))]
    candidates = sizes_of_current(seen.connection, nearest.tolist())
    lots = in_lots(sorted(islice(candidates.items(), MAX_COMPARED)))
    (query_words,) = word_sets(collection.counting, [query.text])
    matches = {
        content.number: shares
        for content, shares in verified(seen.connection, collection.counting, query_words, lots)
        if shares.jaccard >= tolerance.value
    }
    contents = sorted(matches, key=lambda number: (-matches[number].jaccard, number))
    return Near(
        contents=np.array(contents, np.int64),
        is_answered=True,
        shares=matches,
        n_not_compared=max(0, len(candidates) - MAX_COMPARED),
    )


def by_containment(collection: OpenedCollection, seen: Snapshot, query: Content, tolerance: Tolerance) -> Near:
    """Search the keys; verify the candidates."""
    connection, counting = seen.connection, collection.counting
    check_query = Query.of(counting, query.text)
    if check_query.signature is None:
        return Near(contents=_NOTHING, is_answered=False)
    first_missing = KEYS.first_missing(connection)
    options = CheckOptions(threshold=PARTS_JACCARD, containment=tolerance.value)
    candidates = candidates_by_keys(connection, counting, check_query, options, first_missing)
    matches = dict[int, Shares]()
    for content, shares in verified(connection, counting, check_query.words, candidates.lots(MAX_CONTAINING)):
        is_part = max(shares.contained, shares.contains) >= tolerance.value and shares.n_common >= MIN_COMMON
        if is_part or content.digest == query.digest:
            matches[content.number] = shares
    contents = sorted(matches, key=lambda number: (-max(matches[number].contained, matches[number].contains), number))
    n_left = max(0, len(candidates.contents) - MAX_CONTAINING)
    return Near(
        contents=np.array(contents, np.int64),
        is_answered=True,
        shares=matches,
        n_not_compared=n_left,
        n_hot_keys=candidates.n_hot_keys,
        part_recall=None if n_left else candidates.part_recall,
    )


def by_index(collection: OpenedCollection, seen: Snapshot, query: Content, tolerance: Tolerance) -> Near:
    """Search the indexed column of similarity indexes, which is weak evidence.

    The interval around 0 is empty, as in the paper: a text with index 0 finds nothing.
    """
    made = collection.counting.index(strings([query.text]))
    query_index = int(made.values[0]) if made.has_value[0] else None
    low, high = interval(query_index, tolerance.value) if query_index is not None else (1, 0)
    if query_index is None or low > high:
        return Near(contents=_NOTHING, is_answered=False, similarity_index=query_index)
    value = contents.c.similarity_index
    is_near = value.between(max(low, _LEAST), min(high, _MOST))
    rows: Sequence[tuple[int, int]] = seen.connection.execute(select(contents.c.content, value).where(is_near)).all()
    nearest = sorted(rows, key=lambda row: (abs(row[1] - query_index), row[0]))
    return Near(
        contents=np.array([row[0] for row in nearest], np.int64),
        is_answered=True,
        similarity_index=query_index,
    )


def similar_documents(
    collection: OpenedCollection,
    doc_id: str | None,
    text: str | None,
    tolerance: Tolerance,
    *,
    version: int | None,
    limit: int,
) -> SimilarDocuments:
    """Find similar documents; see `Collection.similar`."""
    check_limit(limit)

    def ask(seen: Snapshot) -> SimilarDocuments:
        started = time.perf_counter()
        itself = None if doc_id is None else document(seen.connection, doc_id, version)
        if itself is not None:
            query = contents_of(seen.connection, [itself.content])[itself.content]
        else:
            query = content_of(seen.connection, collection.counting, "" if text is None else text)
        answer = near(collection, seen, query, tolerance)
        compared, n_found = documents_among(collection, seen, query, tolerance, answer, limit=limit, leave_out=itself)
        return SimilarDocuments(
            tolerance=tolerance,
            documents=tuple(compared),
            n_found=n_found,
            is_answered=answer.is_answered,
            n_not_compared=answer.n_not_compared,
            n_hot_keys=answer.n_hot_keys,
            expected_recall_of_parts=answer.part_recall,
            elapsed_s=round(time.perf_counter() - started, 4),
            similarity_index=answer.similarity_index,
        )

    prepare(collection, tolerance)
    if tolerance.measure == "index":  # needs only the store
        with collection.store.reading() as connection:
            return ask(Snapshot(connection, ()))
    return collection.answered(ask)


def prepare(collection: OpenedCollection, tolerance: Tolerance) -> None:
    """Store missing keys for a search by containment, if they may be stored."""
    if tolerance.measure == "containment":
        from nearkin.collection.check_in.check_in import with_keys

        with_keys(collection, lambda *_: None)


def documents_among(
    collection: OpenedCollection,
    seen: Snapshot,
    query: Content,
    tolerance: Tolerance,
    answer: Near,
    *,
    limit: int,
    leave_out: StoredDocument | None,
) -> tuple[list[SimilarDocument], int]:
    """Return the first documents of found contents, compared with the query, and their total number."""
    is_itself = leave_out is not None and leave_out.is_current
    documents, n_found = current_documents(seen.connection, answer.contents.tolist(), limit + is_itself)
    if leave_out is not None and leave_out.is_current:
        n_found -= int(leave_out.content in answer.contents)
        documents = [candidate for candidate in documents if candidate != leave_out][:limit]
    compared = compare_with(seen.connection, collection.counting, query, documents, answer.shares)
    return [
        replace(candidate, is_letters_only=is_letters_only(candidate.jaccard, tolerance)) for candidate in compared
    ], n_found
