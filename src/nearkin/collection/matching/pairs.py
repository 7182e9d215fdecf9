"""Pairs of texts within a tolerance of each other, for groups and conflicts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nearkin.collection.counting import TextCounting
from nearkin.collection.stored.segment_files import Segment
from nearkin.collection.tolerance import RULES, is_limit
from nearkin.errors import ParameterError
from nearkin.records import I64, U32, Bool, LetterVectors
from nearkin.runs.progress import Progress
from nearkin.stages.search.ranges.index import RangeQueries, check_threads

_PAIRS_AT_A_TIME = 1 << 22
"""Maximum number of pairs held by all threads together if all texts are similar to one another."""
_FEWEST_QUERIES, _MAX_QUERIES = 8, 64
_CONTENTS_AT_A_TIME = 1 << 14
_UNKNOWN = -2


@dataclass(frozen=True, slots=True)
class Pairs:
    """Matching contents.

    Parameters
    ----------
    left, right : int64 arrays, shape (n_pairs,)
        Contents; the left one was the query.
    squared_distance : int64 array, shape (n_pairs,)
        Exact squared distances.
    """

    left: I64
    right: I64
    squared_distance: I64


def pairs_within(
    counting: TextCounting,
    segments: Sequence[Segment],
    asked: I64,
    is_live: Bool,
    gamma: float,
    *,
    threads: int,
    progress: Progress,
) -> Iterator[Pairs]:
    """Yield batches of pairs in which either content finds the other; every pair occurs once.

    n similar texts have n (n - 1) / 2 pairs: callers keep only what they need of each batch.

    Parameters
    ----------
    counting : TextCounting
    segments : sequence of Segment
    asked : int64 array, shape (n_asked,)
        Contents to compare with all others; distinct and live.
    is_live : bool array, shape (n_contents,)
        Whether each content takes part.
    gamma : float
        Below 1. Two texts match if their distance is at most gamma times the longer one's length.
    threads : int
    progress : Progress

    Raises
    ------
    ParameterError
        Gamma breaks its rule, or threads is not an int above 0.
    """
    if not is_limit("range", gamma):
        raise ParameterError.of("gamma", RULES["range"], gamma)
    check_threads(threads)
    return _batches(RangePairs(counting, segments, asked, is_live, gamma), threads, progress)


def _batches(search: RangePairs, threads: int, progress: Progress) -> Iterator[Pairs]:
    n_asked = len(search.asked)
    n_queries = _PAIRS_AT_A_TIME // (threads * max(1, len(search.is_live)))
    n_queries = min(_MAX_QUERIES, max(_FEWEST_QUERIES, n_queries))
    parts = [slice(start, min(start + n_queries, n_asked)) for start in range(0, n_asked, n_queries)]
    progress.start("compare", n_asked, "documents")
    for part, found in zip(parts, _in_turn(search, parts, min(threads, len(parts)))):
        progress.advance(part.stop - part.start)
        yield found
    progress.finish()


def _in_turn(search: RangePairs, parts: Sequence[slice], threads: int) -> Iterator[Pairs]:
    """Yield the pairs of each part; at most one part per thread is computed ahead."""
    if threads <= 1:
        yield from map(search.pairs_of, parts)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="nearkin") as pool:
        running = deque[Future[Pairs]]()
        for part in parts:
            if len(running) == threads:
                yield running.popleft().result()
            running.append(pool.submit(search.pairs_of, part))
        while running:
            yield running.popleft().result()


class RangePairs:
    """Search settings, which threads may share.

    Parameters
    ----------
    counting : TextCounting
    segments : sequence of Segment
    asked : int64 array
    is_live : bool array, shape (n_contents,)
    gamma : float
        Below 1.
    """

    def __init__(
        self, counting: TextCounting, segments: Sequence[Segment], asked: I64, is_live: Bool, gamma: float
    ) -> None:
        self.asked, self.is_live = asked, is_live
        self._counting, self._segments, self._gamma = counting, segments, gamma
        self._reach, self._is_counted = _widened(gamma), are_counted(segments)
        self._is_asked = np.zeros(len(is_live), np.bool_)
        self._is_asked[asked] = True
        self._limits = np.full(len(is_live), _UNKNOWN, np.int64)

    def pairs_of(self, part: slice) -> Pairs:
        """Return the pairs of some queries; a pair of two queries is found only from the lower one."""
        some = self.asked[part]
        vectors = self._vectors_of(some)
        # a text that finds the query is at most this far from it, relative to the query's own length
        wide = self._queries(vectors, self._reach)
        limits = self._limits_of(some)
        survivors = np.zeros((len(some), 3), np.int64)
        found: list[tuple[I64, I64, I64]] = [(some[:0],) * 3]
        for segment in self._segments:
            for query, place, square in segment.vectors.matches(vectors.counts, wide.lengths, wide.limits, survivors):
                left, right = some[query], place.astype(np.int64) + segment.first
                is_pair = self.is_live[right] & ((left < right) | ~self._is_asked[right])
                is_pair &= left != right
                far = np.flatnonzero(is_pair & (square > limits[query]))
                is_pair[far] = square[far] <= self._limits_of(right[far])
                found.append((left[is_pair], right[is_pair], square[is_pair]))
        return Pairs(*(np.concatenate(column) for column in zip(*found)))

    def length_of(self, content: int) -> float:
        """Return the length of a content's vector."""
        counts = self._vectors_of(np.array([content])).counts[0].astype(np.float64)
        return float(np.sqrt(counts @ counts))

    def reached(self, content: int, gamma: float) -> tuple[I64, I64]:
        """Return the live contents within another gamma of one, and their squared distances."""
        vectors = self._vectors_of(np.array([content]))
        wide, survivors = self._queries(vectors, gamma), np.zeros((1, 3), np.int64)
        found: list[tuple[I64, I64]] = [(self.asked[:0],) * 2]
        for segment in self._segments:
            for _, place, square in segment.vectors.matches(vectors.counts, wide.lengths, wide.limits, survivors):
                found.append((place.astype(np.int64) + segment.first, square))
        contents, squares = (np.concatenate(column) for column in zip(*found, strict=True))
        is_it = self.is_live[contents]
        return contents[is_it], squares[is_it]

    def are_pairs(self, left: I64, right: I64) -> Bool:
        """Whether each left content matches each right one, shape (n_left, n_right)."""
        a, b = (self._vectors_of(contents).counts.astype(np.int64) for contents in (left, right))
        squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2 * (a @ b.T)
        is_pair: Bool = squares <= np.maximum(self._limits_of(left)[:, None], self._limits_of(right))
        return is_pair

    def _limits_of(self, contents: I64) -> I64:
        """Return the maximum squared distance for each content, computed by the first thread that needs it."""
        limits = self._limits[contents]
        unknown = np.unique(contents[limits == _UNKNOWN])
        for start in range(0, len(unknown), _CONTENTS_AT_A_TIME):
            some = unknown[start : start + _CONTENTS_AT_A_TIME]
            self._limits[some] = self._queries(self._vectors_of(some), self._gamma).limits
        return self._limits[contents] if len(unknown) else limits

    def _vectors_of(self, contents: I64) -> LetterVectors:
        counts = counts_of(self._segments, contents, self._counting.letters.n_dimensions)
        return self._counting.vectors_of_counts(counts, self._is_counted[contents])

    def _queries(self, vectors: LetterVectors, gamma: float) -> RangeQueries:
        return RangeQueries.of(self._counting.letters.fingerprint, vectors, gamma)


