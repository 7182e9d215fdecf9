"""Charts as SVG, drawn without a library: axes, a plot between them with its marks, and kinds of chart.

Shared parameters of charts: ``name`` is the id of the SVG, ``title`` and ``description`` are its words for a screen
reader, ``width`` and ``height`` are those of the plot without its margins, in pixels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from nearkin.reports.axes import Labels, Numbers, count_axis
from nearkin.reports.theme import ACCENT, AXIS, DASHES, FONT, GRID, INK, QUIET, SERIES, SIGNAL, SURFACE, Colour
from nearkin.wording import reveal_line

MARGIN_TOP = 44
"""Height in pixels of the space above a plot without a legend."""
_LEFT, _BOTTOM = 44, 46
_LEGEND_STEP = 18  # pixels from one line of a legend to the next
_SIZE, _TITLE_SIZE = 12, 12.5
_STROKE = 2.5  # pixels
_CHARACTER = 6.5  # pixels of a common letter of the first of these sizes
Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Plot of a given size in pixels; its marks are SVG elements, to be passed to `svg`."""

    x: Numbers | Labels
    y: Numbers
    width: int
    height: int
    top: int = MARGIN_TOP
    right: int = 24

    def across(self, value: float) -> float:
        """Return the pixel of a value of the x axis; of labels by their positions."""
        return self.x.fraction(value) * self.width

    def down(self, value: float) -> float:
        """Return the pixel of a value of the y axis, from the top."""
        return (1 - self.y.fraction(value)) * self.height

    def svg(self, *parts: str, name: str, title: str, description: str) -> str:
        """Return the figure; ``title`` and ``description`` are the words of a screen reader."""
        return picture(
            *parts,
            width=self.width + _LEFT + self.right,
            height=self.height + self.top + _BOTTOM,
            origin=(_LEFT, self.top),
            name=name,
            label=f"{title}. {description}",
        )

    def axes(self) -> str:
        """Draw both axes: the y axis with a grid and its title on top, the x axis with its title below."""
        size = _SIZE if self.width >= 400 or isinstance(self.x, Numbers) else 10
        floor = self.height
        parts = [self.y_axis("left"), element("path", d=f"M0,{floor}h{self.width}", stroke=AXIS)]
        for fraction, label in self.x.ticks(self.width):
            at = fraction * self.width
            parts.append(element("path", d=f"M{number(at)},{floor}v4", stroke=AXIS))
            parts.append(self.text(at, floor + 9 + 0.8 * size, label, anchor="middle", size=size, colour=QUIET))
        parts.append(self.text(self.width / 2, floor + 38, self.x.title, anchor="middle", size=_TITLE_SIZE))
        return "".join(parts)

    def y_axis(self, side: Literal["left", "right"]) -> str:
        """Draw the y axis; on the right without a grid."""
        is_left = side == "left"
        edge = -5 if is_left else self.width + 5
        anchor: Anchor = "end" if is_left else "start"
        parts, last = [], float("inf")
        for fraction, label in self.y.ticks(self.height):
            at = (1 - fraction) * self.height
            if last - at < _SIZE:  # no room for another label
                continue
            last = at
            if is_left:
                parts.append(element("path", d=f"M0,{number(at)}h{self.width}", stroke=GRID))
            parts.append(self.text(edge, at + 4, label, anchor=anchor, colour=QUIET))
        title_at = -40 if is_left else self.width + 44
        parts.append(
            self.text(
                title_at, -22, self.y.title, anchor="start" if is_left else "end", size=_TITLE_SIZE,
                colour=INK if is_left else QUIET,
            )
        )  # fmt: skip
        return "".join(parts)

    def text(
        self, x: float, y: float, words: str, *, anchor: Anchor = "start", size: float = _SIZE, colour: Colour = INK
    ) -> str:
        """Write words at a pixel."""
        if not words:
            return ""
        return element("text", words, fill=colour, x=x, y=y, text_anchor=anchor, font_size=size)

    def text_over_marks(self, x: float, y: float, words: str, *, anchor: Anchor, size: float, colour: Colour) -> str:
        """Write words at a pixel, on a rim of the surface's colour that keeps them legible over bars and lines."""
        return element(
            "text", words, fill=colour, stroke=SURFACE, x=x, y=y, text_anchor=anchor, font_size=size, stroke_width=6,
            stroke_linejoin="round", paint_order="stroke",
        )  # fmt: skip

    def bars(self, bars: Iterable[tuple[float, float, float]], colour: Colour = ACCENT) -> str:
        """Draw bars from the floor: each from one value of the x axis to another, with its height."""
        return "".join(self._bar(self.across(a), self.across(b), height, colour) for a, b, height in bars)

    def intervals(self, bin_edges: Sequence[float], counts: Sequence[float], colour: Colour = ACCENT) -> str:
        """Draw a histogram, with a narrow gap between its bars."""
        gap = (bin_edges[-1] - bin_edges[0]) * 0.0015
        edges = zip(bin_edges[:-1], bin_edges[1:], counts, strict=True)
        return self.bars(((a + gap, b - gap, n) for a, b, n in edges), colour)

    def columns(self, heights: Sequence[float], colour: Colour = ACCENT) -> str:
        """Draw a column at each label."""
        half = self.x.column / 2 * self.width if isinstance(self.x, Labels) else 0.0
        centres = [self.across(i) for i in range(len(heights))]
        return "".join(self._bar(c - half, c + half, n, colour) for c, n in zip(centres, heights, strict=True))

    def above(self, heights: Sequence[float], words: Sequence[str], gap: float = 5) -> str:
        """Write words above columns, with a gap of some pixels."""
        tops = enumerate(zip(heights, words, strict=True))
        return "".join(
            self.text(self.across(i), self.down(top) - gap, text, anchor="middle", size=11) for i, (top, text) in tops
        )

    def _bar(self, left: float, right: float, height: float, colour: Colour) -> str:
        if not height > 0:
            return ""
        top = self.down(height)
        return element("rect", fill=colour, x=left, y=top, width=right - left, height=self.height - top)

    def line(self, xs: Sequence[float], ys: Sequence[float], colour: Colour = ACCENT, dash: Sequence[int] = ()) -> str:
        """Draw a line, cut at the edges of the plot; NaN is a gap, and a point between two gaps a dot."""
        pieces = list(_without_gaps([(self.across(x), self.down(y)) for x, y in zip(xs, ys, strict=True)]))
        lines = "".join(_path_of(piece) for piece in pieces if len(piece) > 1)
        dots = "".join(f"{_path_of(piece)}h0" for piece in pieces if len(piece) == 1)
        drawn = (_stroke(lines, colour, dash) if lines else "") + (_stroke(dots, colour, ()) if dots else "")
        width, height = self.width + 2 * _STROKE, self.height + 2 * _STROKE  # a line along an edge keeps its width
        box = f'width="{width}" height="{height}" viewBox="-{_STROKE} -{_STROKE} {width} {height}"'
        return f'<svg x="-{_STROKE}" y="-{_STROKE}" {box} overflow="hidden">{drawn}</svg>' if drawn else ""

    def marked(self, x: float, y: float, colour: Colour = SIGNAL) -> str:
        """Draw a dot that stands out, with a rim."""
        return element(
            "circle", fill=colour, stroke=SURFACE, cx=self.across(x), cy=self.down(y), r=4.7, stroke_width=1.5
        )

    def mark(self, value: float, label: str) -> str:
        """Draw a dashed line from top to bottom at a value of the x axis, its label above it."""
        at = self.across(value)
        is_right = at > self.width / 2
        return element(
            "path", d=f"M{number(at)},0V{self.height}", stroke=SIGNAL, stroke_width=1.5, stroke_dasharray="5,3"
        ) + self.text(at + (2 if is_right else -2), -8, label, anchor="end" if is_right else "start", colour=SIGNAL)

    def legend(self, rows: Sequence[tuple[str, Colour, Sequence[int]]]) -> str:
        """Draw a legend above the title of the y axis: a stroke and a label for each row."""
        parts = []
        for i, (label, colour, dash) in enumerate(rows):
            at = -46 - _LEGEND_STEP * (len(rows) - 1 - i)
            parts.append(_stroke(f"M-40,{at - 4}h24", colour, dash))
            parts.append(self.text(-10, at, self._shortened(label)))
        return "".join(parts)

    def _shortened(self, label: str) -> str:
        room = int((self.width + self.right) / _CHARACTER)
        return label if len(label) <= room else f"{label[: room - 1]}…"


