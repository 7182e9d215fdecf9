"""Search for all documents within a tolerance of a document, across all waves."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.check_in.candidates import PARTS_JACCARD, Query, candidates_of
from nearkin.collection.check_in.results import MIN_COMMON, CheckOptions
from nearkin.collection.check_in.shared_keys import Searched
from nearkin.collection.counting import TextCounting
from nearkin.collection.matching.by_index import Near, near_by_index
from nearkin.collection.measuring import compare_with, with_shares
from nearkin.collection.opened import OpenedCollection, Snapshot, StaleIndexError
from nearkin.collection.results import SimilarDocument, SimilarDocuments, StoredDocument
from nearkin.collection.stored.contents import Content, content_of, contents_of
from nearkin.collection.stored.documents import current_documents, document
from nearkin.collection.stored.key_table import KEYS
from nearkin.collection.stored.profiles import similarity_index_of
from nearkin.collection.stored.segment_files import Segment
from nearkin.collection.stored.word_sets import shares, some_at_a_time, word_sets
from nearkin.collection.tolerance import Tolerance, check_limit, is_letters_only
from nearkin.records import I64, U64
from nearkin.stages.search.hamming.scan import rows_within
from nearkin.store.bulk import in_slices
from nearkin.store.schema import documents
from nearkin.store.store import Store

MAX_COMPARED = 20_000
"""Maximum number of texts that a query by "minhash" compares word by word, the nearest signatures first; takes a few
seconds."""
_NOTHING = np.zeros(0, np.int64)
_FOUND_BY = {"minhash": "words", "range": "letters", "si": "index", "containment": "keys"}


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

    def ask(seen: Snapshot) -> SimilarDocuments:
        itself = None if doc_id is None else document(seen.connection, doc_id, version)
        if itself is not None:
            query = contents_of(seen.connection, [itself.content])[itself.content]
        else:
            query = content_of(seen.connection, collection.counting, "" if text is None else text)
        return similar(
            seen.connection,
            collection.counting,
            seen.segments,
            query,
            tolerance,
            store=collection.store,
            limit=limit,
            leave_out=itself,
        )

    prepare(collection, tolerance)
    if tolerance.method == "si":  # needs only the store
        with collection.store.reading() as connection:
            return ask(Snapshot(connection, ()))
    return collection.answered(ask)


def similar(
    connection: Connection,
    counting: TextCounting,
    segments: Sequence[Segment],
    query: Content,
    tolerance: Tolerance,
    *,
    store: Store,
    limit: int,
    leave_out: StoredDocument | None = None,
) -> SimilarDocuments:
    """Search, look up the documents, and compare them using the store.

    Parameters
    ----------
    connection : Connection
        Connection of the snapshot that the segments belong to.
    counting : TextCounting
    segments : sequence of Segment
    query : Content
    tolerance : Tolerance
    store : Store
    limit : int
        Maximum number of documents to return.
    leave_out : StoredDocument, optional
        Document to omit: the query itself.

    Raises
    ------
    StaleIndexError
        A segment and the store disagree.
    """
    started = time.perf_counter()
    check_limit(limit)
    near, own = asked_near(connection, counting, segments, query, tolerance, store)
    compared, n_found = documents_among(connection, counting, query, tolerance, near, limit=limit, leave_out=leave_out)
    return SimilarDocuments(
        tolerance=tolerance,
        documents=tuple(compared),
        n_found=n_found,
        is_answered=near.is_answered,
        n_not_compared=near.n_not_compared,
        n_hot_keys=near.n_hot_keys,
        expected_recall_of_parts=near.part_recall,
        stages=near.stages,
        elapsed_s=round(time.perf_counter() - started, 4),
        similarity_index=own,
    )


def prepare(collection: OpenedCollection, tolerance: Tolerance) -> None:
    """Store the keys that a search by containment needs, if they are missing and may be stored."""
    if tolerance.method == "containment":
        from nearkin.collection.check_in.check_in import make_keys

        make_keys(collection)


def asked_near(
    connection: Connection,
    counting: TextCounting,
    segments: Sequence[Segment],
    query: Content,
    tolerance: Tolerance,
    store: Store,
) -> tuple[Near, int | None]:
    """Return the contents within the tolerance, and the similarity index of the query if the method needs it."""
    own = similarity_index_of(counting, query) if tolerance.method == "si" else None
    if tolerance.method == "containment":
        return near_by_containment(connection, store, counting, query, tolerance.value), own
    return near_contents(connection, counting, segments, query, tolerance, own), own


def documents_among(
    connection: Connection,
    counting: TextCounting,
    query: Content,
    tolerance: Tolerance,
    near: Near,
    *,
    limit: int,
    leave_out: StoredDocument | None,
) -> tuple[list[SimilarDocument], int]:
    """Return the first documents of contents that were found, compared with the query, and their total number."""
    is_itself = leave_out is not None and leave_out.is_current
    found, n_found = current_documents(connection, near.contents.tolist(), limit + is_itself)
    if leave_out is not None and leave_out.is_current:
        n_found -= int(leave_out.content in near.contents)
        found = [one for one in found if one != leave_out][:limit]
    found_by = dict.fromkeys(near.contents.tolist(), _FOUND_BY[tolerance.method])
    compared = compare_with(connection, counting, query, found, found_by)
    _check(compared, tolerance)
    return [replace(one, is_letters_only=is_letters_only(one.jaccard, tolerance)) for one in compared], n_found


def near_contents(
    connection: Connection,
    counting: TextCounting,
    segments: Sequence[Segment],
    query: Content,
    tolerance: Tolerance,
    similarity_index: int | None = None,
) -> Near:
    """Return the contents within the tolerance, including those of removed documents.

    Method "si" searches with the query's similarity index and needs no segments; "containment" is searched for by
    `asked_near`.
    """
    if tolerance.method == "range":
        near = _in_range(counting, segments, query, tolerance)
    elif tolerance.method == "si":
        near = near_by_index(connection, similarity_index, tolerance.value)
    else:
        near = _near_by_signature(segments, query, tolerance)
        if near.is_answered:
            near = _compared_by_words(connection, counting, query, tolerance, near)
    if not near.is_answered and query.number >= 0:
        return Near(contents=np.array([query.number]), stages=near.stages, is_answered=False)
    return near


def _in_range(counting: TextCounting, segments: Sequence[Segment], query: Content, tolerance: Tolerance) -> Near:
    from nearkin.stages.search.ranges.index import RangeIndex  # other methods need no range search

    index = RangeIndex(tuple(segment.vectors for segment in segments), counting.letters.fingerprint)
    asked = counting.vectors_of_counts(query.counts.reshape(1, -1), np.array([query.is_counted]))
    found = index.search(asked, tolerance.value)
    stages = tuple(zip(("texts with enough letters", *found.stages[1:]), found.survivors[0].tolist(), strict=True))
    return Near(contents=found.row, stages=stages, is_answered=query.is_counted)


def _near_by_signature(segments: Sequence[Segment], query: Content, tolerance: Tolerance) -> Near:
    n_signed = sum(int(segment.has_features.sum()) for segment in segments)
    reach = tolerance.reach
    names = "texts with words", f"signatures within {reach} bits"
    if query.signature is None:
        return Near(contents=_NOTHING, stages=tuple(zip(names, (0, 0))), is_answered=False)
    words: U64 = np.ascontiguousarray(query.signature).view(np.uint64)
    rows, bits = [_NOTHING], [_NOTHING]
    for segment in segments:
        near, distances = rows_within(segment.words, words, reach)
        has_features = np.asarray(segment.has_features)[near]
        rows.append(near[has_features] + segment.first)
        bits.append(distances[has_features])
    all_rows, all_bits = np.concatenate(rows), np.concatenate(bits)
    order = np.lexsort((all_rows, all_bits))
    return Near(contents=all_rows[order], stages=tuple(zip(names, (n_signed, len(order)))), is_answered=True)


def _compared_by_words(
    connection: Connection, counting: TextCounting, query: Content, tolerance: Tolerance, near: Near
) -> Near:
    """Return the contents of current documents with sufficient exact Jaccard similarity, the most similar first."""
    candidates = _of_current_documents(connection, near.contents)
    compared = sorted(candidates[:MAX_COMPARED])
    shared = {one.number: own[0] for one, own in with_shares(connection, counting, query.text, compared)}
    found = np.array(list(shared), np.int64)
    similarities = np.array(list(shared.values()), np.float64)
    passed = np.flatnonzero(similarities >= tolerance.value)
    order = passed[np.lexsort((found[passed], -similarities[passed]))]
    stages = (*near.stages, ("matches", len(order)))
    return Near(contents=found[order], stages=stages, is_answered=True, n_not_compared=len(candidates) - len(compared))


def _of_current_documents(connection: Connection, numbers: I64) -> list[int]:
    """Return the contents that a current document has, in the same order."""
    found = set[int]()
    for some in in_slices(numbers.tolist()):
        is_wanted = documents.c.content.in_(some) & documents.c.is_current
        found.update(connection.execute(select(documents.c.content).where(is_wanted)).scalars())
    return [number for number in numbers.tolist() if number in found]


def _check(found: Sequence[SimilarDocument], tolerance: Tolerance) -> None:
    """Compute every distance again from the store, so that a damaged index never appears in a result."""
    if tolerance.method != "range":
        return  # computed from the store
    most = tolerance.value * (1 + 1e-12)
    for one in found:
        distance = one.relative_distance
        is_copy = distance is None and one.is_same_text
        if not is_copy and (distance is None or distance > most):
            raise StaleIndexError(f"{one.document} is at {distance}, beyond {tolerance}")


MAX_CONTAINING = 2_000
"""Maximum number of candidates compared by containment, the most promising first."""


def near_by_containment(
    connection: Connection, store: Store, counting: TextCounting, query: Content, minimum: float
) -> Near:
    """Return the contents that share word 5-grams with the query, by containment; the largest share first."""
    asked = Query.of(counting, query.text)
    if asked.signature is None:
        return Near(
            contents=np.zeros(0, np.int64), stages=(("texts that share keys", 0), ("matches", 0)), is_answered=False
        )
    searched = Searched(connection, store, counting, KEYS.reach(connection, store))
    options = CheckOptions(threshold=PARTS_JACCARD, containment=minimum)
    candidates = candidates_of(searched, asked, options)
    some = candidates.contents[:MAX_CONTAINING]
    (own,) = word_sets(counting, [query.text])
    found = dict[int, float]()
    for lot in some_at_a_time(connection, sorted(some)):
        stored = list(contents_of(connection, lot).values())
        for one, other in zip(stored, word_sets(counting, [one.text for one in stored]), strict=True):
            n_both = len(np.intersect1d(own, other, assume_unique=True))
            share = max(shares(own, other)[1:])
            if one.digest == query.digest or (share >= minimum and n_both >= MIN_COMMON):
                found[one.number] = share
    contents = np.array(sorted(found, key=lambda number: (-found[number], number)), np.int64)
    n_left = len(candidates.contents) - len(some) + len(candidates.lost)
    stages = ("texts that share keys", len(candidates.contents)), ("matches", len(contents))
    return Near(
        contents=contents,
        stages=stages,
        is_answered=True,
        n_not_compared=n_left,
        n_hot_keys=candidates.n_skewed,
        part_recall=None if n_left else candidates.part_recall,
    )
