"""Measures of similarity of stored documents with a query, computed from the store without the index."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection

from nearkin.collection.counting import TextCounting
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.results import SimilarDocument, StoredDocument
from nearkin.collection.stored.contents import Content, contents_of
from nearkin.collection.stored.documents import document
from nearkin.collection.stored.profiles import similarity_indexes
from nearkin.collection.stored.word_sets import shares, some_at_a_time, word_sets
from nearkin.stages.differences.comparing import compare_texts
from nearkin.stages.differences.comparison import Comparison
from nearkin.stages.differences.ignoring import check_ignored
from nearkin.stages.verification.edit import edit_similarity


def with_shares(
    connection: Connection, counting: TextCounting, text: str, numbers: Sequence[int]
) -> Iterator[tuple[Content, tuple[float, float, float]]]:
    """Yield contents, in lots that fit in memory, with the Jaccard similarity and the containments of a text."""
    (own,) = word_sets(counting, [text])
    for some in some_at_a_time(connection, numbers):
        found = list(contents_of(connection, some).values())
        sets = word_sets(counting, [one.text for one in found])
        yield from zip(found, [shares(own, other) for other in sets])


def compare_with(
    connection: Connection,
    counting: TextCounting,
    query: Content,
    found: Sequence[StoredDocument],
    found_by: Mapping[int, str],
) -> list[SimilarDocument]:
    """Compare each document with the query by every measure, using the store."""
    numbers = list(dict.fromkeys(one.content for one in found))
    length = math.sqrt(_square(query.counts, np.zeros_like(query.counts)))
    by_content = {
        stored.number: _measures(query, stored, own, length)
        for stored, own in with_shares(connection, counting, query.text, numbers)
    }
    indexes = similarity_indexes(connection, numbers)
    return [
        SimilarDocument(
            document=one,
            **by_content[one.content]._asdict(),
            similarity_index=indexes.get(one.content),
            found_by=found_by.get(one.content, "id"),
        )
        for one in found
    ]


class Measures(NamedTuple):
    """Similarity measures of a similar document, under its names for them."""

    distance: float | None
    relative_distance: float | None
    n_bits: int | None
    edit_similarity: float | None
    jaccard: float
    is_same_text: bool
    contained: float
    contains: float


def _measures(query: Content, other: Content, shares: tuple[float, float, float], length: float) -> Measures:
    distance = relative = n_bits = None
    if query.is_counted and other.is_counted:
        distance = math.sqrt(_square(query.counts, other.counts))
        relative = distance / length
    if query.signature is not None and other.signature is not None:
        n_bits = int(np.bitwise_count(query.signature ^ other.signature).sum())
    is_same = query.text == other.text
    similarity = 1.0 if is_same else edit_similarity(query.text, other.text).similarity
    jaccard, contained, contains = (1.0, 1.0, 1.0) if is_same else shares
    return Measures(distance, relative, n_bits, similarity, jaccard, is_same, contained, contains)


def _square(a: object, b: object) -> int:
    gaps = np.asarray(a).astype(np.int64) - np.asarray(b).astype(np.int64)
    return int(np.dot(gaps, gaps))


@dataclass(frozen=True, slots=True)
class ComparedDocuments:
    """Two documents of a collection, and their differences.

    Parameters
    ----------
    a : StoredDocument
    b : SimilarDocument
        With its distance from A and its similarities.
    comparison : Comparison
        Word-by-word comparison.
    """

    a: StoredDocument
    b: SimilarDocument
    comparison: Comparison

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {"a": self.a.to_dict(), "b": self.b.to_dict(), "comparison": self.comparison.to_json()}


def compare(
    collection: OpenedCollection,
    a: str,
    b: str,
    *,
    version_a: int | None,
    version_b: int | None,
    context_lines: int,
    ignore: Iterable[str] = (),
) -> ComparedDocuments:
    """Compare two documents; see `Collection.compare`."""
    kinds = check_ignored(ignore)
    with collection.store.reading() as connection:
        one, other = document(connection, a, version_a), document(connection, b, version_b)
        contents = contents_of(connection, [one.content, other.content])
        (measured,) = compare_with(connection, collection.counting, contents[one.content], [other], {})
    text_a, text_b = (contents[document.content].text for document in (one, other))
    comparison = compare_texts(text_a, text_b, context_lines=context_lines, with_moves=True, ignore=kinds)
    return ComparedDocuments(one, measured, comparison)
