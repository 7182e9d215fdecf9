"""All numbers, for programs: ``summary.json``."""

from __future__ import annotations

from dataclasses import asdict

from labs.cross_lingual.experiment import CrossLingualPlan, CrossLingualResults, SetResults
from labs.cross_lingual.published import BOUND, CLAIMS, N_FIRST, N_LINKS
from labs.cross_lingual.tables import Cheapest, with_sorting
from labs.cross_lingual.windows import Windows, model_errors


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
        "windows": None if results.windows is None else _windows(results, results.windows),
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


def _windows(results: CrossLingualResults, slid: Windows) -> dict[str, object]:
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
