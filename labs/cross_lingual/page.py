"""The results as an HTML page without scripts or external files."""

from __future__ import annotations

from dataclasses import asdict

from labs.cross_lingual import figures
from labs.cross_lingual.experiment import (
    EDGES,
    THRESHOLDS,
    VARIANTS,
    CrossLingualPlan,
    CrossLingualResults,
    SetResults,
    run,
)
from labs.cross_lingual.published import (
    BOUND,
    CLAIMS,
    MAX_OF_FIGURE_1,
    N_DOCUMENTS,
    N_FIRST,
    N_LINKS,
    N_PAIRS,
    R_SQUARED,
    REMARKS,
    TABLE_1,
    TABLE_2,
    THRESHOLD,
    VECTOR_NS,
    ErrorSaid,
    ScanSaid,
)
from labs.cross_lingual.signature_error import ABOVE, SignatureError
from labs.cross_lingual.signature_recall import AtDistance, Scan
from labs.cross_lingual.windows import BITS, ORDERS, Windows, model_errors
from labs.experiment import Cell, Drawn, Experiment, LabPage, Table, drawn, places
from nearkin.nouns import counted
from nearkin.reports.quantities import share_percent_text
from nearkin.wording import share_text


def summary(plan: CrossLingualPlan, results: CrossLingualResults) -> dict[str, object]:
    """Return the results as JSON types."""
    columns, errors, scans = results.columns, results.errors, results.scans
    return {
        "documents": [str(path) for path in plan.documents],
        "translated": None if plan.translated is None else str(plan.translated),
        "parameters": {
            "left_column": columns.left,
            "right_column": columns.right,
            "documents": plan.most,
            "seed": results.seed,
        },
        "sets": [_set(one) for one in results.sets],
        "largest": results.largest.name,
        "signatures": {
            "n_sampled": errors.n_documents,
            "n_sample_pairs": list(errors.n_pairs),
            "mean_terms": errors.mean_terms,
            "n_pairs": scans.n_pairs,
            "n_pairs_at_threshold": scans.n_true,
            "vector_ns": scans.vector_ns,
        },
        "windows": None if results.windows is None else _windows_summary(results, results.windows),
        "published": {"first": N_FIRST, "links": N_LINKS, "bound": BOUND},
    }


def _set(one: SetResults) -> dict[str, object]:
    origin, finding = one.table.origin, one.finding
    return {
        "name": one.name,
        "path": one.documents.name,
        "n_rows": one.documents.n_read,
        "n_incomplete": one.documents.n_incomplete,
        "n_documents": len(one.documents),
        "n_compared": finding.n_compared,
        "n_first": finding.n_first,
        "mean_reciprocal_rank": finding.reciprocal_rank,
        "table": {
            "source": origin.source,
            "target": origin.target,
            "n_pairs": origin.n_pairs,
            "fingerprint": one.table.fingerprint,
        },
    }


def _windows_summary(results: CrossLingualResults, slid: Windows) -> dict[str, object]:
    return {
        "n_documents": slid.n_documents,
        "distance": slid.distance,
        "bound": slid.bound,
        "windows": list(slid.windows),
        "sorting_s": slid.sorting_s,
        "model_errors": asdict(model_errors(slid)),
        "is_calibrated": slid.is_calibrated,
        "n_sampled": slid.n_sampled,
        "claims": [
            {
                "effectiveness": effectiveness,
                "published_cost": cost,
                "least_cost": _cost(slid.cheapest(effectiveness)),
                "least_cost_with_sorting": _cost(with_sorting(results, slid, effectiveness)[0]),
                "least_cost_with_sorting_at_published_size": _cost(with_sorting(results, slid, effectiveness)[1]),
                "effectiveness_at_cost": None if (best := slid.best_within(cost)) is None else best[0],
            }
            for effectiveness, cost in CLAIMS
        ],
    }


def _cost(found: Cheapest) -> float | None:
    return None if found is None else found[0]


