"""The results as an HTML page without scripts or external files."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from labs.experiment import (
    Cell,
    Drawn,
    Experiment,
    FigureLine,
    LabPage,
    Table,
    claims_table,
    drawn,
    labelled_lines,
    places,
)
from labs.range_search.claims import percent
from labs.range_search.experiment import RangeSearchResults, run
from labs.range_search.projections import (
    ALGORITHM_2,
    N_DRAWS,
    PROJECTIONS,
    RANGE_INDEX,
    TAUS,
    WAYS,
    WITH_FILTERS,
    ProjectionPoint,
    SearchWay,
    Spread,
)
from labs.range_search.published import (
    ALIKE,
    EXHAUSTIVE_SECONDS,
    FIRST_RANGE,
    GAMMAS,
    KD_TREE_RECALL,
    MEAN_CHARACTERS,
    N_DOCUMENTS,
    N_PROJECTIONS,
    N_QUERIES,
    REMARKS,
    SAID,
)
from labs.range_search.similarity import EDGES, EXACT_UP_TO, FLOOR, Alikeness
from nearkin.nouns import counted
from nearkin.reports.axes import Labels, Numbers
from nearkin.reports.plots import Plot
from nearkin.reports.theme import ACCENT, SIGNAL
from nearkin.stages.features.letters import LetterCounts
from nearkin.workflows.reading.request import ReadingRequest


def draw(results: RangeSearchResults) -> tuple[Drawn, ...]:
    """Draw all figures."""
    every = []
    for letter, alike in zip("ab", results.alikes, strict=True):
        if len(alike.query):
            said = ALIKE[alike.gamma]
            caption = (
                f"Figure 1({letter}): γ = {alike.gamma}; {counted(len(alike.query), 'match', 'matches')} of "
                f"{counted(len(np.unique(alike.query)), 'query', 'queries')}, averaged over the queries. In the paper "
                f"{said.words} have at least {said.similarity:.2f}; here {percent(alike.at_least(said.similarity))}."
            )
            chart = partial(edit_similarities, gamma=alike.gamma)
            every.append(drawn(f"figure-1{letter}", chart, results, caption))
    for letter, gamma in zip("ab", GAMMAS, strict=True):
        draws = f"{N_DRAWS} draws of the projections, {counted(len(results.queries), 'query', 'queries')}"
        caption = f"Figure 2({letter}): γ = {gamma}; {draws}."
        every.append(drawn(f"figure-2{letter}", partial(by_projections, gamma=gamma), results, caption))
        caption = f"γ = {gamma}, {N_PROJECTIONS} projections; {draws}."
        every.append(drawn(f"tau-{letter}", partial(by_tau, gamma=gamma), results, caption))
    return tuple(every)


def _values(results: RangeSearchResults) -> dict[str, object]:
    return {
        "plan": results.plan,
        "n_dimensions": LetterCounts(results.plan.alphabet).n_dimensions,
        "documents": results.documents,
        "counted": results.counted,
        "searches": results.searches,
        "ways": WAYS,
        "algorithm_2": ALGORITHM_2,
        "with_filters": WITH_FILTERS,
        "range_index": RANGE_INDEX,
        "gammas": GAMMAS,
        "n_draws": N_DRAWS,
        "n_projections": N_PROJECTIONS,
        "said": SAID,
        "first_range": FIRST_RANGE,
        "alike_said": ALIKE,
        "kd_tree": KD_TREE_RECALL,
        "exhaustive_said": EXHAUSTIVE_SECONDS,
        "n_documents_said": N_DOCUMENTS,
        "n_queries_said": N_QUERIES,
        "characters_said": MEAN_CHARACTERS,
        "remarks": REMARKS,
        "thresholds": THRESHOLDS,
        "floor": FLOOR,
        "exact_up_to": EXACT_UP_TO,
        "least_similar": _least_similar(results),
    }


def _milliseconds(seconds: float) -> str:
    """Format with three significant digits, or as an integer: 0.120, 12.3, 1,234."""
    value = 1000 * seconds
    return f"{value:,.0f}" if value >= 99.95 else f"{value:#.3g}"


def _range(spread: Spread) -> str:
    """Format the minimum and maximum over the draws, if they differ."""
    least, most = f"{spread.least:.3f}", f"{spread.most:.3f}"
    return "" if spread.least != spread.least or least == most else f"{least}–{most}"


def _least_similar(results: RangeSearchResults) -> list[tuple[float, list[tuple[str, str, float]]]]:
    """Return ids and similarity of the least similar matches, by tolerance."""
    ids = results.documents.ids
    return [
        (
            alike.gamma,
            [
                (
                    ids[int(results.queries[alike.query[place]])].as_py(),
                    ids[int(alike.row[place])].as_py(),
                    float(alike.similarity[place]),
                )
                for place in alike.lowest().tolist()
            ],
        )
        for alike in results.alikes
    ]


PAGE = LabPage(
    "labs.range_search",
    draw,
    _values,
    {
        "thousandths": places(3),
        "percent": percent,
        "whole": lambda x: f"{x:,.0f}",
        "mean": lambda x: f"{x:,.0f}" if x >= 100 else f"{x:,.1f}",
        "milliseconds": _milliseconds,
        "seconds": lambda x: f"{x:,.2f}",
        "range": _range,
    },
)


THRESHOLDS = (0.8, 0.9, 0.95, 0.99)
"""Edit similarities for which shares are given."""


def tables(results: RangeSearchResults) -> tuple[Table, ...]:
    """Return all tables, in the order of the page."""
    return (
        _table_1(results),
        _table_2(results),
        _survivors(results),
        _figure_1(results),
        _share_rows(results),
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


def _share_rows(results: RangeSearchResults) -> Table:
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


_SOLID: tuple[int, ...] = ()
_DOTTED = (2, 4)
_COLOURS = {ALGORITHM_2.key: ACCENT, WITH_FILTERS.key: SIGNAL}
_Y_TITLE = "precision and recall; diamonds: the paper's, hollow for recall"
_SHORT_Y_TITLE = "diamonds: the paper's; hollow: recall"


def edit_similarities(results: RangeSearchResults, *, gamma: float, name: str, width: int) -> str:
    """Figure 1: matches at a tolerance by edit similarity."""
    alike = next(one for one in results.alikes if one.gamma == gamma)
    said = ALIKE[gamma]
    shares, _ = alike.histogram()
    labels = [f"below {EDGES[1]:g}", *(f"{a:g} to {b:g}" for a, b in pairwise(EDGES[1:])), "1"]
    if width < 400:
        labels = [f"<{EDGES[1]:g}", *(f"{edge:g}+" for edge in EDGES[1:-1]), "1"]
    shown = [percent(share) if width >= 400 else f"{100 * share:.1f}" for share in shares.tolist()]
    y_title = "share of the matches" if width >= 400 else "share of the matches, %"
    x, y = Labels(labels, "edit similarity", gap=0.25), Numbers(low=0, high=1, title=y_title, words="{:.0%}".format)
    plot = Plot(x=x, y=y, width=width, height=200, top=56)
    return plot.svg(
        plot.axes(),
        plot.columns(shares.tolist()),
        plot.above(shares.tolist(), shown),
        name=name,
        title=f"Matches at γ = {gamma} by their edit similarity",
        description=f"{percent(alike.at_least(said.similarity))} of them have at least {said.similarity:.2f}; in the "
        f"paper {said.words}",
    )


def by_projections(results: RangeSearchResults, *, gamma: float, name: str, width: int) -> str:
    """Figure 2: precision and recall by number of projections; points are the paper's numbers with 8."""
    at = str(N_PROJECTIONS)
    return labelled_lines(
        [
            *_lines(ALGORITHM_2, results.searches.curve(ALGORITHM_2, gamma), at),
            *_lines(WITH_FILTERS, results.searches.curve(WITH_FILTERS, gamma), at),
        ],
        [str(n) for n in PROJECTIONS],
        _shares(width),
        name=name,
        title=f"Precision and recall by the number of projections, γ = {gamma}",
        x_title="projections",
        width=width,
    )


