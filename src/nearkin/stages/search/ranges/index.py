"""Range search: all documents whose letter counts lie within a tolerance of a query's, chosen for each query.

None is missed, despite floating-point rounding: docs/range-search.md has the proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import numpy as np

from nearkin.records import I64, LetterVectors
from nearkin.stages.search.ranges.matches import (
    MAX_MATCHES,
    Found,
    Gamma,
    MatchBudget,
    RangeMatches,
    RangeQueries,
    check_threads,
)
from nearkin.stages.search.ranges.segment import RangeSegment, check_counts

_QUERIES_OF_A_JOB = 64


@dataclass(frozen=True, slots=True)
class RangeIndex:
    """Documents in waves, one segment each; a query searches all of them.

    Parameters
    ----------
    segments : tuple of RangeSegment
        In order of addition: the row numbers of each segment continue those of the previous one.
    fingerprint : str
        Fingerprint of the vectors.

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
        queries : LetterVectors
            Queries with almost no counted letters are skipped; such documents are not found either.
        gamma : float, or one for each query
            At least 0, finite. It means the decimal number as which it is written: 0.3 is three tenths.
        threads : int
            At least 1; the result does not depend on it.
        max_matches : int
            Maximum number of matches, which limits memory.

        Raises
        ------
        FingerprintError
            Queries and documents were counted by different methods.
        ParameterError
            A parameter breaks its rule, or there are more than ``max_matches`` matches.
        """
        check_threads(threads)
        check_counts(queries.counts)
        asked = RangeQueries.of(self.fingerprint, queries, gamma)
        budget = MatchBudget(max_matches)
        survivors = np.zeros((len(queries), len(self.stages)), np.int64)
        survivors[queries.is_counted, 0] = sum(len(segment.rows) for segment in self.segments)
        starts = range(0, len(queries), _QUERIES_OF_A_JOB)

        def job(start: int) -> list[Found]:
            part = slice(start, min(start + _QUERIES_OF_A_JOB, len(queries)))
            return list(self._found(asked, part, budget, survivors[part, 1:]))

        if min(threads, len(starts)) <= 1:
            parts = [found for start in starts for found in job(start)]
        else:
            from concurrent.futures import ThreadPoolExecutor  # a question searches without other threads

            with ThreadPoolExecutor(threads, thread_name_prefix="nearkin") as pool:
                parts = [found for of_job in pool.map(job, starts) for found in of_job]
        return RangeMatches.ordered(parts, queries.is_counted.copy(), self.stages, survivors)

    def _found(self, asked: RangeQueries, part: slice, budget: MatchBudget, survivors: I64) -> Iterator[Found]:
        """Yield the matches of some queries in every segment, and add up their survivors."""
        counts = np.zeros(survivors.shape, np.int64)
        first_rows = accumulate(map(len, self.segments), initial=0)
        for segment, first_row in zip(self.segments, first_rows):
            found = segment.matches(asked.vectors.counts[part], asked.lengths[part], asked.limits[part], counts)
            for query, row, square in found:
                budget.spend(len(query), asked.gammas[part])
                yield query + part.start, row.astype(np.int64) + first_row, square
        survivors[:] = counts