def draw(results: CrossLingualResults) -> tuple[Drawn, ...]:
    """Draw all figures."""
    every = []
    for i, one in enumerate(results.sets, 1):
        means = ", ".join(f"{way.label} {way.finding.mean_cosine:.2f}" for way in figures.shown_ways(one))
        words = f"{one.name}, {counted(one.finding.n_compared, 'document')}; mean: {means}."
        every.append(drawn(f"cosines-{i}", figures.cosines, one, words))
    every.append(
        drawn(
            "thresholds",
            figures.thresholds,
            results,
            "Recall (solid) and precision (dotted) of documents and their translations.",
        )
    )
    if (slid := results.windows) is not None:
        least = share_text(slid.min_r_squared, 4)
        words = f"Figure 5: R² of straight lines by window and by permutations: at least {least}."
        every.append(drawn("times", figures.times, slid, words))
        words = "Figure 6: lines show measurements, areas the article's model."
        every.append(drawn("recall-article", figures.recall_published, slid, words))
        words = "The same with the calibrated model."
        every.append(drawn("recall-calibrated", figures.recall_calibrated, slid, words))
        words = f"Figure 8: {BITS:,} bits, distance {slid.distance}; lines end at {max(ORDERS):,} permutations."
        every.append(drawn("effectiveness", figures.effectiveness, slid, words))
    return tuple(every)


def _values(results: CrossLingualResults) -> dict[str, object]:
    slid = results.windows
    return {
        "sets": results.sets,
        "n_variants": len(VARIANTS),
        "thresholds": THRESHOLDS,
        "errors": [(row, error_said(row)) for row in results.errors.rows],
        "above": ABOVE,
        "scans": [(scan, scan_said(scan)) for scan in results.scans.scans],
        "slid": slid,
        "claims": []
        if slid is None
        else [
            (reached, cost, slid.cheapest(reached), slid.best_within(cost), *with_sorting(results, slid, reached))
            for reached, cost in CLAIMS
        ],
        "off": None if slid is None else model_errors(slid),
        "orders": ORDERS,
        "bits": BITS,
        "threshold": THRESHOLD,
        "bound": BOUND,
        "vector_ns": VECTOR_NS,
        "n_first": N_FIRST,
        "n_links": N_LINKS,
        "max_of_figure_1": MAX_OF_FIGURE_1,
        "n_documents_said": N_DOCUMENTS,
        "r_squared_said": R_SQUARED,
        "remarks": REMARKS,
    }


PAGE = LabPage(
    "labs.cross_lingual",
    draw,
    _values,
    {
        "hundredths": places(2),
        "thousandths": places(3),
        "percent": lambda x: "–" if x != x else share_percent_text(x, 1).replace("%", " %"),  # 99.97 is not 100
        "share": lambda x: "–" if x != x else share_text(x),
        "cost": lambda x: f"{100 * x:.1f} %",
        "whole_percent": lambda x: "–" if x != x else f"{100 * x:,.0f} %" if x >= 0.095 else f"{100 * x:.1f} %",
        "short": lambda x: "–" if x != x else f"{x:.3g}",
    },
)


Cheapest = tuple[float, int, int] | None
"""A relative cost, with its permutations and window; None if nothing reaches the target."""


def tables(results: CrossLingualResults) -> tuple[Table, ...]:
    """Return all tables, in the order of the page."""
    made = (
        _ways(results), _histograms(results), _thresholds(results), _examples(results), _table_1(results),
        _table_2(results),
    )  # fmt: skip
    slid = results.windows
    return made if slid is None else (*made, _windows(slid), _timed(slid), _fits(slid))


def _ways(results: CrossLingualResults) -> Table:
    rows = tuple(
        (
            one.name, len(one.documents), way.key, way.finding.n_compared, way.finding.mean_cosine,
            way.finding.n_first, way.finding.share_first, way.finding.reciprocal_rank, way.share_unknown,
        )
        for one in results.sets
        for way in one.ways
    )  # fmt: skip
    columns = (
        "set", "documents", "way", "compared", "mean_cosine", "translation_first", "share_first",
        "mean_reciprocal_rank", "share_of_words_unknown",
    )  # fmt: skip
    return Table("finding", columns, rows)


def _histograms(results: CrossLingualResults) -> Table:
    rows = tuple(
        (one.name, way.key, EDGES[i], EDGES[i + 1], int(n))
        for one in results.sets
        for way in one.ways
        for i, n in enumerate(way.finding.counts)
    )
    return Table("figure-1-cosines", ("set", "way", "from", "to", "documents"), rows)


def _thresholds(results: CrossLingualResults) -> Table:
    rows = tuple(
        (one.name, way.key, t, int(way.finding.n_near[i]), way.finding.recall(t), way.finding.precision(t))
        for one in results.sets
        for way in one.ways
        for i, t in enumerate(THRESHOLDS)
    )
    return Table("thresholds", ("set", "way", "threshold", "pairs", "recall", "precision"), rows)


