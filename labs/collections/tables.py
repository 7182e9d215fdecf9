"""The results as tables, each a CSV file."""

from __future__ import annotations

from labs.collections.experiment import QUESTIONS, CollectionsResults
from labs.collections.pairs import SETTINGS
from labs.tables import Table

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
