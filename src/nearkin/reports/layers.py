"""Parts of charts: axes with the title on top, scales for counts, marked places, margins."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from nearkin.errors import MissingExtraError, ParameterError
from nearkin.reports.theme import INK, QUIET, SIGNAL

try:
    import altair as alt
except ImportError as error:
    raise MissingExtraError.of("Drawing a figure", "report") from error

Layer = alt.Chart | alt.LayerChart

_SKEWED = 60  # a largest count this many times the middle one leaves the others no height on a linear scale


@dataclass(frozen=True, slots=True)
class CountScale:
    """A scale for counts and its ticks; ``note`` goes into the axis title, because a logarithm must be said."""

    scale: alt.Scale
    ticks: tuple[int, ...] | None
    number_format: str
    note: str

    def axis(self, title: str, side: Literal["left", "right"] = "left") -> alt.Axis:
        """The axis of this scale, its title above it."""
        return top_titled(title + self.note, self.ticks, number_format=self.number_format, side=side)


def count_scale(counts: Sequence[int]) -> CountScale:
    """A linear scale from 0, or a logarithmic one where the counts differ by orders of magnitude."""
    seen = sorted(count for count in counts if count > 0)
    top = seen[-1] if seen else 1
    number_format = ",d" if top < 10_000 else "~s"
    if not seen or top <= _SKEWED * seen[len(seen) // 2]:
        ticks = tuple(range(top + 1)) if top <= 4 else None
        return CountScale(alt.Scale(domain=[0, top * 1.05], nice=False), ticks, number_format, "")
    powers = [10**exponent for exponent in range(len(str(top)))]
    ticks = (0, *powers[:: 1 + len(powers) // 5])
    return CountScale(
        alt.Scale(type="symlog", constant=1, domain=[0, top * 1.3], nice=False), ticks, number_format, ", log scale"
    )


def top_titled(
    title: str, ticks: Sequence[float] | None, *, number_format: str = ",d", side: Literal["left", "right"] = "left"
) -> alt.Axis:
    """A y axis with its title above it, level and easy to read; a second one on the right is quiet."""
    is_left = side == "left"
    return alt.Axis(
        title=title,
        titleAngle=0,
        titleAlign=side,
        titleBaseline="bottom",
        titleX=-40 if is_left else 44,
        titleY=-22,
        titleColor=(INK if is_left else QUIET).light,
        orient=side,
        grid=is_left,
        labelExpr=f"format(datum.value, '{number_format}')",  # a format alone is rounded by Vega: 100 would be 0k
        **({"tickCount": 5} if ticks is None else {"values": list(ticks)}),
    )


def chart_of(rows: Iterable[Mapping[str, object]]) -> alt.Chart:
    """A chart of some rows, not yet drawn."""
    # as JSON: altair copies a list at every step
    chart: alt.Chart = alt.Chart(alt.InlineData(values=json.dumps(list(rows)), format=alt.JsonDataFormat(type="json")))
    return chart


def layered(*layers: Layer) -> alt.LayerChart:
    """Charts on top of one another, the first at the bottom."""
    return alt.LayerChart(layer=list(layers))


def margins(*, top: int = 44, right: int = 24) -> dict[str, int]:
    """Margins around a plot, fixed so that no installed font decides the layout."""
    return {"left": 44, "top": top, "right": right, "bottom": 46}


def intervals(bin_edges: Sequence[float], counts: Sequence[int]) -> alt.Chart:
    """Bars over intervals, not yet placed: fields ``from``, ``to`` and ``n``."""
    gap = (bin_edges[-1] - bin_edges[0]) * 0.0015
    rows = [
        {"from": left + gap, "to": right - gap, "n": count}
        for left, right, count in zip(bin_edges[:-1], bin_edges[1:], counts, strict=True)
    ]
    bars: alt.Chart = chart_of(rows).mark_bar(binSpacing=0)
    return bars


def across(value: float, label: str, *, right_half: bool) -> alt.LayerChart:
    """A line from top to bottom at a value of the x axis, its label above it."""
    base = chart_of([{"value": value, "label": label}]).encode(x=alt.X("value:Q"))
    line = base.mark_rule(stroke=SIGNAL.light, strokeWidth=1.5, strokeDash=[5, 3])
    words = base.mark_text(
        align="right" if right_half else "left", dx=2 if right_half else -2, dy=-8, fill=SIGNAL.light
    )
    return layered(line, words.encode(y=alt.value(0), text=alt.Text("label:N")))


def check_bins(owner: str, bin_edges: Sequence[float], counts: Sequence[int]) -> None:
    """Refuses bins that are no bins: fewer than one, edges that do not rise, or not one count for each."""
    if len(bin_edges) < 2 or any(a >= b for a, b in pairwise(bin_edges)):
        raise ParameterError.of("bin_edges", owner, "two or more rising numbers", list(bin_edges))
    if len(counts) != len(bin_edges) - 1:
        raise ParameterError.of("counts", owner, f"one for each of {len(bin_edges) - 1} bins", len(counts))
