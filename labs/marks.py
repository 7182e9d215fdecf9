"""Marks of plots that only pages of labs have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nearkin.reports.plots import Plot, element, number
from nearkin.reports.theme import ACCENT, SIGNAL, SURFACE, Colour


def area(plot: Plot, xs: Sequence[float], lows: Sequence[float], highs: Sequence[float], colour: Colour) -> str:
    """Draw a faint area between two lines; heights outside the plot are those of its edges."""
    there, back = (
        [
            f"{number(plot.across(x))},{number(plot.down(min(max(y, plot.y.low), plot.y.high)))}"
            for x, y in zip(xs, ys, strict=True)
        ]
        for ys in (highs, lows)
    )
    return element("path", fill=colour, d=f"M{'L'.join([*there, *back[::-1]])}Z", fill_opacity="0.22")


def dots(plot: Plot, points: Iterable[tuple[float, float]], colour: Colour = ACCENT, *, radius: float = 2.6) -> str:
    """Draw dots."""
    return "".join(element("circle", fill=colour, cx=plot.across(x), cy=plot.down(y), r=radius) for x, y in points)


def diamonds(
    plot: Plot,
    points: Iterable[tuple[float, float]],
    fill: Colour = SIGNAL,
    stroke: Colour = SURFACE,
    *,
    size: float = 5,
) -> str:
    """Draw diamonds, ``2 * size`` high; hollow ones have the fill of the surface."""
    corners = f"l{size},{size}l{-size},{size}l{-size},{-size}Z"
    tops = (f"M{number(plot.across(x))},{number(plot.down(y) - size)}" for x, y in points)
    return "".join(element("path", fill=fill, stroke=stroke, stroke_width=1.5, d=top + corners) for top in tops)


def legend_of_bars(plot: Plot, rows: Sequence[tuple[str, Colour]]) -> str:
    """Draw a legend above the title of the y axis: a filled square and a label for each row."""
    parts = []
    for i, (label, colour) in enumerate(rows):
        at = -46 - 18 * (len(rows) - 1 - i)
        parts.append(element("rect", fill=colour, x=-40, y=at - 10, width=12, height=12))
        parts.append(plot.text(-22, at, label))
    return "".join(parts)
