"""Search for all documents within a tolerance of a document, across all waves."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from nearkin.collection.measuring import compare_with
from nearkin.collection.near import Near, near
from nearkin.collection.opened import OpenedCollection, Snapshot, StaleIndexError
from nearkin.collection.results import SimilarDocument, SimilarDocuments, StoredDocument
from nearkin.collection.stored.contents import Content, content_of, contents_of
from nearkin.collection.stored.documents import current_documents, document
from nearkin.collection.tolerance import Tolerance, check_limit, is_letters_only


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
        found = near(collection, seen, query, tolerance)
        compared, n_found = documents_among(collection, seen, query, tolerance, found, limit=limit, leave_out=itself)
        return SimilarDocuments(
            tolerance=tolerance,
            documents=tuple(compared),
            n_found=n_found,
            is_answered=found.is_answered,
            n_not_compared=found.n_not_compared,
            n_hot_keys=found.n_hot_keys,
            expected_recall_of_parts=found.part_recall,
            stages=found.stages,
            elapsed_s=round(time.perf_counter() - started, 4),
            similarity_index=found.similarity_index,
        )

    prepare(collection, tolerance)
    if tolerance.measure == "index":  # needs only the store
        with collection.store.reading() as connection:
            return ask(Snapshot(connection, ()))
    return collection.answered(ask)


def prepare(collection: OpenedCollection, tolerance: Tolerance) -> None:
    """Store the keys that a search by containment needs, if they are missing and may be stored."""
    if tolerance.measure == "containment":
        from nearkin.collection.check_in.check_in import with_keys

        with_keys(collection, lambda *_: None)


def documents_among(
    collection: OpenedCollection,
    seen: Snapshot,
    query: Content,
    tolerance: Tolerance,
    found: Near,
    *,
    limit: int,
    leave_out: StoredDocument | None,
) -> tuple[list[SimilarDocument], int]:
    """Return the first documents of contents that were found, compared with the query, and their total number.

    Raises
    ------
    StaleIndexError
        A segment and the store disagree.
    """
    is_itself = leave_out is not None and leave_out.is_current
    documents, n_found = current_documents(seen.connection, found.contents.tolist(), limit + is_itself)
    if leave_out is not None and leave_out.is_current:
        n_found -= int(leave_out.content in found.contents)
        documents = [one for one in documents if one != leave_out][:limit]
    compared = compare_with(seen.connection, collection.counting, query, documents, found.shares)
    _check(compared, tolerance)
    return [replace(one, is_letters_only=is_letters_only(one.jaccard, tolerance)) for one in compared], n_found


def _check(found: Sequence[SimilarDocument], tolerance: Tolerance) -> None:
    """Compute every distance again from the store, so that a damaged index never appears in a result."""
    if tolerance.measure != "letters":
        return  # computed from the store
    most = tolerance.value * (1 + 1e-12)
    for one in found:
        distance = one.relative_distance
        is_copy = distance is None and one.is_same_text
        if not is_copy and (distance is None or distance > most):
            raise StaleIndexError(f"{one.document} is at {distance}, beyond {tolerance}")
