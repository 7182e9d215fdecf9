"""The results as an HTML page without scripts or external files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from labs.corpus import shown_inputs
from labs.experiment import Cell, Drawn, Experiment, LabPage, Table, drawn, places
from labs.marks import diamonds
from labs.minhash.corpus import TitledRequest
from labs.minhash.experiment import (
    HIGH_THRESHOLD,
    N_SKETCHES,
    NEAR_THRESHOLD,
    PUBLISHED,
    REMARKS,
    SHINGLE,
    MinhashResults,
    run,
)
from labs.minhash.truth import N_HASHES, Banding
from nearkin.nouns import counted
from nearkin.reports.axes import Labels, Numbers, count_axis
from nearkin.reports.plots import Plot, Series, interval_chart, line_chart


def draw(results: MinhashResults) -> tuple[Drawn, ...]:
    """Draw all figures."""
    n_near, n_unrelated = results.lengths.n_near, results.lengths.n_unrelated
    pairs = f"{n_near:,} near-duplicates and {counted(n_unrelated, 'other pair')}"
    return (
        drawn("sentences", sentence_columns, results, "The two cat sentences by the length of a shingle."),
        drawn(
            "lengths-chars",
            lambda r, **how: length_lines(r, unit="chars", **how),
            results,
            f"{pairs} of this corpus, by shingles of characters.",
        ),
        drawn(
            "lengths-words",
            lambda r, **how: length_lines(r, unit="words", **how),
            results,
            "The same pairs by shingles of words.",
        ),
        drawn(
            "s-curves",
            s_curves,
            results,
            "How likely a pair becomes a candidate, with 100 hashes cut five ways.",
        ),
        drawn("similarities", all_similarities, results, "All pairs of this corpus by their exact similarity."),
        drawn(
            "candidates",
            candidate_columns,
            results,
            "Candidate pairs: columns measured with one sketch, points predicted from the exact similarities.",
        ),
        drawn(
            "in-vain",
            in_vain_columns,
            results,
            "Candidates that turn out below 0.9: the cost of checking in vain.",
        ),
    )


def _values(results: MinhashResults) -> dict[str, object]:
    return {
        "truth": results.truth,
        "copies": results.copies,
        "beside": side_by_side(results),
        "published": PUBLISHED,
        "remarks": REMARKS,
    }


PAGE = LabPage(
    "labs.minhash",
    draw,
    _values,
    {
        "tenths": lambda x: f"{x:,.1f}",
        "similarity": places(4),
    },
)


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
        diamonds(plot, ((i, row.point) for i, row in enumerate(rows))),
        plot.above([max(row.column, row.point) for row in rows], [row.shown for row in rows], gap=10),
        name=name,
        title=title,
        description=description,
    )


@dataclass(frozen=True, slots=True)
class ArticleNumber:
    """A number of the article beside ours."""

    what: str
    published: str
    here: str


def tables(results: MinhashResults) -> tuple[Table, ...]:
    """Return all tables, each a CSV file."""
    truth = results.truth
    bins = len(truth.histogram)
    pairs = truth.similar
    ids = results.documents.ids
    return (
        Table(
            "sentences",
            ("sentences", "length", "published", "similarity", "similarity_without_last_shingle"),
            tuple((s.name, s.length, s.published, s.similarity, s.without_last) for s in results.sentences),
        ),
        Table(
            "shingle_lengths",
            ("shingle", "mean_near", "percentile_10_near", "median_unrelated", "percentile_99_9_unrelated"),
            tuple(
                (e.shingle, e.mean_near, e.low_near, e.median_unrelated, e.high_unrelated)
                for e in results.lengths.effects
            ),
            nan="nan",
        ),
        Table(
            "s_curves",
            ("similarity", *(f"{curve.bands}x{curve.rows}" for curve in results.curves)),
            tuple(
                (float(s), *(float(curve.probabilities[i]) for curve in results.curves))
                for i, s in enumerate(results.similarities)
            ),
        ),
        Table(
            "bands",
            (
                "bands", "rows", "candidates", "candidates_predicted", "candidates_least", "candidates_most",
                "high_pairs", "high_pairs_found", "high_pairs_found_predicted", "high_pairs_found_least",
                "checked_in_vain", "all_pairs",
            ),
            tuple(_banding_row(b, truth.n_high, truth.n_pairs) for b in truth.bandings),
        ),
        Table(
            "similarities",
            ("from", "to", "pairs"),
            tuple((i / bins, (i + 1) / bins, int(n)) for i, n in enumerate(truth.histogram)),
        ),
        Table(
            "pairs",
            ("id_a", "id_b", "jaccard"),
            tuple(
                (ids[a].as_py(), ids[b].as_py(), s)
                for a, b, s in zip(pairs.left.tolist(), pairs.right.tolist(), pairs.similarity.tolist(), strict=True)
            ),
        ),
    )  # fmt: skip


def _banding_row(b: Banding, n_high: int, n_pairs: int) -> tuple[Cell, ...]:
    return (
        b.bands, b.rows, b.n_candidates[0], b.n_expected, min(b.n_candidates), max(b.n_candidates),
        n_high, b.n_high_found[0], b.n_high_expected, min(b.n_high_found), b.n_in_vain, n_pairs,
    )  # fmt: skip


def side_by_side(results: MinhashResults) -> tuple[ArticleNumber, ...]:
    """Return the article's numbers beside ours, in its order."""
    truth, copies, said = results.truth, results.copies, PUBLISHED
    twenty = next(b for b in truth.bandings if b.bands == 20)
    return (
        *_sentences(results),
        ArticleNumber("documents searched among themselves", f"{said.n_first}", f"{copies.n_documents:,}"),
        ArticleNumber(f"pairs ≥ {NEAR_THRESHOLD} among them", f"{said.n_pairs_first}", f"{copies.n_pairs:,}"),
        ArticleNumber(
            "pairs without the last shingle of each text", f"{said.n_pairs_first}", f"{copies.n_pairs_without_last:,}"
        ),
        ArticleNumber(
            "pairs / documents (no share)", f"{said.share_said:.1%}", f"{copies.n_pairs / copies.n_documents:.1%}"
        ),
        ArticleNumber("documents with a near-duplicate", "–", _share(copies.n_with_a_copy, copies.n_documents)),
        ArticleNumber("documents that could be removed", "–", _share(copies.n_removable, copies.n_documents)),
        ArticleNumber("documents searched with bands", f"{said.n_documents:,}", f"{truth.n_documents:,}"),
        ArticleNumber("all pairs", f"{said.n_all_pairs_said:,} (499,500)", f"{truth.n_pairs:,}"),
        ArticleNumber("candidates, 20 bands of 5", f"{said.n_candidates_20_bands}", f"{twenty.n_candidates[0]:,}"),
        ArticleNumber("candidates predicted by the model", "–", f"{twenty.n_expected:,.1f}"),
        ArticleNumber(f"pairs ≥ {HIGH_THRESHOLD}", f"{said.n_high}", f"{truth.n_high:,}"),
        ArticleNumber(f"pairs ≥ {HIGH_THRESHOLD} found", f"{said.n_high_found}", f"{twenty.n_high_found[0]:,}"),
        ArticleNumber("candidates compared for nothing", f"{said.n_in_vain}", f"{twenty.n_in_vain:,}"),
    )