def by_tau(results: RangeSearchResults, *, gamma: float, name: str, width: int) -> str:
    """Precision and recall by τ; points are the paper's numbers at its τ₀."""
    at = f"{TAUS[-1]:.3g}"
    return labelled_lines(
        [
            *_lines(ALGORITHM_2, results.searches.tau_curve(ALGORITHM_2, gamma), at),
            *_lines(WITH_FILTERS, results.searches.tau_curve(WITH_FILTERS, gamma), at),
        ],
        [f"{tau:.3g}" for tau in TAUS],
        _shares(width),
        name=name,
        title=f"Precision and recall by τ, γ = {gamma}",
        x_title="τ",
        width=width,
    )


def _shares(width: int) -> Numbers:
    """Return the y axis, with room for what is 1 everywhere."""
    return Numbers(low=0, high=1.04, title=_Y_TITLE if width >= 400 else _SHORT_Y_TITLE)


def _lines(way: SearchWay, curve: tuple[ProjectionPoint, ...], at: str) -> list[FigureLine]:
    """Return a solid line of precision and a dotted line of recall, with the paper's numbers as points."""
    colour, said = _COLOURS[way.key], SAID[way.key, curve[0].gamma]
    precisions, recalls = [p.quality.precision.mean for p in curve], [p.quality.recall.mean for p in curve]
    return [
        FigureLine(f"{way.label}: precision", precisions, colour, _SOLID, [(at, said.precision)]),
        FigureLine(f"{way.label}: recall", recalls, colour, _DOTTED, [(at, said.recall)]),
    ]


def summary(files: ReadingRequest, results: RangeSearchResults) -> dict[str, object]:
    """Return the results as JSON types."""
    documents, counted, plan = results.documents, results.counted, results.plan
    return {
        "corpus": {
            **documents.read_from(files),
            "n_counted": counted.n_counted,
            "n_few_letters": counted.n_few_letters,
            "n_other_letters": counted.n_other_letters,
            "mean_letters": counted.mean_letters,
            "median_letters": counted.median_letters,
            "max_letters": int(counted.max_letters),
        },
        "parameters": {
            "alphabet": plan.alphabet,
            "dimensions": LetterCounts(plan.alphabet).n_dimensions,
            "gammas": list(GAMMAS),
            "tau": plan.factor,
            "half_width": plan.half_width,
            "projections": N_PROJECTIONS,
            "projections_compared": list(PROJECTIONS),
            "draws": N_DRAWS,
            "queries": len(results.queries),
            "seed": plan.seed,
            "max_matches_compared": plan.bounds.max_matches,
            "longest_compared": plan.bounds.longest,
            "floor": FLOOR,
            "exact_up_to": EXACT_UP_TO,
        },
        "texts_compared": [
            {
                "gamma": alike.gamma,
                "n_queries_with_matches": int((alike.n_others > 0).sum()),
                "n_matches": int(alike.n_others.sum()),
                "n_drawn": alike.n_drawn,
                "n_too_long": alike.n_too_long,
                "n_compared": len(alike.query),
                "n_copies": int(alike.is_copy.sum()),
                "n_under_floor": int(np.isnan(alike.similarity).sum()),
            }
            for alike in results.alikes
        ],
    }


EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary)
