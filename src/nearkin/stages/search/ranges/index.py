"""Range search: all documents whose letter counts lie within a tolerance of a query's, chosen for each query.

None is missed, despite floating-point rounding: docs/range-search.md has the proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from threading import Lock
from typing import ClassVar

import numpy as np

from nearkin.errors import FingerprintError, ParameterError, check_int
from nearkin.nouns import counted
from nearkin.records import F64, I64, Bool, LetterVectors
from nearkin.stages.search.ranges.segment import RangeSegment, check_counts, squared_lengths

MAX_MATCHES = 1 << 27
"""Default maximum number of matches: about 6 GiB at the end of the search."""
_MAX_LIMIT = 2**63 - 1  # squared distances of vectors are below this
Gamma = float | Sequence[float] | F64
"""Tolerance relative to the query's length: one for all queries, or one for each."""
Found = tuple[I64, I64, I64]
"""Queries, rows, squared distances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeMatches:
    """Matches of some queries, sorted by query, distance and row.

    Parameters
    ----------
    query, row : int64 arrays, shape (n_matches,)
        Documents are numbered through all segments.
    is_answered : bool array, shape (n_queries,)
        False: the query has almost no counted letters, and was skipped.
    survivors : int64 array, shape (n_queries, n_stages)
        Number of documents that passed each stage.
    """

    query: I64
    row: I64
    squared_distance: I64
    is_answered: Bool
    stages: tuple[str, ...]
    survivors: I64

    @classmethod
    def ordered(
        cls, parts: Sequence[Found], is_answered: Bool, stages: tuple[str, ...], survivors: I64
    ) -> RangeMatches:
        """Sort results that were found in any order."""
        query, row, square = (np.concatenate([np.zeros(0, np.int64), *(part[i] for part in parts)]) for i in range(3))
        order = np.lexsort((row, square, query))
        return cls(
            query=query[order],
            row=row[order],
            squared_distance=square[order],
            is_answered=is_answered,
            stages=stages,
            survivors=survivors,
        )

    def __len__(self) -> int:
        return len(self.query)

    @property
    def distance(self) -> F64:
        """Euclidean distance of each match from its query, in letters."""
        return np.sqrt(self.squared_distance.astype(np.float64))


@dataclass(frozen=True, slots=True)
class RangeQueries:
    """Validated queries, with their maximum distances.

    Parameters
    ----------
    limits : int64 array, shape (n_queries,)
        Maximum squared distance of a match; -1 for a query to skip.
    """

    vectors: LetterVectors
    gammas: F64
    lengths: I64
    limits: I64

    @classmethod
    def of(cls, fingerprint: str, vectors: LetterVectors, gamma: Gamma) -> RangeQueries:
        """Validate queries; round limits down to integers, in integer arithmetic."""
        if vectors.fingerprint != fingerprint:
            raise FingerprintError(
                f"Vectors of different countings cannot be compared: {fingerprint!r} and {vectors.fingerprint!r}."
            )
        gammas = np.asarray(gamma, np.float64)
        if gammas.ndim and gammas.shape != (len(vectors),):
            raise ParameterError.of(
                "gamma",
                f"a number, or one for each of {counted(len(vectors), 'query', 'queries')}",
                gammas.shape,
            )
        wrong = gammas[~(np.isfinite(gammas) & (gammas >= 0))]
        if wrong.size:
            raise ParameterError.of("gamma", "finite and at least 0", float(wrong.flat[0]))
        gammas = np.broadcast_to(gammas, len(vectors))
        lengths = squared_lengths(vectors.counts)
        limits = np.full(len(vectors), -1, np.int64)
        squares = {value: Fraction(repr(value)) ** 2 for value in np.unique(gammas).tolist()}
        for i in np.flatnonzero(vectors.is_counted):
            square = squares[float(gammas[i])]
            limits[i] = min(_MAX_LIMIT, square.numerator * int(lengths[i]) // square.denominator)
        return cls(vectors, gammas, lengths, limits)

    def __len__(self) -> int:
        return len(self.vectors)


class MatchBudget:
    """Number of matches that a search may still find, shared by threads."""

    def __init__(self, max_matches: int) -> None:
        check_int("max_matches", max_matches, 1)
        self._most, self._n_found, self._lock = max_matches, 0, Lock()

    def spend(self, n_matches: int, gammas: F64) -> None:
        """Refuse tolerances that find too much before memory is exhausted."""
        with self._lock:
            self._n_found += n_matches
            if self._n_found > self._most:
                rule = f"small enough for at most {counted(self._most, 'match', 'matches')} ('max_matches')"
                raise ParameterError.of("gamma", rule, float(gammas.max()))


def check_threads(threads: int) -> None:
    """Refuse an invalid number of threads."""
    check_int("threads", threads, 1)


_QUERIES_OF_A_JOB = 64


@dataclass(frozen=True, slots=True)
class RangeIndex:
    """Documents in waves, one segment each, whose row numbers go on; a query searches all of them.

    Examples
    --------
    >>> counts = np.array([[100, 40], [101, 40], [90, 60], [0, 3]], np.uint32)
    >>> is_counted = np.array([True, True, True, False])
    >>> vectors = LetterVectors(counts, is_counted, counts.sum(axis=1), np.zeros(4, np.int64), "letters")
    >>> waves = RangeSegment.build(vectors), RangeSegment.build(vectors)
    >>> index = RangeIndex(waves, vectors.fingerprint)
    >>> found = index.search(vectors, 0.025)
    >>> found.row[found.query == 0].tolist(), found.distance[found.query == 0].tolist()
    ([0, 4, 1, 5], [0.0, 0.0, 1.0, 1.0])
    >>> found.is_answered.tolist(), found.survivors[0].tolist()
    ([True, True, True, False], [6, 6, 4, 4])
    """

    segments: tuple[RangeSegment, ...]
    fingerprint: str
    stages: ClassVar[tuple[str, ...]] = ("documents", "in blocks near by", "near along the directions", "matches")

    @classmethod
    def of(cls, vectors: LetterVectors) -> RangeIndex:
        """Return the index of one wave; see `RangeSegment.build`."""
        return cls((RangeSegment.build(vectors),), vectors.fingerprint)

    def __len__(self) -> int:
        return sum(map(len, self.segments))

    def search(
        self, queries: LetterVectors, gamma: Gamma, *, threads: int = 1, max_matches: int = MAX_MATCHES
    ) -> RangeMatches:
        """Find every document at a distance of at most ``gamma`` times the query's length, without exception.

        Parameters
        ----------
        queries
            Queries with almost no counted letters are skipped; such documents are not found either.
        gamma
            At least 0, finite. It means the decimal number as which it is written: 0.3 is three tenths.
        """
        check_threads(threads)
        check_counts(queries.counts)
        bounded = RangeQueries.of(self.fingerprint, queries, gamma)
        budget = MatchBudget(max_matches)
        survivors = np.zeros((len(queries), len(self.stages)), np.int64)
        survivors[queries.is_counted, 0] = sum(len(segment.rows) for segment in self.segments)
        starts = range(0, len(queries), _QUERIES_OF_A_JOB)

        def job(start: int) -> list[Found]:
            part = slice(start, min(start + _QUERIES_OF_A_JOB, len(queries)))
            return list(self._found(bounded, part, budget, survivors[part, 1:]))

        if min(threads, len(starts)) <= 1:
            parts = [block for start in starts for block in job(start)]
        else:
            from concurrent.futures import ThreadPoolExecutor  # a question searches without other threads

            with ThreadPoolExecutor(threads, thread_name_prefix="nearkin") as pool:
                parts = [block for of_job in pool.map(job, starts) for block in of_job]
        return RangeMatches.ordered(parts, queries.is_counted.copy(), self.stages, survivors)

    def _found(self, queries: RangeQueries, part: slice, budget: MatchBudget, survivors: I64) -> Iterator[Found]:
        counts = np.zeros(survivors.shape, np.int64)
        first_rows = accumulate(map(len, self.segments), initial=0)
        for segment, first_row in zip(self.segments, first_rows):
            matches = segment.matches(queries.vectors.counts[part], queries.lengths[part], queries.limits[part], counts)
            for query, row, square in matches:
                budget.spend(len(query), queries.gammas[part])
                yield query + part.start, row.astype(np.int64) + first_row, square
        survivors[:] = counts
