"""All methods at every tolerance (Tables 1 and 2), and Algorithm 2 by projections (Figure 2) and by τ."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from labs.range_search.algorithms import ProjectionIndex, RandomProjections, tau_0
from labs.range_search.published import N_PROJECTIONS
from nearkin.records import F64, I64, LetterVectors
from nearkin.runs.progress import Progress
from nearkin.stages.search.ranges.index import RangeIndex, RangeMatches, RangeQueries

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


N_DRAWS = 5
PROJECTIONS = (1, 2, 4, 8, 16, 32)
TAUS = (0.71, 1.0, 1.5, 2.0, 2.3, 3.0, 4.0, 6.0, tau_0())
"""Values of τ; the paper allows those between 1 / sqrt(2) and τ₀."""
_BY_FILTERS = ((ALGORITHM_2, False), (WITH_FILTERS, True))
Key = tuple[str, float]
Setting = tuple[str, float, int, float]
"""Method, tolerance, projections, τ."""


@dataclass(frozen=True, slots=True)
class ProjectionPoint:
    """Algorithm 2, with or without the filters, for a number of projections and a width of the range around each."""

    way: SearchWay
    gamma: float
    n_projections: int
    tau: float
    quality: RangeQuality


@dataclass(frozen=True, slots=True)
class Searches:
    """Results of all methods.

    Parameters
    ----------
    measured : tuple of MeasuredWay
    by_projections : tuple of ProjectionPoint
        Always the same draws; n projections are the first n of a draw.
    by_tau : tuple of ProjectionPoint
        `N_PROJECTIONS` of the same draws, at each of `TAUS`.
    """

    measured: tuple[MeasuredWay, ...]
    by_projections: tuple[ProjectionPoint, ...]
    by_tau: tuple[ProjectionPoint, ...]

    def of(self, way: SearchWay, gamma: float) -> MeasuredWay:
        """Return the results of a method at a tolerance."""
        return next(one for one in self.measured if (one.way, one.gamma) == (way, gamma))

    def curve(self, way: SearchWay, gamma: float) -> tuple[ProjectionPoint, ...]:
        """Return the points by number of projections, ascending."""
        return tuple(point for point in self.by_projections if (point.way, point.gamma) == (way, gamma))

    def tau_curve(self, way: SearchWay, gamma: float) -> tuple[ProjectionPoint, ...]:
        """Return the points by τ, ascending."""
        return tuple(point for point in self.by_tau if (point.way, point.gamma) == (way, gamma))


def search_in_every_way(
    vectors: LetterVectors,
    queries: LetterVectors,
    truth: ExhaustiveTruth,
    *,
    tau: float,
    seed: int,
    threads: int,
    progress: Progress,
) -> Searches:
    """Run the queries by every method, with `N_DRAWS` draws of the projections.

    Timed searches run on one thread, one query after another; other numbers of projections run on all threads.
    """
    gammas = tuple(truth.matches)
    asked: dict[Key, list[AskedVectors]] = {(way.key, gamma): [] for way in WAYS for gamma in gammas}
    settings: dict[Setting, list[I64]] = {}
    progress.start("search", N_DRAWS + 1, "steps")
    _without_draws(vectors, queries, gammas, asked)
    progress.advance(1)
    for draw in range(N_DRAWS):
        index = ProjectionIndex.of(vectors, RandomProjections("gaussian", N_PROJECTIONS, seed + draw))
        for gamma in gammas:
            asked[ALGORITHM_1.key, gamma].append(ask_each(partial(index.search, gamma=gamma, tau=tau), queries))
        index = ProjectionIndex.of(vectors, RandomProjections("rademacher", PROJECTIONS[-1], seed + draw))
        eight = first_projections(index, N_PROJECTIONS)
        for gamma in gammas:
            for way, with_filters in _BY_FILTERS:
                search = partial(eight.search, gamma=gamma, tau=tau, with_filters=with_filters)
                asked[way.key, gamma].append(ask_each(search, queries))
        for setting, survivors in _in_all_settings(index, queries, gammas, tau, threads):
            settings.setdefault(setting, []).append(survivors)
        progress.advance(1)
    progress.finish()

    def points(chosen: Sequence[tuple[int, float]]) -> tuple[ProjectionPoint, ...]:
        return tuple(
            ProjectionPoint(way, gamma, n, t, quality(np.stack(settings[way.key, gamma, n, t]), truth.n_true(gamma)))
            for gamma in gammas
            for way, _ in _BY_FILTERS
            for n, t in chosen
        )

    return Searches(
        tuple(
            MeasuredWay.of(way, gamma, asked[way.key, gamma], truth.n_true(gamma)) for gamma in gammas for way in WAYS
        ),
        points([(n, tau) for n in PROJECTIONS]),
        points([(N_PROJECTIONS, t) for t in TAUS]),
    )


def _without_draws(
    vectors: LetterVectors, queries: LetterVectors, gammas: Sequence[float], asked: dict[Key, list[AskedVectors]]
) -> None:
    """Run the filters alone, and Nearkin's index."""
    filters = ProjectionIndex.of(vectors, RandomProjections("rademacher", 0))
    ours = RangeIndex.of(vectors)
    for gamma in gammas:
        asked[FILTERS.key, gamma].append(ask_each(partial(filters.search, gamma=gamma), queries))
        asked[RANGE_INDEX.key, gamma].append(ask_each(partial(ours.search, gamma=gamma), queries))


