"""The figures of the experiment, each an SVG string."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import altair as alt

from nearkin.lab.minhash.experiment import NEAR_THRESHOLD, MinhashResults
from nearkin.nouns import counted
from nearkin.reports.charts import Series, line_chart
from nearkin.reports.layers import across, chart_of, count_scale, intervals, layered, margins, top_titled
from nearkin.reports.theme import ACCENT, INK, SIGNAL, SURFACE, to_svg


def sentence_columns(results: MinhashResults, *, name: str, width: int) -> str:
    """The cat sentences by shingle length: columns with every shingle, points without the last."""
    cats = [s for s in results.sentences if s.name == "cat sentences"]
    rows = [_Row(str(s.length), s.similarity, s.without_last, f"{s.similarity:.4f}") for s in cats]
    y = alt.Scale(domain=[0, 1], nice=False)
    return _columns_and_points(
        rows,
        y,
        top_titled("Jaccard similarity: every shingle (column), without the last (point)", None, number_format=".1f"),
        name=name,
        title="Similarity of the two cat sentences by shingle length",
        description=", ".join(f"{s.length} characters: {s.similarity:.4f}" for s in cats),
        x_title="characters in a shingle",
        width=width,
    )


def length_lines(results: MinhashResults, *, unit: str, name: str, width: int) -> str:
    """Near-duplicates and unrelated pairs of the corpus, by the length of a shingle of one unit."""
    chosen = [e for e in results.lengths.effects if e.shingle.startswith(unit)]
    x = [float(e.shingle.partition(":")[2]) for e in chosen]
    lines = (
        ("near-duplicates, mean", [e.mean_near for e in chosen]),
        ("near-duplicates, 10th percentile", [e.low_near for e in chosen]),
        ("unrelated, 99.9th percentile", [e.high_unrelated for e in chosen]),
        ("unrelated, median", [e.median_unrelated for e in chosen]),
    )
    words = "words" if unit == "words" else "characters"
    return line_chart(
        [Series(label, x, y) for label, y in lines if y[0] == y[0]],
        name=name,
        title=f"Similarity of near-duplicates and of unrelated pairs by {words} in a shingle",
        description="The distance between the lines is the room for a threshold",
        x_title=f"{words} in a shingle",
        y_title="Jaccard similarity",
        y_domain=(0.0, 1.0),
        width=width,
        height=240,
    )


def s_curves(results: MinhashResults, *, name: str, width: int) -> str:
    """The probability of becoming a candidate, for every banding."""
    x = results.similarities.tolist()
    return line_chart(
        [Series(f"{c.bands} bands of {c.rows}", x, c.probabilities.tolist()) for c in results.curves],
        name=name,
        title="Probability that a pair becomes a candidate, by its similarity",
        description="One curve for each way to cut 100 hashes into bands",
        x_title="Jaccard similarity of the pair",
        y_title="probability of becoming a candidate",
        x_domain=(0.0, 1.0),
        y_domain=(0.0, 1.0),
        width=width,
    )


def all_similarities(results: MinhashResults, *, name: str, width: int) -> str:
    """All pairs by similarity."""
    counts = results.truth.histogram.tolist()
    y = count_scale(counts)
    bars = intervals([i / len(counts) for i in range(len(counts) + 1)], counts).encode(
        x=alt.X(
            "from:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=alt.Axis(title="Jaccard similarity", tickCount=6)
        ),
        x2="to:Q",
        y=alt.Y("n:Q", scale=y.scale, axis=y.axis("pairs")),
        y2=alt.datum(0),
    )
    mark = across(NEAR_THRESHOLD, f"near-duplicates from {NEAR_THRESHOLD}", right_half=True)
    return to_svg(
        layered(bars, mark).properties(width=width, height=200, padding=margins()),
        name=name,
        title="All pairs by their exact similarity",
        description=counted(results.truth.n_pairs, "pair"),
    )


def candidate_columns(results: MinhashResults, *, name: str, width: int) -> str:
    """Candidates by number of bands: columns for what was measured, points for what the model expects."""
    return _counts_by_banding(
        results,
        [b.n_candidates[0] for b in results.truth.bandings],
        [b.n_expected for b in results.truth.bandings],
        "candidate pairs",
        name=name,
        width=width,
    )


def in_vain_columns(results: MinhashResults, *, name: str, width: int) -> str:
    """Candidates below the high threshold, checked in vain, measured and predicted."""
    return _counts_by_banding(
        results,
        [b.n_in_vain for b in results.truth.bandings],
        [b.n_expected - b.n_high_expected for b in results.truth.bandings],
        "pairs checked in vain",
        name=name,
        width=width,
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """A column and the point beside it."""

    label: str
    column: float
    point: float
    shown: str


def _counts_by_banding(
    results: MinhashResults, measured: Sequence[int], predicted: Sequence[float], what: str, *, name: str, width: int
) -> str:
    rows = [
        _Row(f"{b.bands} × {b.rows}", n, expected, f"{n:,}")
        for b, n, expected in zip(results.truth.bandings, measured, predicted, strict=True)
    ]
    y = count_scale([*measured, *(round(value) for value in predicted)])
    said = "; ".join(f"{row.label}: {row.shown} measured, {row.point:,.1f} predicted" for row in rows)
    words = f"{what}: measured (column), predicted (point)" if width >= 400 else what
    return _columns_and_points(
        rows,
        y.scale,
        y.axis(words),
        name=name,
        title=f"{what.capitalize()} by bands and rows",
        description=said,
        x_title="bands × rows",
        width=width,
    )


def _columns_and_points(
    rows: Sequence[_Row],
    scale: alt.Scale,
    axis: alt.Axis,
    *,
    name: str,
    title: str,
    description: str,
    x_title: str,
    width: int,
) -> str:
    values = [{**asdict(row), "top": max(row.column, row.point)} for row in rows]
    x_axis = alt.Axis(title=x_title, labelAngle=0, labelFontSize=12 if width >= 400 else 10)
    base = chart_of(values).encode(x=alt.X("label:N", sort=None, scale=alt.Scale(padding=0.25), axis=x_axis))
    columns = base.mark_bar(fill=ACCENT.light).encode(y=alt.Y("column:Q", scale=scale, axis=axis), y2=alt.datum(0))
    points = base.mark_point(
        shape="diamond", size=90, filled=True, fill=SIGNAL.light, stroke=SURFACE.light, strokeWidth=1.5, opacity=1
    ).encode(y=alt.Y("point:Q", scale=scale))
    numbers = base.mark_text(dy=-13, fontSize=11, fill=INK.light).encode(y=alt.Y("top:Q", scale=scale), text="shown:N")
    chart = layered(columns, points, numbers).properties(width=width, height=220, padding=margins(top=56))
    return to_svg(chart, name=name, title=title, description=description)
