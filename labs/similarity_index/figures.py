"""Figures of the experiment, as SVG strings."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from labs.experiment import FigureLine, labelled_lines
from labs.marks import dots
from labs.similarity_index.columns import SHARED_EDGES, FoundByColumn, scale
from labs.similarity_index.experiment import IndexResults
from labs.similarity_index.larger import BITS, LENGTH, Larger, bands_key, si_key
from labs.similarity_index.published import BEST_SCORE, N_OVER_ONE
from labs.similarity_index.runs import frequencies, label
from nearkin.records import F64, I64
from nearkin.reports.axes import Labels, Numbers, grouped
from nearkin.reports.plots import Plot, Series, element, interval_chart, legend_height, line_chart, number
from nearkin.reports.theme import DASHES, SERIES, SIGNAL, SURFACE
from nearkin.stages.signatures.similarity_index import SimilarityIndex

_MAX_POINTS = 500
_SHOWN = (SimilarityIndex(k=40), SimilarityIndex(method=7, stream="soundex", variation="C", k=40, w=100))


def method_frequency(results: IndexResults, *, name: str, width: int) -> str:
    """Figure 3: how often each tracking number scores above 1; lines: its mean over other multipliers."""
    counts = frequencies(results.runs)
    numbers = list(counts)[: 20 if width >= 400 else 9]
    heights, means = [counts[n] for n in numbers], [results.chance.mean_frequency(n) for n in numbers]
    top = max([1.0, *heights, *(mean for mean in means if mean == mean)])
    title = "runs above 1; dashes: the mean over other multipliers" if width >= 400 else "runs above 1; dashes: mean"
    x, y = Labels([str(n) for n in numbers], "tracking number", gap=0.25), Numbers(low=0, high=1.12 * top, title=title)
    plot = Plot(x=x, y=y, width=width, height=200, top=56)
    floor, size = plot.height - 5, 22 if width >= 400 else 16
    inside = [
        plot.text(plot.across(i), floor, str(n), anchor="middle", size=11, colour=SURFACE)
        for i, n in enumerate(heights)
    ]
    dashes = [
        element(
            "path", stroke=SIGNAL, stroke_width=2.5,
            d=f"M{number(plot.across(i) - size / 2)},{number(plot.down(mean))}h{size}",
        )
        for i, mean in enumerate(means)
        if mean == mean
    ]  # fmt: skip
    return plot.svg(
        plot.axes(),
        plot.columns(heights),
        *dashes,
        *inside,
        name=name,
        title="Methods by the runs that score above 1",
        description=", ".join(f"{n}: {counts[n]}" for n in numbers),
    )


def scores(results: IndexResults, *, name: str, width: int) -> str:
    """Draw the paper's five runs: share of multipliers with at least a score."""
    lines = []
    methods = [run.method for run in results.published]
    top = max(4.0, *(float(results.chance.of(method).max()) for method in methods))
    x = np.linspace(0, top, 161)
    for method in methods:
        ordered = np.sort(results.chance.of(method))
        share = 1 - np.searchsorted(ordered, x - 1e-9, "left") / len(ordered)
        lines.append(Series(label(method), x.tolist(), share.tolist()))
    return line_chart(
        lines,
        name=name,
        title="Scores of the paper's five runs with other multipliers",
        description="Share of multipliers with at least this score",
        x_title="score",
        y_title="share of multipliers with at least this score",
        x_domain=(0.0, top),
        y_domain=(0.0, 1.0),
        mark=(BEST_SCORE, "the paper's 3.50") if results.folder.zones.is_published else None,
        width=width,
    )


def best_scores(results: IndexResults, *, name: str, width: int) -> str:
    """Draw the highest score of all runs, by multiplier."""
    best = results.chance.best
    top = float(max(best.max(), BEST_SCORE if results.folder.zones.is_published else 0)) * 1.05
    counts, edges = np.histogram(best, np.linspace(0, top, 29))
    return interval_chart(
        edges.tolist(),
        counts.tolist(),
        name=name,
        title="The best of all runs, by multiplier",
        description=f"From {best.min():.2f} to {best.max():.2f}",
        x_title="best score of all runs",
        y_title="multipliers",
        mark=(BEST_SCORE, "the paper's 3.50") if results.folder.zones.is_published else None,
        width=width,
    )


