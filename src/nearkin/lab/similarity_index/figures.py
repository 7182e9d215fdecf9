"""The figures of the experiment, each an SVG string."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np

from nearkin.lab.lines import LEGEND_STEP, SHARES, FigureLine, in_order, labelled_lines, line_strokes
from nearkin.lab.similarity_index.columns import FoundByColumn
from nearkin.lab.similarity_index.experiment import IndexResults
from nearkin.lab.similarity_index.larger import BITS, LENGTH, Larger, bands_key, si_key
from nearkin.lab.similarity_index.published import BEST_SCORE, N_OVER_ONE
from nearkin.lab.similarity_index.runs import frequencies, label
from nearkin.lab.similarity_index.walk import SHARED_EDGES, scale
from nearkin.records import F64, I64
from nearkin.reports.charts import Series, interval_chart, line_chart
from nearkin.reports.layers import chart_of, layered, margins, top_titled
from nearkin.reports.theme import ACCENT, SERIES, SIGNAL, SURFACE, to_svg
from nearkin.stages.signatures.similarity_index import SimilarityIndex

_MAX_POINTS = 500
_SHOWN = (SimilarityIndex(k=40), SimilarityIndex(method=7, stream="soundex", variation="C", k=40, w=100))


def method_frequency(results: IndexResults, *, name: str, width: int) -> str:
    """Figure 3: how often each tracking number scores above 1; lines: its mean over other multipliers."""
    counts = frequencies(results.runs)
    numbers = list(counts)[: 20 if width >= 400 else 9]
    rows = [
        {"label": str(n), "n": counts[n], "mean": _none(results.chance.mean_frequency(n)), "shown": str(counts[n])}
        for n in numbers
    ]
    top = max([1.0, *(float(v) for row in rows for v in (row["n"], row["mean"] or 0))])  # type: ignore[arg-type]
    y = alt.Scale(domain=[0, 1.12 * top], nice=False)
    x = alt.X("label:N", sort=None, scale=alt.Scale(padding=0.25), axis=alt.Axis(title="tracking number", labelAngle=0))
    base = chart_of(rows).encode(x=x)
    title = "runs above 1; dashes: the mean over other multipliers" if width >= 400 else "runs above 1; dashes: mean"
    columns = base.mark_bar().encode(
        y=alt.Y("n:Q", scale=y, axis=top_titled(title, None, number_format="~g")), y2=alt.datum(0)
    )
    words = base.mark_text(dy=-8, fontSize=11, fill=SURFACE.light).encode(y=alt.datum(0), text="shown:N")
    ticks = base.mark_tick(thickness=2.5, stroke=SIGNAL.light, fill=SIGNAL.light, size=22 if width >= 400 else 16)
    chart = layered(columns, ticks.encode(y=alt.Y("mean:Q", scale=y)), words)
    return to_svg(
        chart.properties(width=width, height=200, padding=margins(top=56)),
        name=name,
        title="Methods by the runs that score above 1",
        description=", ".join(f"{n}: {counts[n]}" for n in numbers),
    )


def scores(results: IndexResults, *, name: str, width: int) -> str:
    """Of the paper's five runs: the share of multipliers with at least a score."""
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
        description="The share of multipliers with which a run scores as much or more",
        x_title="score",
        y_title="share of multipliers with this score or more",
        x_domain=(0.0, top),
        y_domain=(0.0, 1.0),
        mark=(BEST_SCORE, "the paper's 3.50") if results.folder.zones.is_published else None,
        width=width,
    )


def best_scores(results: IndexResults, *, name: str, width: int) -> str:
    """The highest score of all runs, by multiplier."""
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
    """How many runs score above 1, by multiplier."""
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
    """Precision by recall, a line a column, a point a setting."""
    chosen = _chosen(larger)
    lines = [(words, *_points(found, truth, is_rows=False)) for words, found in chosen]
    return _curves(
        lines, name, width, "Precision and recall of one-column queries", "recall",
        "precision: of the rows returned" if width >= 400 else "precision", None,
    )  # fmt: skip


def rows_recall(larger: Larger, *, truth: str, name: str, width: int) -> str:
    """Rows returned by recall, a line a column, a point a setting."""
    lines = [(words, *_points(found, truth, is_rows=True)) for words, found in _chosen(larger)]
    return _curves(
        lines, name, width, "Rows returned by recall", "recall", "rows a query returns, log scale",
        (0.1, float(len(larger.families))),
    )  # fmt: skip


def _chosen(larger: Larger) -> list[tuple[str, tuple[FoundByColumn, ...]]]:
    """The columns that are drawn."""
    methods = [method for method in _SHOWN if method in larger.methods]
    words = {column.key: column.label for column in larger.columns}
    keys = [*(si_key(method) for method in methods), LENGTH, bands_key(1), bands_key(12), BITS]
    return [(words[key], larger.of(key)) for key in keys]


