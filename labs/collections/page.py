"""The results as an HTML page without scripts or external files."""

from __future__ import annotations

from labs.collections.experiment import QUESTIONS, CollectionsPlan, CollectionsResults, run
from labs.collections.pairs import SETTINGS
from labs.experiment import Drawn, Experiment, LabPage, Table, places

HEADINGS = {
    "pairs": "Every pair, compared without any search",
    "versions": "Versions of drawn documents",
    "groups": "Pairs of documents in one group",
    "conflicts": "Planted wrong labels",
}


def draw(results: CollectionsResults) -> tuple[Drawn, ...]:
    """Draw nothing: the results are tables."""
    return ()


def _values(results: CollectionsResults) -> dict[str, object]:
    return {
        "plan": results.plan,
        "documents": results.documents,
        "sections": [
            (name, HEADINGS[name], list(zip(SETTINGS, results.outcomes[name], strict=True))) for name in QUESTIONS
        ],
        "default": next(one for one, setting in zip(results.outcomes["groups"], SETTINGS) if setting.value == 0.5),
    }


PAGE = LabPage("labs.collections", draw, _values, {"thousandths": places(3)})


_COLUMNS = ("measure", "limit", "precision", "recall", "n_right", "n_found", "n_true")


def tables(results: CollectionsResults) -> tuple[Table, ...]:
    """Return a table for each question, with a row for each setting."""
    return tuple(
        Table(
            name,
            _COLUMNS,
            tuple(
                (
                    *(setting.measure, setting.value, one.precision, one.recall),
                    *(one.n_right, one.n_found, one.n_true),
                )
                for setting, one in zip(SETTINGS, results.outcomes[name], strict=True)
            ),
        )
        for name in QUESTIONS
    )


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


EXPERIMENT = Experiment(package=__package__, run=run, tables=tables, summary=summary)