def _sentences(results: MinhashResults) -> Iterator[ArticleNumber]:
    for s in results.sentences:
        yield ArticleNumber(f"{s.name}, {s.length} characters", f"{s.published:.5f}", f"{s.similarity:.5f}")


def _share(n: int, of: int) -> str:
    return f"{n:,} ({n / of:.1%})"


def summary(files: TitledRequest, results: MinhashResults) -> dict[str, object]:
    """Return all numbers except the long tables, for programs."""
    truth, copies, documents = results.truth, results.copies, results.documents
    return {
        "corpus": {
            "inputs": shown_inputs(files),
            "text": files.text,
            "title": files.title,
            "n_documents": len(documents),
            "n_empty": documents.n_empty,
            "n_unreadable": documents.n_unreadable,
        },
        "parameters": {
            "shingle": str(SHINGLE),
            "normalise": "case",
            "hashes": N_HASHES,
            "sketches": N_SKETCHES,
            "near_threshold": NEAR_THRESHOLD,
            "high_threshold": HIGH_THRESHOLD,
        },
        "sentences": tables(results)[0].records(),
        "shingle_lengths": {
            "n_near_pairs": results.lengths.n_near,
            "n_unrelated_pairs": results.lengths.n_unrelated,
            "by_shingle": tables(results)[1].records(),
        },
        "bands": tables(results)[3].records(),
        "copies": {
            "n_documents": copies.n_documents,
            "n_pairs": copies.n_pairs,
            "n_pairs_without_last_shingle": copies.n_pairs_without_last,
            "n_documents_with_a_copy": copies.n_with_a_copy,
            "n_documents_removable": copies.n_removable,
        },
        "n_pairs": truth.n_pairs,
        "n_high_pairs": truth.n_high,
        "published": {name: getattr(PUBLISHED, name) for name in PUBLISHED.__slots__},
    }


EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary, lists_tables=False)
