"""All methods at every tolerance (Tables 1 and 2), and Algorithm 2 by projections (Figure 2) and by τ."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from labs.range_search.algorithms import ProjectionIndex, RandomProjections, tau_0
from labs.range_search.exhaustive import ExhaustiveTruth
from labs.range_search.published import N_PROJECTIONS
from labs.range_search.quality import RangeQuality, quality
from labs.range_search.ways import (
    ALGORITHM_1,
    ALGORITHM_2,
    FILTERS,
    RANGE_INDEX,
    WAYS,
    WITH_FILTERS,
    AskedVectors,
    MeasuredWay,
    SearchWay,
    ask_each,
    first_projections,
)
from nearkin.records import I64, LetterVectors
from nearkin.runs.progress import Progress
from nearkin.stages.search.ranges.index import RangeIndex

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
