"""All numbers, for programs: ``summary.json``."""

from __future__ import annotations

from labs.collections.experiment import CollectionsPlan, CollectionsResults


def summary(plan: CollectionsPlan, results: CollectionsResults) -> dict[str, object]:
    """Return the corpus and the parameters as JSON types."""
    file = plan.file
    return {
        "corpus": {
            "file": str(file.path),
            "text": file.text,
            "label": file.label,
            "only": file.only,
            "leave_out": list(file.leave_out),
            "n_rows": results.documents.n_rows,
            "n_documents": len(results.documents),
            "n_true_pairs": results.n_true,
        },
        "parameters": {
            "of_a_label": file.of_a_label,
            "queries": min(plan.n_queries, len(results.documents)),
            "wrong_labels": results.outcomes["conflicts"][0].n_true,
            "seed": plan.seed,
        },
    }