def _examples(results: CrossLingualResults) -> Table:
    rows = tuple(
        (
            one.name, example.doc_id, example.rank, place, similar.doc_id, similar.cosine, int(similar.is_translation),
            similar.terms_in_words,
        )
        for one in results.sets
        for example in one.examples
        for place, similar in enumerate(example.similar, 1)
    )  # fmt: skip
    columns = (
        "set", "document", "rank_of_translation", "place", "similar", "cosine", "is_translation", "terms",
    )  # fmt: skip
    return Table("table-3-examples", columns, rows)


def error_said(row: SignatureError) -> ErrorSaid:
    """Return the article's row for one of ours."""
    method = row.method.removesuffix("-ap")
    return next(one for one in TABLE_1 if (one.method, one.bits) == (method, row.published_bits))


def scan_said(scan: Scan) -> ScanSaid:
    """Return the article's row for one of ours."""
    return next(one for one in TABLE_2 if one.bits == scan.bits)


def with_sorting(results: CrossLingualResults, slid: Windows, effectiveness: float) -> tuple[Cheapest, Cheapest]:
    """Return the minimum cost including sorting, for these documents and for the article's number of documents."""
    comparison_ns = results.scans.scans[0].comparison_ns
    here, there = (slid.sorting_cost(comparison_ns, size) for size in (None, (N_DOCUMENTS, N_PAIRS)))
    return slid.cheapest(effectiveness, here), slid.cheapest(effectiveness, there)


def _table_1(results: CrossLingualResults) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for row in results.errors.rows:
        said = error_said(row)
        rows.append((row.method, row.size, *row.errors, row.elapsed_ms, said.bits, *said.errors, said.elapsed_ms))
    names = [f"error_above_{above:g}" for above in ABOVE]
    columns = (
        "method", "size", *names, "ms_a_document", "published_bits", *(f"published_{name}" for name in names),
        "published_ms_a_document",
    )  # fmt: skip
    return Table("table-1-errors", columns, tuple(rows))


def _table_2(results: CrossLingualResults) -> Table:
    scans, rows = results.scans, list[tuple[Cell, ...]]()

    def row(scan: Scan, what: str, at: AtDistance) -> tuple[Cell, ...]:
        said = scan_said(scan)
        numbers = scan.bits, scan.comparison_ns, what, at.distance, at.n_near, at.precision, at.recall
        return (*numbers, scans.extra_s(at), said.comparison_ns, said.precision, said.recall)

    for scan in scans.scans:
        rows.append((*row(scan, "of the threshold", scan.at_threshold), scan.recall_near))
        if scan.at_published is not None:
            rows.append((*row(scan, "of the article", scan.at_published), None))
        rows += [(*row(scan, "looser, then the true cosine", at), None) for at in scan.looser]
    columns = (
        "bits", "comparison_ns", "distance_is", "distance", "pairs_within", "precision", "recall", "cosines_s",
        "published_comparison_ns", "published_precision", "published_recall",
        "recall_below_0.4",
    )  # fmt: skip
    return Table("table-2-signatures", columns, tuple(rows))


def _windows(slid: Windows) -> Table:
    rows = tuple(
        (
            one.permutations, one.window, one.relative_cost, one.recall, one.recall / (slid.bound or 1.0),
            one.compared, *one.published_model, *one.calibrated_model,
        )
        for one in slid.points
    )  # fmt: skip
    columns = (
        "permutations", "window", "relative_cost", "recall", "relative_effectiveness", "recall_with_cosines",
        "published_model_low", "published_model_high", "calibrated_low", "calibrated", "calibrated_high",
    )  # fmt: skip
    return Table("figures-6-to-8-windows", columns, rows)


def _timed(slid: Windows) -> Table:
    rows = tuple((one.permutations, one.window, one.elapsed_s, one.n_comparisons) for one in slid.timed)
    return Table("figure-5-times", ("permutations", "window", "elapsed_s", "comparisons"), rows)


def _fits(slid: Windows) -> Table:
    rows = tuple((one.by, one.at, one.slope_s, one.intercept_s, one.r_squared) for one in slid.fits)
    return Table("figure-5-lines", ("by", "at", "slope_s", "intercept_s", "r_squared"), rows)


EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary)
