"""The results as an HTML page without scripts or external files."""

from __future__ import annotations

from functools import partial

import numpy as np

from labs.page import Drawn, LabPage, drawn, places
from labs.range_search import figures
from labs.range_search.claims import percent
from labs.range_search.experiment import RangeSearchResults
from labs.range_search.projections import N_DRAWS
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
from labs.range_search.quality import Spread
from labs.range_search.similarity import EXACT_UP_TO, FLOOR
from labs.range_search.tables import THRESHOLDS
from labs.range_search.ways import ALGORITHM_2, RANGE_INDEX, WAYS, WITH_FILTERS
from nearkin.nouns import counted
from nearkin.stages.features.letters import LetterCounts


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
            chart = partial(figures.edit_similarities, gamma=alike.gamma)
            every.append(drawn(f"figure-1{letter}", chart, results, caption))
    for letter, gamma in zip("ab", GAMMAS, strict=True):
        draws = f"{N_DRAWS} draws of the projections, {counted(len(results.queries), 'query', 'queries')}"
        caption = f"Figure 2({letter}): γ = {gamma}; {draws}."
        every.append(drawn(f"figure-2{letter}", partial(figures.by_projections, gamma=gamma), results, caption))
        caption = f"γ = {gamma}, {N_PROJECTIONS} projections; {draws}."
        every.append(drawn(f"tau-{letter}", partial(figures.by_tau, gamma=gamma), results, caption))
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
