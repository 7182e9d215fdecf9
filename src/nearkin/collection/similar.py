"""Everything within a tolerance of a document, across all waves."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from nearkin.collection.counting import Counting
from nearkin.collection.documents import Content, contents_of, current_documents
from nearkin.collection.results import SimilarDocument, SimilarDocuments, StoredDocument
from nearkin.collection.segment_files import Segment
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError
from nearkin.kernels.buffers import strings
from nearkin.records import I64, U64, LetterVectors
from nearkin.stages.search.hamming_scan import rows_within
from nearkin.stages.search.ranges import RangeIndex
from nearkin.stages.verification.edit import edit_similarity

MOST_COMPARED = 20_000
"""Texts that one query by "minhash" compares word by word; a few seconds."""
_NOTHING = np.zeros(0, np.int64)


class StaleIndexError(Exception):
    """What a segment says is not what the store says: the segment is damaged, and to be made again."""


@dataclass(frozen=True, slots=True)
class Near:
    """Contents that are near a query, the nearest first, and how many passed each stage."""

    contents: I64
    stages: tuple[tuple[str, int], ...]
    is_answered: bool


def similar(
    connection: Connection,
    counting: Counting,
    segments: Sequence[Segment],
    query: Content,
    tolerance: Tolerance,
    *,
    limit: int,
    leave_out: StoredDocument | None = None,
) -> SimilarDocuments:
    """Find, look up, compare with what the store has.

    Parameters
    ----------
    connection : Connection
        Of the snapshot that the segments belong to.
    counting : Counting
    segments : sequence of Segment
    query : Content
    tolerance : Tolerance
    limit : int
        Documents to tell.
    leave_out : StoredDocument, optional
        The query itself.

    Raises
    ------
    StaleIndexError
        A segment is not what the store says.
    """
    started = time.perf_counter()
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise ParameterError.of("limit", "similar", "an int >= 1", limit)
    near = near_contents(connection, counting, segments, query, tolerance)
    is_itself = leave_out is not None and leave_out.is_current
    found, n_found = current_documents(connection, near.contents.tolist(), limit + is_itself)
    if leave_out is not None and leave_out.is_current:
        n_found -= int(leave_out.content in near.contents)
        found = [one for one in found if one != leave_out][:limit]
    compared = compare_with(connection, counting, query, found)
    if tolerance.method == "range":
        _check(compared, query, tolerance)
    elapsed_s = round(time.perf_counter() - started, 4)
    return SimilarDocuments(tolerance, tuple(compared), n_found, near.is_answered, near.stages, elapsed_s)


def near_contents(
    connection: Connection, counting: Counting, segments: Sequence[Segment], query: Content, tolerance: Tolerance
) -> Near:
    """The contents within the tolerance; those of documents that are gone are among them."""
    if tolerance.method == "range":
        near = _in_range(counting, segments, query, tolerance)
    else:
        near = _near_by_signature(segments, query, tolerance)
        if tolerance.method == "minhash" and near.is_answered:
            near = _compared_by_words(connection, counting, query, tolerance, near)
    if not near.is_answered and query.number >= 0:
        return Near(np.array([query.number]), near.stages, False)
    return near


def _in_range(counting: Counting, segments: Sequence[Segment], query: Content, tolerance: Tolerance) -> Near:
    index = RangeIndex(tuple(segment.vectors for segment in segments), counting.letters.fingerprint)
    counted = np.array([query.is_counted])
    nothing = np.zeros(1, np.int64)  # how many letters there are plays no part in the search
    asked = LetterVectors(query.counts.reshape(1, -1), counted, nothing, nothing, counting.letters.fingerprint)
    found = index.search(asked, tolerance.value)
    stages = tuple(zip(("texts with letters enough", *found.stages[1:]), found.survivors[0].tolist(), strict=True))
    return Near(found.row, stages, query.is_counted)


def _near_by_signature(segments: Sequence[Segment], query: Content, tolerance: Tolerance) -> Near:
    n_signed = sum(int(segment.has_features.sum()) for segment in segments)
    reach = tolerance.reach
    names = "texts with words", f"signatures within {reach} bits"
    if query.signature is None:
        return Near(_NOTHING, tuple(zip(names, (0, 0))), False)
    words: U64 = np.ascontiguousarray(query.signature).view(np.uint64)
    rows, bits = [_NOTHING], [_NOTHING]
    for segment in segments:
        near, distances = rows_within(segment.words, words, reach)
        has_features = np.asarray(segment.has_features)[near]
        rows.append(near[has_features] + segment.first)
        bits.append(distances[has_features])
    all_rows, all_bits = np.concatenate(rows), np.concatenate(bits)
    order = np.lexsort((all_rows, all_bits))
    return Near(all_rows[order], tuple(zip(names, (n_signed, len(order)))), True)


def _compared_by_words(
    connection: Connection, counting: Counting, query: Content, tolerance: Tolerance, near: Near
) -> Near:
    """Those whose exact Jaccard similarity is enough, the most similar first."""
    if len(near.contents) > MOST_COMPARED:
        rule = f"high enough for at most {MOST_COMPARED:,} texts to be compared word by word"
        raise ParameterError.of("threshold", "similar", rule, tolerance.value)
    found = contents_of(connection, near.contents.tolist())
    numbers = near.contents.tolist()
    similarities = np.array(jaccards(counting, query.text, [found[number].text for number in numbers]))
    passed = np.flatnonzero(similarities >= tolerance.value)
    order = passed[np.lexsort((near.contents[passed], -similarities[passed]))]
    return Near(near.contents[order], (*near.stages, ("matches", len(order))), True)


def compare_with(
    connection: Connection, counting: Counting, query: Content, found: Sequence[StoredDocument]
) -> list[SimilarDocument]:
    """Each document beside the query, by every measure, from what the store has."""
    stored = contents_of(connection, list(dict.fromkeys(one.content for one in found)))
    numbers = list(stored)
    shared = dict(zip(numbers, jaccards(counting, query.text, [stored[number].text for number in numbers])))
    length = math.sqrt(_square(query.counts, np.zeros_like(query.counts)))
    by_content = {number: _measures(query, stored[number], shared[number], length) for number in numbers}
    return [SimilarDocument(one, *by_content[one.content]) for one in found]


Measures = tuple[float | None, float | None, int | None, float | None, float, bool]


def _measures(query: Content, other: Content, jaccard: float, length: float) -> Measures:
    distance = relative = n_bits = None
    if query.is_counted and other.is_counted:
        distance = math.sqrt(_square(query.counts, other.counts))
        relative = distance / length
    if query.signature is not None and other.signature is not None:
        n_bits = int(np.bitwise_count(query.signature ^ other.signature).sum())
    is_same = query.text == other.text
    similarity = 1.0 if is_same else edit_similarity(query.text, other.text).similarity
    return distance, relative, n_bits, similarity, 1.0 if is_same else jaccard, is_same


def jaccards(counting: Counting, text: str, others: Sequence[str]) -> list[float]:
    """The Jaccard similarity of a text with each of the others; 1 for two texts without any words."""
    if not others:
        return []
    sets = counting.shingles(strings([text, *others]))
    parts = [np.sort(sets.hashes[a:b]) for a, b in zip(sets.offsets[:-1], sets.offsets[1:])]
    own, similarities = parts[0], []
    for other in parts[1:]:
        n_common = len(np.intersect1d(own, other, assume_unique=True))
        n_all = len(own) + len(other) - n_common
        similarities.append(n_common / n_all if n_all else 1.0)
    return similarities


def _square(a: object, b: object) -> int:
    gaps = np.asarray(a).astype(np.int64) - np.asarray(b).astype(np.int64)
    return int(np.dot(gaps, gaps))


def _check(found: Sequence[SimilarDocument], query: Content, tolerance: Tolerance) -> None:
    """Every distance once more, from the store: what is told is never what a damaged file says."""
    for one in found:
        near = one.distance is None and one.is_same_text
        if not near and (one.relative_distance is None or one.relative_distance > tolerance.value * (1 + 1e-12)):
            raise StaleIndexError(f"{one.document} is at {one.relative_distance}, beyond {tolerance}")
