"""All numbers, for programs: ``summary.json``."""

from __future__ import annotations

from labs.similarity_index.experiment import IndexPlan, IndexResults
from labs.similarity_index.larger import Larger
from labs.similarity_index.published import BEST_SCORE, N_OVER_ONE, N_RUNS


def summary(plan: IndexPlan, results: IndexResults) -> dict[str, object]:
    """Convert the results to JSON."""
    chance, length = results.chance, results.by_length.counted
    return {
        "folder": {"path": str(plan.folder), "n_files": len(results.folder), "zones": _zones(results)},
        "parameters": {"multipliers": plan.n_multipliers, "queries": plan.n_queries, "seed": plan.seed},
        "runs": {
            "n_runs": len(results.runs),
            "n_above_1": results.n_over_one,
            "n_above_1_without_super_shingle": results.n_over_one_compared,
            "best_score": results.best[0].counted.score,
            "score_of_length": length.score,
            "published": {"n_runs": N_RUNS, "n_above_1": N_OVER_ONE, "best_score": BEST_SCORE},
        },
        "chance": {
            "n_runs": len(chance.methods),
            "mean_n_above_1": float(chance.n_over_one.mean()),
            "min_n_above_1": int(chance.n_over_one.min()),
            "max_n_above_1": int(chance.n_over_one.max()),
            "mean_best_score": float(chance.best.mean()),
            "share_with_a_best_of_published": float((chance.best.round(2) >= BEST_SCORE).mean()),
        },
        "documents": None if results.larger is None else _documents(results.larger, results),
    }


def _zones(results: IndexResults) -> str:
    return "published" if results.folder.zones.is_published else str(results.plan.expected)


def _documents(larger: Larger, results: IndexResults) -> dict[str, object]:
    file, sizes = results.plan.documents, larger.families.sizes
    return {
        "path": None if file is None else str(file.path),
        "family": None if file is None else file.family,
        "n_documents": len(larger.families),
        "n_families": len(sizes),
        "n_families_of_two_and_more": int((sizes > 1).sum()),
        "largest_family": int(sizes.max()),
        "n_left_out": larger.families.n_left_out,
        "n_without_text_or_family": larger.families.n_without,
        "n_queries": len(larger.queries),
        "truths": [
            {"name": truth.name, "n_pairs": len(truth), "n_queries_with_relatives": truth.n_with_relatives}
            for truth in larger.truths
        ],
        "n_without_index": larger.n_without_index,
        "walks": [
            {"run": str(walk.method), "slope": _number(walk.slope), "scale": _number(walk.scale_of_size)}
            for walk in larger.walks
        ],
    }


def _number(value: float) -> float | None:
    return None if value != value else value
