"""``nearkin lab similarity-index``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nearkin.cli.lab.experiment_command import PlannedExperiment, experiment_command, result_table
from nearkin.cli.options.definitions import Out
from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.table import Table

    from nearkin.cli.printing import Printer
    from nearkin.lab.similarity_index.experiment import IndexResults
    from nearkin.lab.similarity_index.larger import Larger

_measured = partial(typer.Option, rich_help_panel="What is measured")
_larger = partial(typer.Option, rich_help_panel="A larger corpus", show_default=False)
FilesFolder = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER",
        help="Folder with one document per file; folders inside it are skipped.",
        show_default=False,
    ),
]
Expected = Annotated[
    Path | None,
    _measured(
        help="CSV file with the columns file,zone: files of one zone are similar to one another, and to no other "
        "files. [dim]default: the paper's zones, by the names of its files[/]",
        show_default=False,
    ),
]
Multipliers = Annotated[int, _measured(help="Number of other odd multipliers of the hash to try.")]
LabSeed = Annotated[int, _measured("--seed", help="Random seed of multipliers and queries.")]
FamilyDocuments = Annotated[
    Path | None,
    _larger("--documents", help="Parquet, CSV, TSV or JSON Lines with thousands of documents in known families."),
]
Family = Annotated[
    str | None,
    _larger(metavar="COLUMN", help="Column with the family; documents of one family should find one another."),
]
FamilyText = Annotated[str, _larger("--text", metavar="COLUMN", help="Column with the text.", show_default=True)]
Only = Annotated[str | None, _larger(help="COLUMN=VALUE: use only these rows. [dim]default: all[/]")]
LeaveOut = Annotated[
    str | None,
    _larger(help="Values that do not name a family, joined by commas, for example other,mixed. [dim]default: none[/]"),
]
FamilyQueries = Annotated[int, _larger("--queries", help="Number of documents to draw as queries.", show_default=True)]

HELP = """
Repeat the published experiment with the similarity index, one number per document: all methods on a folder of files \
with known similar pairs, their scores beside the paper's, and the part of a score that is due to chance. --documents \
adds a larger corpus: what a query over one column of numbers finds, and what better numbers find.

[bold]Examples[/]

  nearkin lab similarity-index files/ --expected zones.csv --out lab

  nearkin lab similarity-index files/ --documents licences.parquet --family license --out lab
"""


@experiment_command
def similarity_index(
    folder: FilesFolder,
    out: Out,
    expected: Expected = None,
    multipliers: Multipliers = 200,
    seed: LabSeed = 0,
    documents: FamilyDocuments = None,
    family: Family = None,
    text: FamilyText = "text",
    only: Only = None,
    leave_out: LeaveOut = None,
    queries: FamilyQueries = 2000,
) -> PlannedExperiment:
    """Repeat the paper's experiment."""
    from nearkin.lab.similarity_index.delivery import EXPERIMENT
    from nearkin.lab.similarity_index.experiment import IndexPlan
    from nearkin.lab.similarity_index.families import FamilyFile

    if (documents is None) != (family is None):
        raise typer.BadParameter("Give both --documents and --family: a file, and its column with the family.")
    if documents is None and (only is not None or leave_out is not None):
        raise typer.BadParameter("--only and --leave-out need --documents.")
    families = None
    if documents is not None and family is not None:
        left_out = tuple(name.strip() for name in (leave_out or "").split(",") if name.strip())
        families = FamilyFile(documents, family, text, only, left_out)
    plan = IndexPlan(
        folder=folder, expected=expected, documents=families, n_multipliers=multipliers, n_queries=queries, seed=seed
    )
    return PlannedExperiment(EXPERIMENT, (plan,), out, _show)


def _show(console: Printer, results: IndexResults) -> None:
    """Print the runs of Table 9 beside the paper's, the best here, the role of chance, then the larger collection."""
    from nearkin.lab.similarity_index.published import BEST_SCORE, N_OVER_ONE, N_RUNS

    is_published, chance = results.folder.zones.is_published, results.chance
    console.print(_table_9(results))
    said = f" (paper: {N_OVER_ONE} of {N_RUNS})" if is_published else ""
    console.print(
        f"Scores above 1: {results.n_over_one} of {counted(len(results.runs), 'run')}{said}.", highlight=False
    )
    others = counted(len(chance.multipliers), "other multiplier")
    share = 100 * float((chance.best.round(2) >= BEST_SCORE).mean())
    with_published = f"; {share:.3g}% reach the paper's {BEST_SCORE:.2f}" if is_published else ""
    console.print(
        f"With {others} than 31: on average {chance.n_over_one.mean():.0f} runs above 1; best score "
        f"{chance.best.min():.2f} to {chance.best.max():.2f}{with_published}.",
        highlight=False,
    )
    if results.larger is not None:
        console.print(_columns(results.larger))


def _table_9(results: IndexResults) -> Table:
    """Tabulate the runs: the paper's five, then the best here."""
    from nearkin.lab.similarity_index.published import TABLE_9

    table = result_table(("run", "FP", "FN", "correct", "score", "(paper)", "as expected"), left=("run",))
    is_published = results.folder.zones.is_published
    scores = [f"({said.score:.2f})" if is_published else "" for said in TABLE_9]
    rows = list(zip(results.published, scores, strict=True))
    published = {run.method for run, _ in rows}
    for run, said in (*rows, *((run, "") for run in results.best if run.method not in published)):
        c = run.counted
        numbers = f"{c.n_false_positives}", f"{c.n_false_negatives}", f"{c.n_correct}", f"{c.score:.2f}"
        table.add_row(run.label, *numbers, said, f"{c.n_as_expected} of {c.n_pairs}")
    return table


def _columns(larger: Larger) -> Table:
    """Tabulate the columns: an index at the paper's tolerance, another number at its best setting."""
    from nearkin.lab.similarity_index.truths import WORDING

    table = result_table(("column", "setting", "rows", "precision", "recall"), left=("column",))
    for column in larger.columns:
        one = larger.at(column.key, 0.3) if column.key.startswith("si-") else larger.best(column.key, WORDING)
        precision = "–" if one.precision[WORDING] != one.precision[WORDING] else f"{one.precision[WORDING]:.3f}"
        table.add_row(column.label, f"{one.setting:g}", f"{one.n_rows:,.1f}", precision, f"{one.recall[WORDING]:.3f}")
    return table
