"""The results as tables, each a CSV file."""

from __future__ import annotations

from labs.claims import claims_table
from labs.range_search.experiment import RangeSearchResults
from labs.range_search.projections import ProjectionPoint
from labs.range_search.published import ALIKE, EXHAUSTIVE_SECONDS, FIRST_RANGE, GAMMAS, KD_TREE_RECALL, SAID
from labs.range_search.quality import Spread
from labs.range_search.similarity import EDGES, Alikeness
from labs.tables import Cell, Table

THRESHOLDS = (0.8, 0.9, 0.95, 0.99)
"""Edit similarities for which shares are given."""


def tables(results: RangeSearchResults) -> tuple[Table, ...]:
    """Return all tables, in the order of the page."""
    return (
        _table_1(results),
        _table_2(results),
        _survivors(results),
        _figure_1(results),
        _shares(results),
        _lowest(results),
        _by_setting("figure-2-projections", results.searches.by_projections),
        _by_setting("taus", results.searches.by_tau),
        claims_table(results.claims),
    )


def _table_1(results: RangeSearchResults) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in results.searches.measured:
        said = SAID.get((one.way.key, one.gamma))
        rows.append(
            (one.gamma, one.way.key, one.mean_seconds, one.median_seconds, None if said is None else said.seconds)
        )
    rows += [(gamma, "exhaustive", results.exhaustive_seconds, None, EXHAUSTIVE_SECONDS) for gamma in GAMMAS]
    return Table("table-1-seconds", ("gamma", "way", "mean_s", "median_s", "published_s"), tuple(rows))


def _table_2(results: RangeSearchResults) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in results.searches.measured:
        q, said = one.quality, SAID.get((one.way.key, one.gamma))
        published = (None, None) if said is None else (said.recall, said.precision)
        spreads = (*_spread(q.recall), *_spread(q.precision), *_spread(q.recall_of_others))
        rows.append((one.gamma, one.way.key, one.n_draws, *spreads, q.pooled_precision.mean, *published))
    rows += [(gamma, "flann-kd-tree", *[None] * 11, KD_TREE_RECALL[gamma], None) for gamma in GAMMAS]
    columns = (
        "gamma", "way", "draws", "recall", "recall_least", "recall_most", "precision", "precision_least",
        "precision_most", "recall_of_others", "recall_of_others_least", "recall_of_others_most", "pooled_precision",
        "published_recall", "published_precision",
    )  # fmt: skip
    return Table("table-2-precision-and-recall", columns, tuple(rows))


def _spread(spread: Spread) -> tuple[Cell, Cell, Cell]:
    return spread.mean, spread.least, spread.most


def _survivors(results: RangeSearchResults) -> Table:
    return Table(
        "survivors",
        ("gamma", "way", "documents", "after_first_step", "before_exact", "matches", "published_after_first_step"),
        tuple(
            (
                one.gamma, one.way.key, results.counted.n_counted, one.n_first, one.n_passed, one.n_matches,
                FIRST_RANGE.get((one.way.key, one.gamma)),
            )
            for one in results.searches.measured
        ),
    )  # fmt: skip


def _figure_1(results: RangeSearchResults) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for alike in results.alikes:
        shares, counts = alike.histogram()
        ends = (*EDGES[1:], 1.0)
        rows += [(alike.gamma, EDGES[i], ends[i], float(shares[i]), int(counts[i])) for i in range(len(EDGES))]
    return Table("figure-1-edit-similarity", ("gamma", "from", "to", "share", "matches"), tuple(rows))


def _shares(results: RangeSearchResults) -> Table:
    def row(alike: Alikeness, threshold: float) -> tuple[Cell, ...]:
        said = ALIKE[alike.gamma]
        return (
            alike.gamma, threshold, alike.at_least(threshold), alike.at_least(threshold, without_copies=True),
            alike.at_least_with_itself(threshold), alike.at_least_pooled(threshold),
            said.share if said.similarity == threshold else None,
        )  # fmt: skip

    return Table(
        "figure-1-shares",
        (
            "gamma", "at_least", "share", "share_without_copies", "share_with_the_query_itself", "share_of_all_matches",
            "published",
        ),
        tuple(row(alike, threshold) for alike in results.alikes for threshold in THRESHOLDS),
    )  # fmt: skip


def _lowest(results: RangeSearchResults) -> Table:
    ids = results.documents.ids
    rows: list[tuple[Cell, ...]] = []
    for alike in results.alikes:
        for place in alike.lowest().tolist():
            query = int(results.queries[alike.query[place]])
            pair = ids[query].as_py(), ids[int(alike.row[place])].as_py()
            rows.append((alike.gamma, *pair, float(alike.similarity[place])))
    return Table("least-similar-matches", ("gamma", "id_query", "id_match", "edit_similarity"), tuple(rows))


def _by_setting(name: str, points: tuple[ProjectionPoint, ...]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for point in points:
        q = point.quality
        setting = (point.gamma, point.way.key, point.n_projections, point.tau)
        rows.append((*setting, *_spread(q.precision), *_spread(q.recall), q.recall_of_others.mean))
    columns = (
        "gamma", "way", "projections", "tau", "precision", "precision_least", "precision_most", "recall",
        "recall_least", "recall_most", "recall_of_others",
    )  # fmt: skip
    return Table(name, columns, tuple(rows))