def legend_height(n: int) -> int:
    """Return the margin above a plot with a legend of ``n`` rows, in pixels."""
    return MARGIN_TOP + 12 + _LEGEND_STEP * n


def _stroke(d: str, colour: Colour, dash: Sequence[int]) -> str:
    return element(
        "path", stroke=colour, d=d, stroke_width=_STROKE, stroke_linejoin="round",
        stroke_linecap=None if dash else "round", stroke_dasharray=",".join(map(str, dash)) or None,
    )  # fmt: skip


def _path_of(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{number(x)},{number(y)}" for x, y in points)


Point = tuple[float, float]


def _without_gaps(points: Sequence[Point]) -> Iterator[list[Point]]:
    line: list[Point] = []
    for point in points:
        if not any(map(math.isnan, point)):
            line.append(point)
        elif line:
            yield line
            line = []
    if line:
        yield line


def element(
    tag: str, text: str = "", *, fill: Colour | None = None, stroke: Colour | None = None, **given: object
) -> str:
    """Return an element with its attributes; underscores of their names become hyphens.

    Examples
    --------
    >>> element("text", "a < b", x=1.0, text_anchor="end")
    '<text x="1" text-anchor="end">a &lt; b</text>'
    """
    attributes = [f'{key.replace("_", "-")}="{_value(value)}"' for key, value in given.items() if value is not None]
    attributes += [f'{key}="{colour.light}"' for key, colour in (("fill", fill), ("stroke", stroke)) if colour]
    classes = " ".join(f"nk-{key}-{colour.name}" for key, colour in (("fill", fill), ("stroke", stroke)) if colour)
    opening = " ".join([tag, *([f'class="{classes}"'] if classes else []), *attributes])
    return f"<{opening}>{escape(reveal_line(text), quote=False)}</{tag}>" if text else f"<{opening}/>"


def number(value: float) -> str:
    """Return a coordinate with two decimals at most.

    Examples
    --------
    >>> number(3.0), number(0.125), number(-0.001)
    ('3', '0.12', '0')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def picture(*parts: str, width: float, height: float, origin: tuple[float, float], name: str, label: str) -> str:
    """Return the SVG of a figure.

    Parameters
    ----------
    name
        Id of the figure: small letters, digits and hyphens.
    """
    size = f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="nk-figure" id="{name}" {size} role="img"'
        f' aria-label="{_value(label)}" font-family="{escape(FONT)}" fill="none">'
        f'<g transform="translate({number(origin[0])},{number(origin[1])})">{"".join(parts)}</g></svg>'
    )


def _value(value: object) -> str:
    return number(value) if isinstance(value, int | float) else escape(reveal_line(str(value)))


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


def _span(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    return (low, high) if low < high else (low, low + 1.0)
