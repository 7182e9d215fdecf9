"""Pairs of texts within a tolerance of each other: what groups and conflicts are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.collection.counting import Counting
from nearkin.collection.segment_files import Segment
from nearkin.errors import ParameterError
from nearkin.records import I64, U32, Bool, LetterVectors
from nearkin.runs.progress import Progress
from nearkin.stages.search.range_matches import RangeQueries
from nearkin.stages.search.ranges import RangeIndex

_QUERIES_AT_A_TIME = 1 << 10


@dataclass(frozen=True, slots=True)
class Pairs:
    """Contents that match.

    Parameters
    ----------
    left, right : int64 arrays, shape (n_pairs,)
        Contents; the left one was asked for.
    squared_distance : int64 array, shape (n_pairs,)
        Exact.
    """

    left: I64
    right: I64
    squared_distance: I64


def pairs_within(
    counting: Counting,
    segments: Sequence[Segment],
    asked: I64,
    is_live: Bool,
    gamma: float,
    *,
    threads: int,
    progress: Progress,
) -> Pairs:
    """Contents of which either finds the other: every pair is found, some of them twice.

    Parameters
    ----------
    counting : Counting
    segments : sequence of Segment
    asked : int64 array, shape (n_asked,)
        Contents; each is compared with all.
    is_live : bool array, shape (n_contents,)
        Which contents count.
    gamma : float
        Below 1: within it the distance of two texts is a part of the longer one's length.
    threads : int
    progress : Progress

    Raises
    ------
    ParameterError
        If gamma is 1 or more.
    """
    if gamma >= 1:
        raise ParameterError.of("gamma", "groups and conflicts", "below 1", gamma)
    index = RangeIndex(tuple(segment.vectors for segment in segments), counting.letters.fingerprint)
    lefts, rights, squares = ([np.zeros(0, np.int64)] for _ in range(3))
    progress.start("compare", len(asked), "documents")
    for start in range(0, len(asked), _QUERIES_AT_A_TIME):
        some = asked[start : start + _QUERIES_AT_A_TIME]
        vectors = vectors_of(segments, some, counting)
        # who finds the query is at most so far from it, as a part of the query's own length
        found = index.search(vectors, _widened(gamma), threads=threads)
        limits = RangeQueries.of("pairs_within", counting.letters.fingerprint, vectors, gamma).limits
        is_near = found.squared_distance <= limits[found.query]
        back = np.flatnonzero(~is_near & is_live[found.row])
        if len(back):
            theirs = vectors_of(segments, found.row[back], counting)
            own = RangeQueries.of("pairs_within", counting.letters.fingerprint, theirs, gamma).limits
            is_near[back] = found.squared_distance[back] <= own
        is_near &= is_live[found.row] & (found.row != some[found.query])
        lefts.append(some[found.query[is_near]])
        rights.append(found.row[is_near])
        squares.append(found.squared_distance[is_near])
        progress.advance(len(some))
    progress.finish()
    return Pairs(np.concatenate(lefts), np.concatenate(rights), np.concatenate(squares))


def _widened(gamma: float) -> float:
    """What a query must reach to see all that see it: gamma / (1 - gamma), rounded up."""
    return float(np.nextafter(gamma / (1 - gamma) * (1 + 1e-12), np.inf))


def vectors_of(segments: Sequence[Segment], contents: I64, counting: Counting) -> LetterVectors:
    """The letter counts of some contents, from the index."""
    counts = counts_of(segments, contents, counting.letters.n_dimensions)
    is_counted = np.zeros(len(contents), np.bool_)
    for segment in segments:
        is_here = (contents >= segment.first) & (contents < segment.end)
        is_counted[is_here] = are_counted([segment])[contents[is_here] - segment.first]
    nothing = np.zeros(len(contents), np.int64)  # how many letters there are plays no part in a search
    return LetterVectors(counts, is_counted, nothing, nothing, counting.letters.fingerprint)


def are_counted(segments: Sequence[Segment]) -> Bool:
    """Which of their contents have letters enough; copies of the others are no group, and are told apart."""
    is_counted = [np.zeros(0, np.bool_)]
    for segment in segments:
        taking_part = np.zeros(len(segment), np.bool_)
        taking_part[segment.vectors.rows] = True
        is_counted.append(taking_part)
    return np.concatenate(is_counted)


def counts_of(segments: Sequence[Segment], contents: I64, n_dimensions: int) -> U32:
    """The letter counts of some contents, shape (n_contents, n_dimensions)."""
    counts = np.zeros((len(contents), n_dimensions), np.uint32)
    for segment in segments:
        is_here = (contents >= segment.first) & (contents < segment.end)
        counts[is_here] = segment.vectors.counts[contents[is_here] - segment.first]
    return counts
