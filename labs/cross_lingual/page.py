"""The results as an HTML page without scripts or external files."""

from __future__ import annotations

from labs.cross_lingual import figures
from labs.cross_lingual.experiment import VARIANTS, CrossLingualResults
from labs.cross_lingual.finding import THRESHOLDS
from labs.cross_lingual.published import (
    BOUND,
    CLAIMS,
    MAX_OF_FIGURE_1,
    N_DOCUMENTS,
    N_FIRST,
    N_LINKS,
    R_SQUARED,
    REMARKS,
    THRESHOLD,
    VECTOR_NS,
)
from labs.cross_lingual.signature_error import ABOVE
from labs.cross_lingual.tables import error_said, scan_said, with_sorting
from labs.cross_lingual.windows import BITS, ORDERS, model_errors
from labs.page import Drawn, LabPage, drawn, places
from nearkin.decimals import share_text
from nearkin.nouns import counted
from nearkin.reports.quantities import share_percent_text


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
