"""Figures of a run's report, each an SVG string."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nearkin.nouns import counted
from nearkin.reports.axes import Numbers, count_axis
from nearkin.reports.plots import Plot, column_chart, element, number, picture
from nearkin.reports.quantities import parameter_text
from nearkin.reports.theme import ACCENT, INK, QUIET, SIGNAL, Colour
from nearkin.wording import share_text

_ROOM_ABOVE = 1.12  # of the probability axis, for the label of the operating point
_SIZE_BINS = ((2, 2), (3, 3), (4, 4), (5, 9), (10, 19), (20, 99), (100, None))
_STRIP, _BAR_STEP, _THINNEST = 18, 40, 3  # pixels


@dataclass(frozen=True, slots=True)
class RecallLine:
    """Probability that a search finds a pair, by the pair's similarity."""

    similarities: Sequence[float]
    probabilities: Sequence[float]
    at_threshold: float
    asked_for: float | None = None


def similarity_chart(
    bin_edges: Sequence[float],
    counts: Sequence[int],
    threshold: float | None,
    recall: RecallLine | None,
    *,
    measure: str = "Jaccard",
    name: str = "similarities",
    width: int = 640,
    height: int = 260,
) -> str:
    """Draw the pairs by similarity and, over them, the probability of finding a pair; the threshold is marked."""
    x = Numbers(low=bin_edges[0], high=bin_edges[-1], title=f"{measure} similarity of the pair", n_ticks=6)
    bars = Plot(x=x, y=count_axis(counts, "pairs"), width=width, height=height, right=48 if recall else 24)
    parts = [bars.axes(), bars.intervals(bin_edges, counts)]
    if threshold is not None and recall is None:
        parts.append(bars.mark(threshold, f"threshold {parameter_text(threshold)}"))
    if threshold is not None and recall is not None:
        ticks = [0, 0.2, 0.4, 0.6, 0.8, 1]
        y = Numbers(low=0, high=_ROOM_ABOVE, title="found (line)", values=ticks, words="{:.1f}".format)
        line = Plot(x=x, y=y, width=width, height=height, right=48)
        parts += [line.y_axis("right"), line.line(recall.similarities, recall.probabilities, INK)]
        parts.append(_asked_for(line, recall.asked_for) if recall.asked_for is not None else "")
        parts.append(_operating_point(line, threshold, recall.at_threshold))
    remark = "" if threshold is None else f"; the threshold is {parameter_text(threshold)}"
    if recall is not None:
        remark += f", where a pair is found with a probability of {share_text(recall.at_threshold)}"
    return bars.svg(
        *parts,
        name=name,
        title=f"Verified pairs by {measure} similarity",
        description=f"Histogram of {counted(sum(counts), 'pair')}{remark}",
    )


def _asked_for(plot: Plot, recall: float) -> str:
    """Draw the requested recall across the plot; words there would overlap the line."""
    at = plot.down(recall)
    return element("path", d=f"M0,{number(at)}h{plot.width}", stroke=QUIET, stroke_dasharray="2,3")


def _operating_point(plot: Plot, threshold: float, recall: float) -> str:
    x, y = plot.across(threshold), plot.down(recall)
    is_right = x > plot.width * 0.4
    path = f"M{number(x)},{number(y)}V{plot.height}"
    label = f"{share_text(recall)} at {parameter_text(threshold)}"
    return (
        element("path", d=path, stroke=SIGNAL, stroke_width=1.5, stroke_dasharray="5,3")
        + plot.marked(threshold, recall)
        + plot.text_over_marks(
            x + (-8 if is_right else 8), y - 11, label, anchor="end" if is_right else "start", size=13, colour=SIGNAL
        )
    )


@dataclass(frozen=True, slots=True)
class SizeBin:
    """Number of groups with ``low`` to ``high`` documents; None: or more."""

    low: int
    high: int | None
    n_groups: int

    @property
    def label(self) -> str:
        """The range."""
        if self.high is None:
            return f"{self.low}+"
        return f"{self.low}–{self.high}" if self.high > self.low else f"{self.low}"


def binned_sizes(
    sizes: Sequence[int], counts: Sequence[int], bins: Sequence[tuple[int, int | None]] = _SIZE_BINS
) -> list[SizeBin]:
    """Count groups by ranges of size, from the smallest to the largest range that occurs.

    Examples
    --------
    >>> [(one.label, one.n_groups) for one in binned_sizes([2, 3, 7, 8], [40, 9, 2, 1])]
    [('2', 40), ('3', 9), ('4', 0), ('5–9', 3)]
    """
    rows = []
    for low, high in bins:
        if low > max(sizes, default=0):
            break
        inside = (n for size, n in zip(sizes, counts, strict=True) if low <= size and (high is None or size <= high))
        rows.append(SizeBin(low, high, sum(inside)))
    return rows


