"""Compared search methods, with the documents that each finds and leaves, and its time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from labs.range_search.algorithms import ProjectionIndex
from labs.range_search.quality import RangeQuality, mean_survivors, quality
from nearkin.records import F64, I64, LetterVectors
from nearkin.stages.search.ranges.index import RangeMatches

Search = Callable[[LetterVectors], RangeMatches]


@dataclass(frozen=True, slots=True)
class SearchWay:
    """A search method: its name in tables, and its label."""

    key: str
    label: str


ALGORITHM_1 = SearchWay("algorithm-1", "Algorithm 1")
ALGORITHM_2 = SearchWay("algorithm-2", "Algorithm 2")
WITH_FILTERS = SearchWay("algorithm-2-filters", "Algorithm 2 + filters")
FILTERS = SearchWay("filters", "filters alone")
RANGE_INDEX = SearchWay("range-index", "Nearkin's index")
WAYS = (ALGORITHM_1, ALGORITHM_2, WITH_FILTERS, FILTERS, RANGE_INDEX)


@dataclass(frozen=True, slots=True)
class AskedVectors:
    """Results of queries run one after another: the documents that each stage left, and the times.

    Parameters
    ----------
    survivors : int64 array, shape (n_queries, n_stages)
    seconds : float64 array, shape (n_queries,)
        CPU time, on one thread.
    """

    survivors: I64
    seconds: F64


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredWay:
    """A method at a tolerance.

    Parameters
    ----------
    way : SearchWay
    gamma : float
    n_draws : int
        Number of draws of the projections; 1 if nothing is drawn.
    quality : RangeQuality
    n_first, n_passed, n_matches : float
        Mean number of documents after the first step, before the exact comparison, and after it, over queries and
        draws.
    mean_seconds, median_seconds : float
        Time of a query, including the exact comparison.
    """

    way: SearchWay
    gamma: float
    n_draws: int
    quality: RangeQuality
    n_first: float
    n_passed: float
    n_matches: float
    mean_seconds: float
    median_seconds: float

    @classmethod
    def of(cls, way: SearchWay, gamma: float, draws: list[AskedVectors], n_true: I64) -> MeasuredWay:
        """Make the record from the same queries, run once for each draw."""
        survivors = np.stack([asked.survivors for asked in draws])
        seconds = np.stack([asked.seconds for asked in draws])
        _, n_first, n_passed, n_matches = mean_survivors(survivors).tolist()
        return cls(
            way=way,
            gamma=gamma,
            n_draws=len(draws),
            quality=quality(survivors, n_true),
            n_first=n_first,
            n_passed=n_passed,
            n_matches=n_matches,
            mean_seconds=float(seconds.mean()),
            median_seconds=float(np.median(seconds)),
        )


def ask_each(search: Search, queries: LetterVectors) -> AskedVectors:
    """Run queries one after another; the first one is run twice, to warm up."""
    alone = [one_query(queries, i) for i in range(len(queries))]
    search(alone[0])
    survivors, seconds = [], np.zeros(len(alone))
    for i, query in enumerate(alone):
        started = time.thread_time()
        found = search(query)
        seconds[i] = time.thread_time() - started
        survivors.append(found.survivors[0])
    return AskedVectors(np.stack(survivors), seconds)


def one_query(queries: LetterVectors, i: int) -> LetterVectors:
    """Return the i-th query alone."""
    return rows_of(queries, np.array([i]))


def rows_of(vectors: LetterVectors, rows: I64) -> LetterVectors:
    """Select some of the vectors."""
    return LetterVectors(
        vectors.counts[rows],
        vectors.is_counted[rows],
        vectors.n_counted[rows],
        vectors.n_others[rows],
        vectors.fingerprint,
    )


def first_projections(index: ProjectionIndex, n: int) -> ProjectionIndex:
    """Return the index with its first n projections; it stays sorted, because it is sorted by the first."""
    return replace(index, columns=index.columns[:n], directions=index.directions[:, :n])
