"""The results as tables, each a CSV file."""

from __future__ import annotations

from labs.cross_lingual.experiment import CrossLingualResults
from labs.cross_lingual.finding import EDGES, THRESHOLDS
from labs.cross_lingual.published import N_DOCUMENTS, N_PAIRS, TABLE_1, TABLE_2, ErrorSaid, ScanSaid
from labs.cross_lingual.signature_error import ABOVE, SignatureError
from labs.cross_lingual.signature_recall import AtDistance, Scan
from labs.cross_lingual.windows import Windows
from labs.tables import Cell, Table

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