def group_sizes(sizes: Sequence[int], counts: Sequence[int], *, name: str = "sizes", width: int = 640) -> str:
    """Draw the number of groups of each size; ``counts[i]`` groups have ``sizes[i]`` documents."""
    rows = binned_sizes(sizes, counts)
    return column_chart(
        [row.label for row in rows],
        [row.n_groups for row in rows],
        name=name,
        title="Groups by size",
        description=f"Columns for {counted(sum(counts), 'group')}; the largest has "
        f"{counted(max(sizes, default=0), 'document')}",
        x_title="documents in the group",
        y_title="groups",
        width=width,
    )


def outcome_chart(
    n_kept: int, n_unreadable: int, dropped: Mapping[str, int], *, name: str = "outcome", width: int = 640
) -> str:
    """Draw kept and dropped documents as one strip and, below it, the dropped ones by reason, on another scale."""
    n_dropped = sum(dropped.values())
    parts = [_strip(n_kept, n_dropped, n_unreadable, width)]
    top, y = max([*dropped.values(), 1]), 64
    for reason, n in dropped.items():
        length = max((width - 80) * n / top, 1 if n else 0)
        parts.append(_text(0, y + 12, reason))
        parts.append(element("rect", fill=ACCENT, x=0, y=y + 19, width=length, height=12) if n else "")
        parts.append(_text(length + 6, y + 29, f"{n:,}"))
        y += _BAR_STEP
    reasons = "; ".join(f"{reason}: {n:,}" for reason, n in dropped.items())
    of_these = f", of these {reasons}" if reasons else ""
    label = f"Documents kept and dropped. {n_kept:,} kept; {n_dropped:,} dropped{of_these}"
    height = y if dropped else 52
    return picture(*parts, width=width + 10, height=height + 5, origin=(5, 5), name=name, label=label)


def _strip(n_kept: int, n_dropped: int, n_unreadable: int, width: int) -> str:
    """Draw one bar of all documents; a part that has any is at least `_THINNEST` pixels wide."""
    shares = [(n_kept, QUIET, "kept"), (n_dropped, ACCENT, "dropped"), (n_unreadable, SIGNAL, "unreadable")]
    seen = [(n, colour, words) for n, colour, words in shares if n]
    total = sum(n for n, _, _ in seen)
    free = width - _THINNEST * len(seen)
    parts, x, y = [], 0.0, 0.0
    legend = 0.0
    for n, colour, words in seen:
        length = _THINNEST + free * n / total
        parts.append(element("rect", fill=colour, x=x, y=y, width=max(length - 1, 1), height=_STRIP))
        parts.append(element("rect", fill=colour, x=legend, y=_STRIP + 10, width=10, height=10))
        shown = f"{n:,} {words}"
        parts.append(_text(legend + 15, _STRIP + 19, shown))
        legend += 15 + 7.2 * len(shown) + 12
        x += length
    return "".join(parts)


def _text(x: float, y: float, words: str, colour: Colour = INK) -> str:
    return element("text", words, fill=colour, x=x, y=y, font_size=12)


_WIDTHS = (("w", 684), ("n", 262))
"""Suffix of a figure's name, and width of its plot in pixels: on a screen with a margin of text, and on a phone."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Figure at two widths, with its caption and its numbers as a table."""

    wide: str
    narrow: str
    caption: str
    columns: tuple[str, str] = ("", "")
    rows: tuple[tuple[str, str], ...] = ()


def at_both_widths(name: str, draw: Callable[[str, int], str]) -> tuple[str, str]:
    """Draw a figure for a screen and for a phone; ``draw`` takes a unique name and the width of the plot in pixels."""
    wide, narrow = (draw(f"{name}-{tag}", width) for tag, width in _WIDTHS)
    return wide, narrow


def bins_from(
    threshold: float | None, bin_edges: Sequence[float], counts: Sequence[int]
) -> tuple[list[float], Sequence[int]]:
    """Omit the empty bins below a threshold and let the first bin begin at it: no pair below it was counted.

    Examples
    --------
    >>> bins_from(0.6, [0.0, 0.25, 0.5, 0.75, 1.0], [0, 0, 3, 4])
    ([0.6, 0.75, 1.0], [3, 4])
    """
    if threshold is None:
        return list(bin_edges), counts
    last = len(counts) - 1
    first = next((i for i, n in enumerate(counts) if n or bin_edges[i + 1] > threshold), last)
    start = bin_edges[first]
    if start < threshold < bin_edges[first + 1]:
        start = threshold
    return [start, *bin_edges[first + 1 :]], counts[first:]


def bins_in_words(bin_edges: Sequence[float]) -> Iterator[str]:
    """Yield the bins of a histogram in words; the last one holds its upper end.

    Examples
    --------
    >>> list(bins_in_words([0.5, 0.75, 1.0]))
    ['0.50 to under 0.75', '0.75 to 1.00']
    """
    last = len(bin_edges) - 2
    for i, (low, high) in enumerate(pairwise(bin_edges)):
        yield f"{parameter_text(low)} {'to' if i == last else 'to under'} {parameter_text(high)}"
