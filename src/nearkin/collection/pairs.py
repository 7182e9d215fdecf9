"""Pairs of texts within a tolerance of each other: what groups and conflicts are made of."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nearkin.collection.counting import TextCounting
from nearkin.collection.segment_files import Segment
from nearkin.errors import ParameterError
from nearkin.records import I64, U32, Bool, LetterVectors
from nearkin.runs.progress import Progress
from nearkin.stages.search.ranges.directions import squared_lengths
from nearkin.stages.search.ranges.matches import RangeQueries, check_threads

_OWNER = "groups and conflicts"
_PAIRS_AT_A_TIME = 1 << 22
"""That all threads together hold, if every text is like every other."""
_FEWEST_QUERIES, _MAX_QUERIES = 8, 64
_CONTENTS_AT_A_TIME = 1 << 14
_UNKNOWN = -2


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
    counting: TextCounting,
    segments: Sequence[Segment],
    asked: I64,
    is_live: Bool,
    gamma: float,
    *,
    threads: int,
    progress: Progress,
) -> Iterator[Pairs]:
    """Contents of which either finds the other: every pair once, some of them at a time.

    Among n texts that are all alike there are n (n - 1) / 2 pairs: who asks for them keeps what matters of each batch.

    Parameters
    ----------
    counting : TextCounting
    segments : sequence of Segment
    asked : int64 array, shape (n_asked,)
        Contents, none twice, that count; each is compared with all.
    is_live : bool array, shape (n_contents,)
        Which contents count.
    gamma : float
        Below 1: within it the distance of two texts is a part of the longer one's length.
    threads : int
    progress : Progress

    Raises
    ------
    ParameterError
        If gamma is 1 or more, or threads is no int above 0.
    """
    if gamma >= 1:
        raise ParameterError.of("gamma", _OWNER, "below 1", gamma)
    check_threads(_OWNER, threads)
    return _batches(_Search(counting, segments, asked, is_live, gamma), threads, progress)


def _batches(search: _Search, threads: int, progress: Progress) -> Iterator[Pairs]:
    n_asked = len(search.asked)
    n_queries = _PAIRS_AT_A_TIME // (threads * max(1, len(search.is_live)))
    n_queries = min(_MAX_QUERIES, max(_FEWEST_QUERIES, n_queries))
    parts = [slice(start, min(start + n_queries, n_asked)) for start in range(0, n_asked, n_queries)]
    progress.start("compare", n_asked, "documents")
    for part, found in zip(parts, _in_turn(search, parts, min(threads, len(parts)))):
        progress.advance(part.stop - part.start)
        yield found
    progress.finish()


def _in_turn(search: _Search, parts: Sequence[slice], threads: int) -> Iterator[Pairs]:
    """The pairs of each part; no more are worked out ahead than there are threads."""
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


class _Search:
    """What is compared with what; threads may share it."""

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
        """The pairs of some that are asked; those with others that are asked as well only from the lower one."""
        some = self.asked[part]
        vectors = self._vectors_of(some)
        # who finds the query is at most so far from it, as a part of the query's own length
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

    def _limits_of(self, contents: I64) -> I64:
        """The greatest squared distance of what each finds: worked out once, by whichever thread needs it first."""
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
        return RangeQueries.of(_OWNER, self._counting.letters.fingerprint, vectors, gamma)


def _widened(gamma: float) -> float:
    """What a query must reach to see all that see it: gamma / (1 - gamma), rounded up.

    Examples
    --------
    >>> _widened(0.2)
    0.2500000000000001
    """
    part = Fraction(repr(float(gamma)))
    nearest = float(part / (1 - part))
    # one step up is above it, the second makes up for the decimal number that a float is written as
    return float(np.nextafter(np.nextafter(nearest, np.inf), np.inf))


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


def lengths_of(segments: Sequence[Segment], contents: I64, n_dimensions: int) -> I64:
    """The squared length of the letter counts of some contents, shape (n_contents,)."""
    lengths = np.zeros(len(contents), np.int64)
    for start in range(0, len(contents), _CONTENTS_AT_A_TIME):
        part = slice(start, start + _CONTENTS_AT_A_TIME)
        lengths[part] = squared_lengths(counts_of(segments, contents[part], n_dimensions))
    return lengths
