"""Figures of the experiment, as SVG strings."""

from __future__ import annotations

from itertools import pairwise

from labs.lines import FigureLine, labelled_lines
from labs.range_search.claims import percent
from labs.range_search.experiment import RangeSearchResults
from labs.range_search.projections import PROJECTIONS, TAUS, ProjectionPoint
from labs.range_search.published import ALIKE, N_PROJECTIONS, SAID
from labs.range_search.similarity import EDGES
from labs.range_search.ways import ALGORITHM_2, WITH_FILTERS, SearchWay
from nearkin.reports.plots.axes import Labels, Numbers
from nearkin.reports.plots.plot import Plot
from nearkin.reports.theme import ACCENT, SIGNAL

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
