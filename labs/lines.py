"""Line charts over equidistant labels; dashes and colours distinguish the lines, with a legend above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nearkin.reports.plots.axes import Labels, Numbers
from nearkin.reports.plots.plot import Plot, legend_height
from nearkin.reports.theme import DASHES, SERIES, SURFACE, Colour

_LABEL_WIDTH = 32  # maximum width of an axis label in pixels


@dataclass(frozen=True, slots=True)
class FigureLine:
    """A line: its name, its values, its look.

    Parameters
    ----------
    name : str
    y : sequence of float
        One value for each label; NaN is a gap.
    colour : Colour
    dash : tuple of int
        Lengths of strokes and gaps; empty for a solid line.
    points : sequence of (str, float)
        Separate marks in the line's colour, each a label and a value. Those of a dashed line are hollow.
    """

    name: str
    y: Sequence[float]
    colour: Colour
    dash: tuple[int, ...]
    points: Sequence[tuple[str, float]] = ()

    @classmethod
    def numbered(cls, i: int, name: str, y: Sequence[float]) -> FigureLine:
        """Make a line with the look of the i-th line of a figure."""
        return cls(name, y, SERIES[i], DASHES[i])


def labelled_lines(
    lines: Sequence[FigureLine],
    labels: Sequence[str],
    y: Numbers,
    *,
    name: str,
    title: str,
    x_title: str,
    width: int,
    description: str = "",
) -> str:
    """Draw the figure as SVG; ``description`` is by default the names of the lines."""
    x = Labels(labels, x_title, gap=1, label_pixels=_LABEL_WIDTH)
    plot = Plot(x=x, y=y, width=width, height=240, top=legend_height(len(lines)))
    drawn = [plot.line(range(len(labels)), line.y, line.colour, line.dash) for line in lines]
    marked = [
        plot.diamonds(
            [(labels.index(label), height) for label, height in line.points],
            SURFACE if line.dash else line.colour,
            line.colour,
        )
        for line in lines
    ]
    legend = plot.legend([(line.name, line.colour, line.dash) for line in lines])
    words = description or ", ".join(line.name for line in lines)
    return plot.svg(plot.axes(), *drawn, *marked, legend, name=name, title=title, description=words)