def runs_over_one(results: IndexResults, *, name: str, width: int) -> str:
    """Number of runs with a score above 1, by multiplier."""
    n = results.chance.n_over_one
    top = max(int(n.max()), N_OVER_ONE if results.folder.zones.is_published else 0, 10)
    step = max(1, -(-top // 28))
    edges = np.arange(0, top + 2 * step, step)
    counts, _ = np.histogram(n, edges)
    return interval_chart(
        edges.astype(float).tolist(),
        counts.tolist(),
        name=name,
        title="Runs above 1, by multiplier",
        description=f"From {n.min()} to {n.max()}, {n.mean():.0f} on average",
        x_title="runs that score above 1",
        y_title="multipliers",
        mark=(float(N_OVER_ONE), f"the paper's {N_OVER_ONE}") if results.folder.zones.is_published else None,
        width=width,
    )


def precision_recall(larger: Larger, *, truth: str, name: str, width: int) -> str:
    """Precision by recall, one line per column, one point per setting."""
    chosen = _chosen(larger)
    lines = [(words, *_points(found, truth, is_rows=False)) for words, found in chosen]
    y = Numbers(low=0, high=1, title="precision: of the rows returned" if width >= 400 else "precision")
    return _curves(lines, y, name=name, title="Precision and recall of one-column queries", width=width)


def rows_recall(larger: Larger, *, truth: str, name: str, width: int) -> str:
    """Rows returned by recall, one line per column, one point per setting."""
    lines = [(words, *_points(found, truth, is_rows=True)) for words, found in _chosen(larger)]
    low, high = 0.1, float(len(larger.families))
    y = Numbers(
        low=low, high=high, title="rows a query returns, log scale", kind="log", values=_powers(low, high),
        words="{:,g}".format,
    )  # fmt: skip
    return _curves(lines, y, name=name, title="Rows returned by recall", width=width)


def _chosen(larger: Larger) -> list[tuple[str, tuple[FoundByColumn, ...]]]:
    """Return the columns to draw."""
    methods = [method for method in _SHOWN if method in larger.methods]
    words = {column.key: column.label for column in larger.columns}
    keys = [*(si_key(method) for method in methods), LENGTH, bands_key(1), bands_key(12), BITS]
    return [(words[key], larger.of(key)) for key in keys]


def _points(found: Sequence[FoundByColumn], truth: str, *, is_rows: bool) -> tuple[list[float], list[float]]:
    """Return recall, and precision or rows, of settings that have both."""
    points = [(one.recall[truth], max(one.n_rows, 0.1) if is_rows else one.precision[truth]) for one in found]
    kept = [(x, y) for x, y in points if x == x and y == y]
    return [x for x, _ in kept], [y for _, y in kept]


def _curves(
    lines: Sequence[tuple[str, list[float], list[float]]], y: Numbers, *, name: str, title: str, width: int
) -> str:
    """Draw lines of recall through points in their own order."""
    plot = Plot(
        x=Numbers(low=0, high=1, title="recall", n_ticks=6), y=y, width=width, height=280, top=legend_height(len(lines))
    )
    looks = [(words, colour, dash) for (words, _, _), colour, dash in zip(lines, SERIES, DASHES, strict=False)]
    drawn = [plot.line(xs, ys, colour, dash) for (_, xs, ys), (_, colour, dash) in zip(lines, looks, strict=True)]
    drawn += [dots(plot, zip(xs, ys, strict=True), look[1]) for (_, xs, ys), look in zip(lines, looks, strict=True)]
    names = ", ".join(words for words, _, _ in lines)
    return plot.svg(plot.axes(), *drawn, plot.legend(looks), name=name, title=title, description=names)


def size_by_length(larger: Larger, *, name: str, width: int) -> str:
    """Absolute value of the index by the number of k-grams in the document, and the scale of a random walk."""
    one = larger.walks[0]
    seen = (one.size > 0) & (one.n_grams > 0)
    n_grams, size = _some(one.n_grams[seen].astype(np.float64), one.size[seen])
    low, high = float(n_grams.min()), float(n_grams.max())
    line = np.geomspace(low, max(high, 1.01 * low), 40)
    expected = scale(line)
    y_low, y_high = float(size.min()), float(max(size.max(), expected.max()))
    x_ticks, y_ticks = _powers(low, high), _powers(y_low, y_high)
    x = Numbers(
        low=low,
        high=float(line[-1]),
        title="k-grams in the document, log scale",
        kind="log",
        values=x_ticks,
        words=grouped,
    )
    title = "size of the number, log scale; line: a random walk" if width >= 400 else "size, log scale"
    y = Numbers(
        low=y_low,
        high=1.2 * y_high,
        title=title,
        kind="log",
        values=y_ticks,
        words=lambda value: f"1e{math.log10(value):.0f}",
    )
    plot = Plot(x=x, y=y, width=width, height=260, top=56)
    return plot.svg(
        plot.axes(),
        dots(plot, zip(n_grams.tolist(), size.tolist(), strict=True), radius=1.4),
        plot.line(line.tolist(), expected.tolist(), SIGNAL),
        name=name,
        title="Similarity index by length of the document",
        description=f"Slope of log size by log length: {one.slope:.2f}",
    )


def _some(n_grams: I64 | F64, size: F64) -> tuple[F64, F64]:
    """Select a limited number of points, in equal steps."""
    step = max(1, -(-len(size) // _MAX_POINTS))
    return n_grams[::step].astype(np.float64), size[::step]


def _powers(low: float, high: float) -> list[float]:
    """Return the powers of ten between two numbers."""
    return [10.0**p for p in range(-2, 20) if low <= 10.0**p <= high]


def hits_by_shared(larger: Larger, *, name: str, width: int) -> str:
    """Hits by the share of common k-grams: measured, and as for a random walk."""
    labels = [f"{low:g}+" for low in SHARED_EDGES[:-1]] + ["all"]
    lines = []
    for i, one in enumerate(larger.walks):
        colour = SERIES[i]
        lines.append(FigureLine(f"{label(one.method)}: measured", one.measured.tolist(), colour, ()))
        lines.append(FigureLine(f"{label(one.method)}: a random walk", one.expected.tolist(), colour, (2, 3)))
    return labelled_lines(
        lines,
        labels,
        Numbers(low=0, high=1, title="share of the pairs that are found"),
        name=name,
        title="Pairs that the index finds, by share of common k-grams",
        x_title="share of common k-grams (cosine)",
        width=width,
    )
