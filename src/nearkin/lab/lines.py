"""Lines over labels at equal distances, told apart by dashes as well as colours, with a legend above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from nearkin.reports.layers import CountScale, Layer, chart_of, layered, margins
from nearkin.reports.theme import DASHES, INK, SERIES, SURFACE, Colour, to_svg

SHARES = CountScale(alt.Scale(domain=[0, 1], nice=False), None, "~g", "")
"""From 0 to 1."""
LEGEND_STEP = 20
_LABEL_WIDTH = 32  # pixels that the longest label of an axis takes


@dataclass(frozen=True, slots=True)
class FigureLine:
    """A line: its name, its heights, how it looks.

    Parameters
    ----------
    name : str
    y : sequence of float
        One for each label; NaN is a gap.
    colour : Colour
    dash : tuple of int
        Lengths of strokes and gaps; none is a solid line.
    points : sequence of (str, float)
        Marked on their own, in the colour of the line: at a label, a height. Those of a broken line are hollow.
    """

    name: str
    y: Sequence[float]
    colour: Colour
    dash: tuple[int, ...]
    points: Sequence[tuple[str, float]] = ()

    @classmethod
    def numbered(cls, i: int, name: str, y: Sequence[float]) -> FigureLine:
        """A line that looks as the i-th of a figure does."""
        return cls(name, y, SERIES[i], DASHES[i])


def labelled_lines(
    lines: Sequence[FigureLine],
    labels: Sequence[str],
    scale: CountScale,
    *,
    name: str,
    title: str,
    x_title: str,
    y_title: str,
    width: int,
    description: str = "",
) -> str:
    """The figure as SVG; ``description`` is by default the names of the lines."""
    rows = [
        {"line": line.name, "label": label, "y": None if y != y else y}
        for line in lines
        for label, y in zip(labels, line.y, strict=True)
    ]
    names = [line.name for line in lines]
    x = alt.X(
        "label:N",
        sort=None,
        scale=alt.Scale(type="point", padding=0.3),
        axis=alt.Axis(
            title=x_title,
            labelAngle=0,
            labelFontSize=12 if width >= 400 else 10,
            values=list(labels[:: -(-len(labels) * _LABEL_WIDTH // width)]),
        ),
    )
    looks = [line.colour for line in lines], [line.dash for line in lines]
    base = chart_of(rows).encode(
        *line_strokes(names, *looks), x=x, y=alt.Y("y:Q", scale=scale.scale, axis=scale.axis(y_title))
    )
    layers: list[Layer] = [base.mark_line(clip=True), *_points(lines, x, scale)]
    chart = layered(*layers).properties(width=width, height=240, padding=margins(top=56 + LEGEND_STEP * len(names)))
    return to_svg(chart, name=name, title=title, description=description or ", ".join(names))


def _points(lines: Sequence[FigureLine], x: alt.X, scale: CountScale) -> list[Layer]:
    """Diamonds for what is marked, a layer a line."""
    layers: list[Layer] = []
    for line in lines:
        if line.points:
            rows = [{"label": label, "y": y} for label, y in line.points]
            layers.append(
                chart_of(rows)
                .mark_point(
                    shape="diamond", size=80, filled=True, fill=(SURFACE if line.dash else line.colour).light,
                    stroke=line.colour.light, strokeWidth=1.5, opacity=1,
                )
                .encode(x=x, y=alt.Y("y:Q", scale=scale.scale))
            )  # fmt: skip
    return layers


def line_legend(n: int) -> alt.Legend:
    """Above the axis title, a row a line."""
    return alt.Legend(
        title=None, orient="none", legendX=-40, legendY=-52 - LEGEND_STEP * n, columns=1, rowPadding=2,
        labelColor=INK.light, labelFontSize=12, labelLimit=400, symbolSize=500, symbolStrokeWidth=2.5,
    )  # fmt: skip


def line_strokes(
    names: Sequence[str], colours: Sequence[Colour] = SERIES, dashes: Sequence[tuple[int, ...]] = DASHES
) -> tuple[alt.Stroke, alt.StrokeDash]:
    """What encodes the name of a line by a colour and a dash, with a legend above."""
    legend, strokes = line_legend(len(names)), [list(dash) or [1, 0] for dash in dashes]
    return (
        alt.Stroke("line:N", legend=legend, scale=in_order(names, [colour.light for colour in colours])),
        alt.StrokeDash("line:N", legend=legend, scale=in_order(names, strokes)),
    )


def in_order(names: Sequence[str], values: Sequence[Any]) -> alt.Scale:
    """A value for each name; those left over are not used."""
    return alt.Scale(domain=list(names), range=list(values)[: len(names)])
