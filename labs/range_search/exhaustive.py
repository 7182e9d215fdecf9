"""Exact matches: every document compared with every query, in integers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from nearkin.records import F64, I64, LetterVectors
from nearkin.runs.progress import Progress
from nearkin.stages.search.ranges.index import RangeQueries

_ROWS_AT_A_TIME = 1 << 13


@dataclass(frozen=True, slots=True)
class ExhaustiveTruth:
    """Matches of each query.

    Parameters
    ----------
    matches : mapping of float to tuple of int64 arrays
        For each tolerance and query, the rows of its matches, ascending, including the query itself.
    seconds : float64 array, shape (n_queries,)
        CPU time on one thread; one pass finds the matches at every tolerance.
    """

    matches: Mapping[float, tuple[I64, ...]]
    seconds: F64

    def n_true(self, gamma: float) -> I64:
        """Return the number of matches of each query, including itself."""
        return np.array([len(rows) for rows in self.matches[gamma]], np.int64)


def search_all(
    vectors: LetterVectors, queries: LetterVectors, gammas: Sequence[float], *, threads: int, progress: Progress
) -> ExhaustiveTruth:
    """Compare every query with every counted document.

    Parameters
    ----------
    vectors : LetterVectors
    queries : LetterVectors
        Vectors of the queries, all counted.
    gammas : sequence of float
    threads : int
    progress : Progress
    """
    limits = np.stack([RangeQueries.of(vectors.fingerprint, queries, g).limits for g in gammas])
    rows = np.flatnonzero(vectors.is_counted)
    counts = vectors.counts if len(rows) == len(vectors) else vectors.counts[rows]

    def matches_of(i: int) -> tuple[list[I64], float]:
        started = time.thread_time()
        query = queries.counts[i].astype(np.int64)
        squares = np.empty(len(rows), np.int64)
        for start in range(0, len(rows), _ROWS_AT_A_TIME):
            part = slice(start, start + _ROWS_AT_A_TIME)
            gaps = counts[part] - query
            squares[part] = np.einsum("ij,ij->i", gaps, gaps)
        found = [rows[squares <= limit] for limit in limits[:, i]]
        return found, time.thread_time() - started

    progress.start("exhaustive", len(queries), "documents")
    matches: list[list[I64]] = [[] for _ in gammas]
    seconds = np.zeros(len(queries))
    with ThreadPoolExecutor(threads, thread_name_prefix="nearkin") as pool:
        for i, (found, taken) in enumerate(pool.map(matches_of, range(len(queries)))):
            for of_gamma, of_query in zip(matches, found, strict=True):
                of_gamma.append(of_query)
            seconds[i] = taken
            progress.advance(1)
    progress.finish()
    return ExhaustiveTruth({gamma: tuple(of_gamma) for gamma, of_gamma in zip(gammas, matches, strict=True)}, seconds)
