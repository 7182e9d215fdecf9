"""Verification of candidates against the stored texts, and the measures that every answer shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from nearkin.collection.counting import TextCounting
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.results import SimilarDocument, StoredDocument
from nearkin.collection.stored.contents import Content, contents_of, similarity_indexes
from nearkin.collection.stored.documents import document
from nearkin.collection.stored.word_sets import Shares, in_lots, shares, word_sets
from nearkin.records import U64
from nearkin.stages.differences.comparing import compare_texts
from nearkin.stages.differences.comparison import Comparison
from nearkin.stages.differences.ignoring import check_ignored
from nearkin.stages.verification.edit import edit_similarity
from nearkin.tabular import AnswerRecord


def verified(
    connection: Connection, counting: TextCounting, words: U64, lots: Iterable[Sequence[int]]
) -> Iterator[tuple[Content, Shares]]:
    """Yield contents, in lots that fit in memory, with the overlap of their word 5-grams with a set."""
    for lot in lots:
        stored = list(contents_of(connection, lot).values())
        sets = word_sets(counting, [content.text for content in stored])
        yield from zip(stored, [shares(words, other) for other in sets])


def compare_with(
    connection: Connection,
    counting: TextCounting,
    query: Content,
    documents: Sequence[StoredDocument],
    known: Mapping[int, Shares] | None = None,
) -> list[SimilarDocument]:
    """Compare each document with the query by every measure; ``known`` has overlaps by content."""
    known, sizes = known or {}, {entry.content: entry.n_characters for entry in documents}
    indexes, measures = similarity_indexes(connection, list(sizes)), dict[int, dict[str, object]]()
    unknown = [entry for entry in sorted(sizes.items()) if entry[0] not in known]
    if unknown:
        (words,) = word_sets(counting, [query.text])
        for content, overlap in verified(connection, counting, words, in_lots(unknown)):
            measures[content.number] = _measures(query, content, overlap)
    for lot in in_lots(entry for entry in sizes.items() if entry[0] in known):
        for content in contents_of(connection, lot).values():
            measures[content.number] = _measures(query, content, known[content.number])
    return [
        SimilarDocument(document=entry, similarity_index=indexes.get(entry.content), **measures[entry.content])  # type: ignore[arg-type]
        for entry in documents
    ]


def _measures(query: Content, other: Content, overlap: Shares) -> dict[str, object]:
    distance = relative = n_bits = None
    if query.is_counted and other.is_counted:
        distance = math.sqrt(_square(query.counts, other.counts))
        relative = distance / math.sqrt(_square(query.counts, np.zeros_like(query.counts)))
    if query.signature is not None and other.signature is not None:
        n_bits = int(np.bitwise_count(query.signature ^ other.signature).sum())
    is_same = query.text == other.text
    return {
        "distance": distance,
        "relative_distance": relative,
        "n_bits": n_bits,
        "edit_similarity": 1.0 if is_same else edit_similarity(query.text, other.text).similarity,
        "jaccard": 1.0 if is_same else overlap.jaccard,
        "contained": 1.0 if is_same else overlap.contained,
        "contains": 1.0 if is_same else overlap.contains,
        "is_same_text": is_same,
    }


def _square(a: object, b: object) -> int:
    gaps = np.asarray(a).astype(np.int64) - np.asarray(b).astype(np.int64)
    return int(np.dot(gaps, gaps))


@dataclass(frozen=True, slots=True)
class ComparedDocuments(AnswerRecord):
    """Two documents of a collection, and their differences."""

    a: StoredDocument
    b: SimilarDocument
    comparison: Comparison


def compare(
    collection: OpenedCollection,
    a: str,
    b: str,
    *,
    version_a: int | None = None,
    version_b: int | None = None,
    context_lines: int = 2,
    ignore: Iterable[str] = (),
) -> ComparedDocuments:
    """Compare two documents; see `Collection.compare`."""
    kinds = check_ignored(ignore)
    with collection.store.reading() as connection:
        document_a, document_b = document(connection, a, version_a), document(connection, b, version_b)
        contents = contents_of(connection, [document_a.content, document_b.content])
        (measured,) = compare_with(connection, collection.counting, contents[document_a.content], [document_b])
    text_a, text_b = (contents[document.content].text for document in (document_a, document_b))
    comparison = compare_texts(text_a, text_b, context_lines=context_lines, with_moves=True, ignore=kinds)
    return ComparedDocuments(document_a, measured, comparison)
