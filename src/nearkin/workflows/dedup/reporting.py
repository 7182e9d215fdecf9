"""A result → the page that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nearkin.planning.search import BandPlan
from nearkin.records import F64
from nearkin.reports.dedup import GroupRow, ProblemRow, RecallCurve, SamplePair, render_dedup_report
from nearkin.runs.files import published
from nearkin.runs.spool import texts_of
from nearkin.stages.search.sampling import Sampling
from nearkin.workflows.dedup.job import Result
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.outcome import GroupTable
from nearkin.workflows.dedup.tables import Places

_N_SAMPLES = 12
_N_GROUPS = 20
_N_PROBLEMS = 50
BIN_EDGES = np.round(np.linspace(0.0, 1.0, 51), 2)


def write_report(path: Path, manifest: Mapping[str, object], result: Result, options: DedupOptions) -> None:
    """Write ``report.html``.

    Raises
    ------
    MissingExtraError
        If the ``report`` extra is not installed.
    """
    similarity = result.matches.similarity(options.measure)
    page = render_dedup_report(
        manifest,
        similarity_bin_edges=BIN_EDGES.tolist(),
        similarity_counts=np.histogram(similarity, BIN_EDGES)[0].tolist(),
        group_size_counts=group_sizes(result.groups),
        largest_groups=largest_groups(result.groups, result.places),
        samples=_samples(result, options),
        problems=first_problems(result.places),
        n_problems=len(result.places.problems),
        curve=_curve(result),
    )
    with published(path) as aside:
        aside.write_text(page, encoding="utf-8")


def group_sizes(table: GroupTable | None) -> dict[int, int]:
    """How many groups there are of each size."""
    if table is None:
        return {}
    sizes, n = np.unique(table.size, return_counts=True)
    return dict(zip(sizes.tolist(), n.tolist(), strict=True))


def largest_groups(table: GroupTable | None, places: Places) -> list[GroupRow]:
    """The largest groups first, the earlier one first among equals."""
    if table is None:
        return []
    chosen = np.argsort(-table.size, kind="stable")[:_N_GROUPS]
    ids = places.id_at(table.principal[chosen]).to_pylist()
    return [
        GroupRow(
            doc_id,
            int(table.size[i]),
            float(table.lowest[i]),
            int(table.bridges_refused[i]),
            int(table.n_exact_copies[i]),
            bool(table.is_lowest_exact[i]),
        )
        for doc_id, i in zip(ids, chosen, strict=True)
    ]


def first_problems(places: Places) -> list[ProblemRow]:
    """The first documents that could not be read."""
    rows = sorted(places.problems)[:_N_PROBLEMS]
    return [
        ProblemRow(
            places.source_names[int(places.source[row])],
            int(places.line[row]),
            places.ids[row].as_py(),
            places.problems[row],
        )
        for row in rows
    ]


def _samples(result: Result, options: DedupOptions) -> list[SamplePair]:
    """Some near-duplicates, spread evenly over the similarities that occur."""
    near = result.matches.where(~result.is_copy)
    if not len(near):
        return []
    similarity = near.similarity(options.measure)
    by_similarity = np.lexsort((near.right, near.left, similarity))
    chosen = by_similarity[_evenly(len(near), similarity[by_similarity])]
    some = near.where(chosen)
    texts = texts_of(result.corpus.chunks, np.concatenate([some.left, some.right]).tolist())
    ids_a, ids_b = result.places.id_at(some.left).to_pylist(), result.places.id_at(some.right).to_pylist()
    return [
        SamplePair(
            ids_a[i],
            ids_b[i],
            result.places.where(int(some.left[i])),
            result.places.where(int(some.right[i])),
            float(similarity[chosen[i]]),
            options.measure,
            texts[i],
            texts[len(some) + i],
        )
        for i in range(len(some))
    ]


def _evenly(n: int, rising: F64) -> NDArray[np.intp]:
    """Up to `_N_SAMPLES` places whose values are spread from the least to the greatest.

    So all values have a say, not only frequent ones.
    """
    wanted = np.linspace(rising[0], rising[-1], _N_SAMPLES)
    return np.unique(np.minimum(np.searchsorted(rising, wanted), n - 1))


def _curve(result: Result) -> RecallCurve | None:
    """How likely pairs are to be found, where the plan samples shingles.

    The chance then depends on the size too: it is drawn for the mean size of the texts that match.
    """
    if isinstance(result.plan, BandPlan):
        return None
    matches = result.verified.matches
    sizes = np.minimum(matches.n_left, matches.n_right) if len(matches) else result.sizes.n_shingles
    mean_size = float(sizes.mean()) if len(sizes) else 1.0
    similarities = np.linspace(0.0, 1.0, 101)
    probabilities = Sampling(result.plan.rate).probability(similarities * mean_size)
    return RecallCurve(similarities.tolist(), probabilities.tolist())
