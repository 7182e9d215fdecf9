"""The kinds of chart that figures are made of: intervals, columns, bars, lines. Each gives an SVG string.

What all share: ``name`` begins the ids inside the SVG, ``title`` and ``description`` are its words for a screen reader,
``width`` and ``height`` are those of the plot without its margins, in pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nearkin.errors import MissingExtraError, ParameterError
from nearkin.reports.layers import (
    Layer,
    across,
    chart_of,
    check_bins,
    count_scale,
    intervals,
    layered,
    margins,
    top_titled,
)
from nearkin.reports.theme import ACCENT, DASHES, INK, QUIET, SERIES, to_svg

try:
    import altair as alt
except ImportError as error:
    raise MissingExtraError.of("Drawing a figure", "report") from error

_BAR_STEP = 40  # pixels from one bar to the next, label included
_LEGEND_STEP = 18


@dataclass(frozen=True, slots=True)
class Series:
    """A line of a chart: its label and its points."""

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
    """A histogram; ``mark`` is a value on the x axis and its label, drawn as a line across."""
    check_bins("interval_chart", bin_edges, counts)
    y = count_scale(counts)
    ends = [bin_edges[0], bin_edges[-1]]
    bars = intervals(bin_edges, counts).encode(
        x=alt.X("from:Q", scale=alt.Scale(domain=ends, nice=False), axis=alt.Axis(title=x_title, tickCount=6)),
        x2=alt.X2("to:Q"),
        y=alt.Y("n:Q", scale=y.scale, axis=y.axis(y_title)),
        y2=alt.Y2Datum(0),
    )
    layers: list[Layer] = [bars]
    if mark is not None:
        layers.append(across(*mark, right_half=mark[0] > sum(ends) / 2))
    chart = layered(*layers).properties(width=width, height=height, padding=margins())
    return to_svg(chart, name=name, title=title, description=description)


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
    """Columns side by side, in the order given, each with its value above it."""
    y = count_scale(values)
    rows = [{"label": label, "n": n, "shown": f"{n:,}"} for label, n in zip(labels, values, strict=True)]
    base = chart_of(rows).encode(
        x=alt.X(
            "label:N",
            sort=None,
            scale=alt.Scale(padding=0.2),
            axis=alt.Axis(title=x_title, labelAngle=0, labelFontSize=12 if width >= 400 else 10),
        ),
        y=alt.Y("n:Q", scale=y.scale, axis=y.axis(y_title)),
    )
    columns = base.mark_bar().encode(y2=alt.Y2Datum(0))
    numbers = base.mark_text(dy=-7, fontSize=11).encode(text=alt.Text("shown:N"))
    chart = layered(columns, numbers).properties(width=width, height=height, padding=margins())
    return to_svg(chart, name=name, title=title, description=description)


def bar_chart(
    labels: Sequence[str],
    values: Sequence[int],
    *,
    name: str,
    title: str,
    description: str,
    faint: Sequence[bool] = (),
    width: int = 640,
) -> str:
    """Bars under one another, in the order given: the label above each, its value after it.

    ``faint`` says which of them take a quiet colour.
    """
    rows = [
        {"label": label, "n": n, "shown": f"{n:,}", "colour": (QUIET if is_faint else ACCENT).light}
        for label, n, is_faint in zip(labels, values, faint or [False] * len(labels), strict=True)
    ]
    base = chart_of(rows).encode(y=alt.Y("label:N", sort=None, axis=None))
    x = alt.X("n:Q", axis=None, scale=alt.Scale(domain=[0, max([*values, 1])], range=[0, width - 70], nice=False))
    bars = base.mark_bar(height=12, yOffset=8).encode(x=x, x2=alt.datum(0), fill=alt.Fill("colour:N", scale=None))
    words = base.mark_text(align="left", dy=-8).encode(x=alt.value(0), text=alt.Text("label:N"))
    numbers = base.mark_text(align="left", dx=6, dy=8).encode(x=x, text=alt.Text("shown:N"))
    height = _BAR_STEP * max(len(labels), 1)
    chart = layered(bars, words, numbers).properties(width=width, height=height, padding=5)
    return to_svg(chart, name=name, title=title, description=description)


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
    """Lines told apart by dashes as well as colours, with a legend above where there are several.

    ``mark`` is a value on the x axis and its label, drawn as a line across.
    """
    if not 1 <= len(series) <= len(SERIES):
        raise ParameterError.of("series", "line_chart", f"1 to {len(SERIES)} lines", len(series))
    rows = [{"label": line.label, "x": x, "y": y} for line in series for x, y in zip(line.x, line.y, strict=True)]
    ends = x_domain or _span([float(x) for line in series for x in line.x])
    heights = y_domain or _span([0.0, *(float(y) for line in series for y in line.y)])
    labels = [line.label for line in series]
    legend = _legend(labels)
    dashes = [list(dash) or [1, 0] for dash in DASHES]
    lines = (
        chart_of(rows)
        .mark_line(clip=True)
        .encode(
            x=alt.X("x:Q", scale=_exactly(ends), axis=alt.Axis(title=x_title, tickCount=6)),
            y=alt.Y("y:Q", scale=_exactly(heights), axis=top_titled(y_title, None, number_format="~g")),
            stroke=alt.Stroke("label:N", legend=legend, scale=_in_order(labels, [c.light for c in SERIES])),
            strokeDash=alt.StrokeDash("label:N", legend=legend, scale=_in_order(labels, dashes)),
        )
    )
    layers: list[Layer] = [lines]
    if mark is not None:
        layers.append(across(*mark, right_half=mark[0] > sum(ends) / 2))
    top = 44 + (_LEGEND_STEP * len(labels) + 12 if legend else 0)
    chart = layered(*layers).properties(width=width, height=height, padding=margins(top=top))
    return to_svg(chart, name=name, title=title, description=description)


def _legend(labels: Sequence[str]) -> alt.Legend | None:
    """A legend above the axis title, a row a line; none for a single line, which the title names."""
    if len(labels) < 2:
        return None
    return alt.Legend(
        title=None,
        orient="none",
        legendX=-40,
        legendY=-52 - _LEGEND_STEP * len(labels),
        columns=1,
        rowPadding=2,
        labelColor=INK.light,
        labelFontSize=12,
        labelLimit=400,
        symbolSize=500,
        symbolStrokeWidth=2.5,
    )


def _in_order(labels: Sequence[str], values: Sequence[str] | Sequence[list[int]]) -> alt.Scale:
    """A scale that gives the first label the first value, the second the second."""
    return alt.Scale(domain=list(labels), range=list(values[: len(labels)]))


def _exactly(ends: tuple[float, float]) -> alt.Scale:
    """A scale from one end to the other, neither rounded outward."""
    return alt.Scale(domain=list(ends), nice=False, zero=False)


def _span(values: Sequence[float]) -> tuple[float, float]:
    """The least and the greatest value, apart even where they are one."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    return (low, high) if low < high else (low, low + 1.0)