def _in_all_settings(
    index: ProjectionIndex, queries: LetterVectors, gammas: Sequence[float], tau: float, threads: int
) -> list[tuple[Setting, I64]]:
    """Return the documents that the stages of one draw leave, by number of projections and by τ."""
    chosen = dict.fromkeys([*((n, tau) for n in PROJECTIONS), *((N_PROJECTIONS, t) for t in TAUS)])
    jobs = [
        (way, with_filters, gamma, n, t) for gamma in gammas for way, with_filters in _BY_FILTERS for n, t in chosen
    ]

    def survivors(job: tuple[SearchWay, bool, float, int, float]) -> tuple[Setting, I64]:
        way, with_filters, gamma, n, t = job
        found = first_projections(index, n).search(queries, gamma, tau=t, with_filters=with_filters)
        return (way.key, gamma, n, t), found.survivors

    with ThreadPoolExecutor(threads, thread_name_prefix="nearkin") as pool:
        return list(pool.map(survivors, jobs))


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


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean, minimum and maximum of a number over several draws of the projections."""

    mean: float
    least: float
    most: float

    @classmethod
    def of(cls, values: F64) -> Spread:
        """Compute the spread over the draws."""
        return cls(float(np.mean(values)), float(np.min(values)), float(np.max(values)))


@dataclass(frozen=True, slots=True)
class RangeQuality:
    """Quality of a method at a tolerance; means over queries except the last.

    Parameters
    ----------
    recall : Spread
        Share of all matches that are found, including the query itself.
    precision : Spread
        Share of matches among the documents left before the exact comparison, including the query itself.
    recall_of_others : Spread
        Recall without the query itself, over queries that match another document; NaN if there are none.
    pooled_precision : Spread
        Matches of all queries together, divided by the documents left of all queries together.
    """

    recall: Spread
    precision: Spread
    recall_of_others: Spread
    pooled_precision: Spread


def quality(survivors: I64, n_true: I64) -> RangeQuality:
    """Compute the quality of a method from the documents that each stage left.

    Parameters
    ----------
    survivors : int64 array, shape (n_draws, n_queries, n_stages)
        The last stage is the exact comparison, the one before it its input.
    n_true : int64 array, shape (n_queries,)
        Number of matches, at least 1: the query itself.

    Examples
    --------
    >>> found = quality(np.array([[[9, 4, 2], [9, 1, 1]]]), np.array([3, 1]))
    >>> round(found.recall.mean, 3), found.precision.mean, found.recall_of_others.mean, found.pooled_precision.mean
    (0.833, 0.75, 0.5, 0.6)
    """
    passed, found = survivors[..., -2], survivors[..., -1]
    has_others = n_true > 1
    others = (found[:, has_others] - 1) / (n_true[has_others] - 1)
    return RangeQuality(
        Spread.of((found / n_true).mean(axis=1)),
        Spread.of((found / np.maximum(1, passed)).mean(axis=1)),
        Spread.of(others.mean(axis=1) if has_others.any() else np.full(len(survivors), np.nan)),
        Spread.of(found.sum(axis=1) / np.maximum(1, passed.sum(axis=1))),
    )


def mean_survivors(survivors: I64) -> F64:
    """Return the mean number of documents that each stage leaves, over draws and queries, shape (n_stages,)."""
    means: F64 = survivors.mean(axis=(0, 1))
    return means
