"""Figures of the experiment, as SVG strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labs.minhash.experiment import NEAR_THRESHOLD, MinhashResults
from nearkin.nouns import counted
from nearkin.reports.plots.axes import Labels, Numbers, count_axis
from nearkin.reports.plots.charts import Series, interval_chart, line_chart
from nearkin.reports.plots.plot import Plot


def sentence_columns(results: MinhashResults, *, name: str, width: int) -> str:
    """Draw the cat sentences by shingle length: columns with all shingles, points without the last."""
    cats = [s for s in results.sentences if s.name == "cat sentences"]
    rows = [_Row(str(s.length), s.similarity, s.without_last, f"{s.similarity:.4f}") for s in cats]
    title = "Jaccard similarity: every shingle (column), without the last (point)"
    return _columns_and_points(
        rows,
        Numbers(low=0, high=1, title=title if width >= 400 else "Jaccard similarity", words="{:.1f}".format),
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
        description="A threshold fits between the lines",
        x_title=f"{words} in a shingle",
        y_title="Jaccard similarity",
        y_domain=(0.0, 1.0),
        width=width,
        height=240,
    )


def s_curves(results: MinhashResults, *, name: str, width: int) -> str:
    """Probability of becoming a candidate, for every banding."""
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
    """Draw all pairs by similarity."""
    counts = results.truth.histogram.tolist()
    return interval_chart(
        [i / len(counts) for i in range(len(counts) + 1)],
        counts,
        name=name,
        title="All pairs by their exact similarity",
        description=counted(results.truth.n_pairs, "pair"),
        x_title="Jaccard similarity",
        y_title="pairs",
        mark=(NEAR_THRESHOLD, f"near-duplicates from {NEAR_THRESHOLD}"),
        width=width,
        height=200,
    )


def candidate_columns(results: MinhashResults, *, name: str, width: int) -> str:
    """Candidates by number of bands: columns for measurements, points for the model."""
    return _counts_by_banding(
        results,
        [b.n_candidates[0] for b in results.truth.bandings],
        [b.n_expected for b in results.truth.bandings],
        "candidate pairs",
        name=name,
        width=width,
    )


def in_vain_columns(results: MinhashResults, *, name: str, width: int) -> str:
    """Candidates below the high threshold, compared for nothing, measured and predicted."""
    return _counts_by_banding(
        results,
        [b.n_in_vain for b in results.truth.bandings],
        [b.n_expected - b.n_high_expected for b in results.truth.bandings],
        "pairs compared for nothing",
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
    said = "; ".join(f"{row.label}: {row.shown} measured, {row.point:,.1f} predicted" for row in rows)
    words = f"{what}: measured (column), predicted (point)" if width >= 400 else what
    return _columns_and_points(
        rows,
        count_axis([*measured, *(round(value) for value in predicted)], words),
        name=name,
        title=f"{what.capitalize()} by bands and rows",
        description=said,
        x_title="bands × rows",
        width=width,
    )


def _columns_and_points(
    rows: Sequence[_Row],
    y: Numbers,
    *,
    name: str,
    title: str,
    description: str,
    x_title: str,
    width: int,
) -> str:
    x = Labels([row.label for row in rows], x_title, gap=0.25)
    plot = Plot(x=x, y=y, width=width, height=220, top=56)
    return plot.svg(
        plot.axes(),
        plot.columns([row.column for row in rows]),
        plot.diamonds((i, row.point) for i, row in enumerate(rows)),
        plot.above([max(row.column, row.point) for row in rows], [row.shown for row in rows], gap=10),
        name=name,
        title=title,
        description=description,
    )