def _points(found: Sequence[FoundByColumn], truth: str, *, is_rows: bool) -> tuple[list[float], list[float]]:
    """Recall, and precision or rows, of what has both."""
    points = [(one.recall[truth], max(one.n_rows, 0.1) if is_rows else one.precision[truth]) for one in found]
    kept = [(x, y) for x, y in points if x == x and y == y]
    return [x for x, _ in kept], [y for _, y in kept]


def _curves(
    lines: Sequence[tuple[str, list[float], list[float]]], name: str, width: int, title: str, x_title: str,
    y_title: str, logarithmic: tuple[float, float] | None,
) -> str:  # fmt: skip
    """Lines through points in their own order; a logarithmic axis has its ends given."""
    rows = [
        {"line": words, "i": i, "x": x, "y": y}
        for words, xs, ys in lines
        for i, (x, y) in enumerate(zip(xs, ys, strict=True))
    ]
    names = [words for words, _, _ in lines]
    if logarithmic is None:
        y = alt.Y("y:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=top_titled(y_title, None, number_format="~g"))
    else:
        ticks = [10.0**p for p in range(-1, 8) if 10.0**p <= logarithmic[1]]
        y = alt.Y(
            "y:Q", scale=alt.Scale(type="log", domain=list(logarithmic), nice=False),
            axis=top_titled(y_title, ticks, number_format=",~g"),
        )  # fmt: skip
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=alt.Axis(title=x_title, tickCount=6))
    base = chart_of(rows).encode(x=x, y=y)
    drawn = base.mark_line(clip=True).encode(*line_strokes(names), order="i:Q")
    points = base.mark_point(size=22, filled=True, opacity=1, strokeWidth=0, clip=True).encode(
        fill=alt.Fill("line:N", legend=None, scale=in_order(names, [colour.light for colour in SERIES]))
    )
    chart = layered(drawn, points).properties(
        width=width, height=280, padding=margins(top=56 + LEGEND_STEP * len(names))
    )
    return to_svg(chart, name=name, title=title, description=", ".join(names))


def size_by_length(larger: Larger, *, name: str, width: int) -> str:
    """The number without its sign by the k-grams of the document, and the scale of a random walk."""
    one = larger.walks[0]
    seen = (one.size > 0) & (one.n_grams > 0)
    n_grams, size = _some(one.n_grams[seen].astype(np.float64), one.size[seen])
    low, high = float(n_grams.min()), float(n_grams.max())
    line = np.geomspace(low, max(high, 1.01 * low), 40)
    expected = scale(line)
    y_low, y_high = float(size.min()), float(max(size.max(), expected.max()))
    x_scale = alt.Scale(type="log", domain=[low, float(line[-1])], nice=False)
    y_scale = alt.Scale(type="log", domain=[y_low, 1.2 * y_high], nice=False)
    x = alt.X(
        "x:Q", scale=x_scale, axis=alt.Axis(title="k-grams in the document, log scale", values=_powers(low, high))
    )
    title = "size of the number, log scale; line: a random walk" if width >= 400 else "size, log scale"
    y = alt.Y("y:Q", scale=y_scale, axis=top_titled(title, _powers(y_low, y_high), number_format=".0e"))
    dots = [{"x": a, "y": b} for a, b in zip(n_grams.tolist(), size.tolist(), strict=True)]
    path = [{"x": a, "y": b} for a, b in zip(line.tolist(), expected.tolist(), strict=True)]
    chart = layered(
        chart_of(dots).mark_point(size=7, filled=True, fill=ACCENT.light, strokeWidth=0).encode(x=x, y=y),
        chart_of(path).mark_line(stroke=SIGNAL.light).encode(x=x, y=y),
    )
    return to_svg(
        chart.properties(width=width, height=260, padding=margins(top=56)),
        name=name,
        title="A similarity index by the length of its document",
        description=f"Of log size by log length the slope is {one.slope:.2f}",
    )


def _some(n_grams: I64 | F64, size: F64) -> tuple[F64, F64]:
    """Not more points than can be seen, by equal steps."""
    step = max(1, -(-len(size) // _MAX_POINTS))
    return n_grams[::step].astype(np.float64), size[::step]


def _powers(low: float, high: float) -> list[float]:
    """Powers of ten between two numbers."""
    return [10.0**p for p in range(-2, 20) if low <= 10.0**p <= high]


def hits_by_shared(larger: Larger, *, name: str, width: int) -> str:
    """Hits by the share of k-grams in common: measured, and what a random walk says."""
    labels = [f"{low:g}+" for low in SHARED_EDGES[:-1]] + ["all"]
    lines = []
    for i, one in enumerate(larger.walks):
        colour = SERIES[i]
        lines.append(FigureLine(f"{label(one.method)}: measured", one.measured.tolist(), colour, ()))
        lines.append(FigureLine(f"{label(one.method)}: a random walk", one.expected.tolist(), colour, (2, 3)))
    return labelled_lines(
        lines,
        labels,
        SHARES,
        name=name,
        title="Pairs that the index finds, by the k-grams in common",
        x_title="share of k-grams in common (cosine)",
        y_title="share of the pairs that are found",
        width=width,
    )


def _none(value: float) -> float | None:
    return None if value != value else value
