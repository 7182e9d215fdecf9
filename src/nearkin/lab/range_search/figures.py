"""The figures of the experiment, each an SVG string."""

from __future__ import annotations

from itertools import pairwise

import altair as alt

from nearkin.lab.lines import FigureLine, labelled_lines
from nearkin.lab.range_search.claims import percent
from nearkin.lab.range_search.experiment import RangeSearchResults
from nearkin.lab.range_search.projections import PROJECTIONS, TAUS, ProjectionPoint
from nearkin.lab.range_search.published import ALIKE, N_PROJECTIONS, SAID
from nearkin.lab.range_search.similarity import EDGES
from nearkin.lab.range_search.ways import ALGORITHM_2, WITH_FILTERS, SearchWay
from nearkin.reports.layers import CountScale, chart_of, layered, margins, top_titled
from nearkin.reports.theme import ACCENT, SIGNAL, to_svg

_SOLID: tuple[int, ...] = ()
_DOTTED = (2, 4)
_SHARES = CountScale(alt.Scale(domain=[0, 1.04], nice=False), None, "~g", "")  # room for what is 1 everywhere
_COLOURS = {ALGORITHM_2.key: ACCENT, WITH_FILTERS.key: SIGNAL}
_Y_TITLE = "precision and recall; diamonds: the paper's, hollow for recall"
_SHORT_Y_TITLE = "diamonds: the paper's; hollow: recall"


def edit_similarities(results: RangeSearchResults, *, gamma: float, name: str, width: int) -> str:
    """Figure 1: the matches at a tolerance by their edit similarity."""
    alike = next(one for one in results.alikes if one.gamma == gamma)
    said = ALIKE[gamma]
    shares, _ = alike.histogram()
    labels = [f"under {EDGES[1]:g}", *(f"{a:g} to {b:g}" for a, b in pairwise(EDGES[1:])), "1"]
    if width < 400:
        labels = [f"<{EDGES[1]:g}", *(f"{edge:g}+" for edge in EDGES[1:-1]), "1"]
    rows = [
        {"label": label, "share": share, "shown": percent(share) if width >= 400 else f"{100 * share:.1f}"}
        for label, share in zip(labels, shares.tolist(), strict=True)
    ]
    x = alt.X(
        "label:N",
        sort=None,
        scale=alt.Scale(padding=0.25),
        axis=alt.Axis(title="edit similarity", labelAngle=0, labelFontSize=12 if width >= 400 else 10),
    )
    y_axis = top_titled(
        "share of the matches" if width >= 400 else "share of the matches, %", None, number_format=".0%"
    )
    base = chart_of(rows).encode(x=x, y=alt.Y("share:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=y_axis))
    columns = base.mark_bar().encode(y2=alt.datum(0))
    numbers = base.mark_text(dy=-7, fontSize=11).encode(text="shown:N")
    return to_svg(
        layered(columns, numbers).properties(width=width, height=200, padding=margins(top=56)),
        name=name,
        title=f"Matches at γ = {gamma} by their edit similarity",
        description=f"{percent(alike.at_least(said.similarity))} of them have at least {said.similarity:.2f}; in the "
        f"paper {said.words}",
    )


def by_projections(results: RangeSearchResults, *, gamma: float, name: str, width: int) -> str:
    """Figure 2: precision and recall by the number of projections; the paper's numbers with 8 are points."""
    at = str(N_PROJECTIONS)
    return labelled_lines(
        [
            *_lines(ALGORITHM_2, results.searches.curve(ALGORITHM_2, gamma), at),
            *_lines(WITH_FILTERS, results.searches.curve(WITH_FILTERS, gamma), at),
        ],
        [str(n) for n in PROJECTIONS],
        _SHARES,
        name=name,
        title=f"Precision and recall by the number of projections, γ = {gamma}",
        x_title="projections",
        y_title=_Y_TITLE if width >= 400 else _SHORT_Y_TITLE,
        width=width,
    )


def by_tau(results: RangeSearchResults, *, gamma: float, name: str, width: int) -> str:
    """Precision and recall by τ; the paper's numbers are points at its τ₀."""
    at = f"{TAUS[-1]:.3g}"
    return labelled_lines(
        [
            *_lines(ALGORITHM_2, results.searches.tau_curve(ALGORITHM_2, gamma), at),
            *_lines(WITH_FILTERS, results.searches.tau_curve(WITH_FILTERS, gamma), at),
        ],
        [f"{tau:.3g}" for tau in TAUS],
        _SHARES,
        name=name,
        title=f"Precision and recall by τ, γ = {gamma}",
        x_title="τ",
        y_title=_Y_TITLE if width >= 400 else _SHORT_Y_TITLE,
        width=width,
    )


def _lines(way: SearchWay, curve: tuple[ProjectionPoint, ...], at: str) -> list[FigureLine]:
    """Precision solid, recall dotted, and where the paper's numbers stand."""
    colour, said = _COLOURS[way.key], SAID[way.key, curve[0].gamma]
    precisions, recalls = [p.quality.precision.mean for p in curve], [p.quality.recall.mean for p in curve]
    return [
        FigureLine(f"{way.label}: precision", precisions, colour, _SOLID, [(at, said.precision)]),
        FigureLine(f"{way.label}: recall", recalls, colour, _DOTTED, [(at, said.recall)]),
    ]
