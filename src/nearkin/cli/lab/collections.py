"""``nearkin lab collections``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nearkin.cli.lab.experiment_command import PlannedExperiment, experiment_command, result_table
from nearkin.cli.options.definitions import Out
from nearkin.nouns import counted

if TYPE_CHECKING:
    from nearkin.cli.printing import Printer
    from nearkin.lab.collections.experiment import CollectionsResults

_input = partial(typer.Option, rich_help_panel="Input", show_default=False)
_measured = partial(typer.Option, rich_help_panel="What is measured")
TableFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="Table of documents: .parquet, .csv, .tsv or .jsonl.", show_default=False),
]
TextColumn = Annotated[str, _input("--text", metavar="COLUMN", help="Column with the texts.", show_default=True)]
LabelColumn = Annotated[
    str | None,
    _input(
        "--label",
        metavar="COLUMN",
        help="Column with the labels; documents with the same label belong together. [dim]default: none; pairs "
        "with a Jaccard similarity of at least 0.5 belong together[/]",
    ),
]
OnlyRows = Annotated[str | None, _input("--only", help="COLUMN=VALUE: use only these rows; | between several values.")]
LeaveOut = Annotated[str | None, _input("--leave-out", help="Labels that do not name a family, joined by commas.")]
OfALabel = Annotated[
    int, _input("--of-a-label", min=1, help="Maximum number of documents with one label.", show_default=True)
]
Documents = Annotated[
    int,
    _measured("--documents", min=2, help="Maximum number of distinct texts; of more, an evenly spaced sample is used."),
]
Queries = Annotated[int, _measured("--queries", min=1, help="Number of documents whose versions are queried.")]
WrongLabels = Annotated[int, _measured("--wrong-labels", min=1, help="Number of wrong labels to plant.")]
LabSeed = Annotated[int, _measured("--seed", help="Random seed of the queries and the wrong labels.")]

HELP = """
Measure precision and recall of groups, versions and conflicts of a collection on your own labelled documents, for \
several thresholds and gammas: against the labels, or without labels against an exhaustive comparison of wording.

[bold]Examples[/]

  nearkin lab collections licences.parquet --label license --only kind=text --out lab

  nearkin lab collections contracts.parquet --out lab
"""


@experiment_command
def collections(
    file: TableFile,
    out: Out,
    text: TextColumn = "text",
    label: LabelColumn = None,
    only: OnlyRows = None,
    leave_out: LeaveOut = None,
    of_a_label: OfALabel = 10,
    documents: Documents = 2_000,
    queries: Queries = 500,
    wrong_labels: WrongLabels = 60,
    seed: LabSeed = 0,
) -> PlannedExperiment:
    """Measure groups, versions and conflicts."""
    from nearkin.lab.collections.delivery import EXPERIMENT
    from nearkin.lab.collections.documents import LabelledFile
    from nearkin.lab.collections.experiment import CollectionsPlan

    table = LabelledFile(
        path=file,
        text=text,
        label=label,
        only=only,
        leave_out=tuple(one.strip() for one in (leave_out or "").split(",") if one.strip()),
        of_a_label=of_a_label,
        n_documents=documents,
    )
    plan = CollectionsPlan(file=table, n_queries=queries, n_planted=wrong_labels, seed=seed)
    return PlannedExperiment(EXPERIMENT, (plan,), out, _show)


def _show(console: Printer, results: CollectionsResults) -> None:
    """Print the precision and recall of each question, with a row for each setting."""
    from nearkin.lab.collections.experiment import QUESTIONS
    from nearkin.lab.collections.pairs import SETTINGS

    table = result_table(("setting", *QUESTIONS), left=("setting",))
    for i, setting in enumerate(SETTINGS):
        shown = [results.outcomes[name][i] for name in QUESTIONS]
        cells = ("/".join("–" if x != x else f"{x:.3f}" for x in (one.precision, one.recall)) for one in shown)
        table.add_row(f"{setting.measure} {setting.value}", *(f"  {cell}" for cell in cells))
    console.print("precision/recall", highlight=False)
    console.print(table)
    label = results.plan.file.label
    truth = f"the same {label!r}" if label else "a Jaccard similarity of at least 0.5"
    console.print(
        f"{counted(len(results.documents), 'distinct text')}, {counted(results.n_true, 'pair')} with {truth}.",
        markup=False,
        highlight=False,
    )
