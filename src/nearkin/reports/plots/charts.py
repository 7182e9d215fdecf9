"""Kinds of chart that figures consist of: intervals, columns, bars, lines. Each is an SVG string.

Shared parameters: ``name`` is the id of the SVG, ``title`` and ``description`` are its words for a screen
reader, ``width`` and ``height`` are those of the plot without its margins, in pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from nearkin.errors import ParameterError
from nearkin.reports.plots.axes import Labels, Numbers, count_axis
from nearkin.reports.plots.plot import MARGIN_TOP, Plot, legend_height
from nearkin.reports.theme import DASHES, SERIES


@dataclass(frozen=True, slots=True)
class Series:
    """Line of a chart: its label and its points."""

    label: str
    x: Sequence[float]
    y: Sequence[float]


def interval_chart(
    bin_edges: Sequence[float],
    counts: Sequence[int],
    *,
    name: str,
    title: str,
    description: str,
    x_title: str,
    y_title: str,
    mark: tuple[float, str] | None = None,
    width: int = 640,
    height: int = 220,
) -> str:
    """Draw a histogram; ``mark`` is a value on the x axis, drawn as a line across, with its label."""
    check_bins(bin_edges, counts)
    x = Numbers(low=bin_edges[0], high=bin_edges[-1], title=x_title, n_ticks=6)
    plot = Plot(x=x, y=count_axis(counts, y_title), width=width, height=height)
    parts = [plot.axes(), plot.intervals(bin_edges, counts), plot.mark(*mark) if mark else ""]
    return plot.svg(*parts, name=name, title=title, description=description)


def column_chart(
    labels: Sequence[str],
    values: Sequence[int],
    *,
    name: str,
    title: str,
    description: str,
    x_title: str,
    y_title: str,
    width: int = 640,
    height: int = 220,
) -> str:
    """Draw columns side by side, in the order given, each with its value above it."""
    plot = Plot(x=Labels(labels, x_title), y=count_axis(values, y_title), width=width, height=height)
    numbers = plot.above(values, [f"{n:,}" for n in values])
    return plot.svg(plot.axes(), plot.columns(values), numbers, name=name, title=title, description=description)


def line_chart(
    series: Sequence[Series],
    *,
    name: str,
    title: str,
    description: str,
    x_title: str,
    y_title: str,
    x_domain: tuple[float, float] | None = None,
    y_domain: tuple[float, float] | None = None,
    mark: tuple[float, str] | None = None,
    width: int = 640,
    height: int = 260,
) -> str:
    """Draw lines that differ in dashes as well as colours, with a legend above if there are several."""
    if not 1 <= len(series) <= len(SERIES):
        raise ParameterError.of("series", f"1 to {len(SERIES)} lines", len(series))
    left, right = x_domain or _span([float(v) for line in series for v in line.x])
    low, high = y_domain or _span([0.0, *(float(v) for line in series for v in line.y)])
    x, y = Numbers(low=left, high=right, title=x_title, n_ticks=6), Numbers(low=low, high=high, title=y_title)
    rows = [(line.label, colour, dash) for line, colour, dash in zip(series, SERIES, DASHES, strict=False)]
    has_legend = len(series) > 1
    top = legend_height(len(series)) if has_legend else MARGIN_TOP
    plot = Plot(x=x, y=y, width=width, height=height, top=top)
    lines = [plot.line(line.x, line.y, colour, dash) for line, (_, colour, dash) in zip(series, rows, strict=True)]
    parts = [plot.axes(), *lines, plot.mark(*mark) if mark else "", plot.legend(rows) if has_legend else ""]
    return plot.svg(*parts, name=name, title=title, description=description)


def check_bins(bin_edges: Sequence[float], counts: Sequence[int]) -> None:
    """Refuse invalid bins: fewer than one, edges that do not increase, or not one count for each."""
    if len(bin_edges) < 2 or any(a >= b for a, b in pairwise(bin_edges)):
        raise ParameterError.of("bin_edges", "two or more rising numbers", list(bin_edges))
    if len(counts) != len(bin_edges) - 1:
        raise ParameterError.of("counts", f"one for each of {len(bin_edges) - 1} bins", len(counts))


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Return the minimum and the maximum, apart even where they are equal."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    return (low, high) if low < high else (low, low + 1.0)
