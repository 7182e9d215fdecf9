"""``nearkin lab cross-lingual``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nearkin.cli.lab.experiment_command import PlannedExperiment, experiment_command, result_table
from nearkin.cli.options.definitions import Id, Out
from nearkin.cli.options.reading import LARGEST_DOCUMENT, SKIP_DOCUMENTS, MaxDocumentSize, OnError
from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.table import Table

    from nearkin.cli.printing import Printer
    from nearkin.lab.cross_lingual.experiment import CrossLingualResults

_input = partial(typer.Option, rich_help_panel="Input", show_default=False)
_measured = partial(typer.Option, rich_help_panel="What is measured")
ParallelDocs = Annotated[
    list[Path],
    typer.Argument(
        metavar="INPUT...",
        help="Parquet, JSON Lines, CSV or TSV files; a row is a document and its translation.",
        show_default=False,
    ),
]
LeftColumn = Annotated[str, _input(metavar="COLUMN", help="Column with the language that the table translates from.")]
RightColumn = Annotated[str, _input(metavar="COLUMN", help="Column with the language that it translates to.")]
Tables = Annotated[
    list[Path],
    _input(
        "--table", help="Translation table from nearkin align: one for all inputs, or one for each, in the same order."
    ),
]
Translated = Annotated[
    Path | None,
    _input(
        help="File with ids and texts: the left documents, translated by a translator. "
        "[dim]default: a word-by-word gloss[/]"
    ),
]
MostDocuments = Annotated[int, _measured("--documents", help="Number of documents of each input, evenly spaced.")]
LabSeed = Annotated[int, _measured("--seed", help="Random seed of signatures and orders.")]

HELP = """
Repeat the published experiments on similar documents in two languages with your own documents and their \
translations: how similar a document and its translation are, whether the translation is found among all documents, \
what each step of the projection is worth, how accurate signatures are, and what a sliding window finds at which \
cost. Train the table on texts that are not among the inputs.

[bold]Examples[/]

  nearkin lab cross-lingual news.parquet --left-column de --right-column en --table de-en.table --out lab

  nearkin lab cross-lingual news.parquet bible.parquet --left-column de --right-column en --table de-en.table \
--table bible.table --out lab
"""


@experiment_command
def cross_lingual(
    docs: ParallelDocs,
    left_column: LeftColumn,
    right_column: RightColumn,
    table: Tables,
    out: Out,
    id: Id = None,
    translated: Translated = None,
    on_error: OnError = SKIP_DOCUMENTS,
    max_document_size: MaxDocumentSize = LARGEST_DOCUMENT,
    documents: MostDocuments = 5000,
    seed: LabSeed = 0,
) -> PlannedExperiment:
    """Repeat the article's experiments."""
    from nearkin.lab.cross_lingual.delivery import EXPERIMENT
    from nearkin.lab.cross_lingual.documents import ParallelColumns
    from nearkin.lab.cross_lingual.experiment import CrossLingualPlan
    from nearkin.stages.documents.rules import ReadingRules

    columns = ParallelColumns(
        left_column, right_column, id, ReadingRules.of(on_error, max_document_size=max_document_size)
    )
    plan = CrossLingualPlan(
        documents=tuple(docs), tables=tuple(table), columns=columns, translated=translated, most=documents, seed=seed
    )
    return PlannedExperiment(EXPERIMENT, (plan,), out, _show)


def _show(console: Printer, results: CrossLingualResults) -> None:
    """Print the translations found by each method, the recall of signatures alone, and the cost of a window."""
    from nearkin.lab.cross_lingual.published import BOUND, CLAIMS

    console.print(_finding(results))
    alone = results.scans.scans[0].at_threshold
    if alone.n_true:
        console.print(
            f"{results.largest.name}: 1,000 bits alone find {alone.recall:.2f} of {counted(alone.n_true, 'pair')} at "
            f"0.3 (article: {BOUND}).",
            highlight=False,
        )
    if results.windows is not None:
        told = []
        for effectiveness, cost in CLAIMS:
            found = results.windows.cheapest(effectiveness)
            told.append(f"{effectiveness:.0%} for {found[0] if found else float('nan'):.0%} ({cost:.0%})")
        console.print(
            f"Of that, a sliding window finds {', '.join(told)} of the comparisons, without the time for sorting "
            "(article: with it).",
            highlight=False,
            soft_wrap=True,
        )


def _finding(results: CrossLingualResults) -> Table:
    """Tabulate the methods, with a row for each."""
    headings = ("documents", "way", "translation first", "mean cosine", "recall at 0.3")
    table = result_table(headings, left=headings[:2])
    for one in results.sets:
        for i, way in enumerate(one.ways):
            finding = way.finding
            first = f"{finding.n_first:,} of {len(one.documents):,}"
            numbers = f"{finding.mean_cosine:.3f}", f"{finding.recall(0.3):.3f}"
            table.add_row("" if i else one.name, way.label, first, *numbers)
    return table