def _widened(gamma: float) -> float:
    """Return the gamma with which a query finds all texts that find it: gamma / (1 - gamma), rounded up.

    Examples
    --------
    >>> _widened(0.2)
    0.2500000000000001
    """
    part = Fraction(repr(float(gamma)))
    nearest = float(part / (1 - part))
    # one step up rounds up; the second allows for the decimal number as which a float is written
    return float(np.nextafter(np.nextafter(nearest, np.inf), np.inf))


def are_counted(segments: Sequence[Segment]) -> Bool:
    """Return which contents have enough letters; copies of the others form no group and are reported separately."""
    is_counted = [np.zeros(0, np.bool_)]
    for segment in segments:
        taking_part = np.zeros(len(segment), np.bool_)
        taking_part[segment.vectors.rows] = True
        is_counted.append(taking_part)
    return np.concatenate(is_counted)


def counts_of(segments: Sequence[Segment], contents: I64, n_dimensions: int) -> U32:
    """Return the letter counts of some contents, shape (n_contents, n_dimensions)."""
    counts = np.zeros((len(contents), n_dimensions), np.uint32)
    for segment in segments:
        is_here = (contents >= segment.first) & (contents < segment.end)
        counts[is_here] = segment.vectors.counts[contents[is_here] - segment.first]
    return counts
