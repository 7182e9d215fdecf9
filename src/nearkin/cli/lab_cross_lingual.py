"""``nearkin lab cross-lingual``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nearkin.cli.options import Id, JsonSummary, Out, Overwrite, Quiet, ReportAndFigures, Threads
from nearkin.cli.reading_rules import LARGEST_DOCUMENT, SKIP_DOCUMENTS, MaxDocumentSize, OnError
from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from nearkin.lab.cross_lingual.experiment import Results

_input = partial(typer.Option, rich_help_panel="Input", show_default=False)
_measured = partial(typer.Option, rich_help_panel="What is measured")
ParallelDocs = Annotated[
    list[Path],
    typer.Argument(
        metavar="DOCS...",
        help="Parquet, JSON Lines, CSV or TSV files; a row is a document and its translation.",
        show_default=False,
    ),
]
LeftColumn = Annotated[str, _input(help="Column with the language that the table translates from.")]
RightColumn = Annotated[str, _input(help="Column with the language that it translates to.")]
Tables = Annotated[
    list[Path],
    _input("--table", help="Translation table of nearkin align: one for all DOCS, or one for each, in their order."),
]
Translated = Annotated[
    Path | None,
    _input(
        help="File with ids and texts: left documents as a translator put them into the right language. "
        "[dim]default: none; a gloss stands in[/]"
    ),
]
MostDocuments = Annotated[
    int, _measured("--documents", help="Of each of DOCS; of a longer one documents at equal distances are taken.")
]
LabSeed = Annotated[int, _measured("--seed", help="Another seed makes other signatures and orders.")]

HELP = """
Repeat the published experiments on similar documents of two languages, on documents and their translations: how alike
the two are, whether a translation is found among all, what each step of the projection is worth, how far signatures
are off, and what a sliding window finds for which cost. Train the table on other texts than DOCS.

[bold]Examples[/]

  nearkin lab cross-lingual news.parquet --left-column de --right-column en --table de-en.table --out lab

  nearkin lab cross-lingual news.parquet bible.parquet --left-column de --right-column en --table de-en.table \
--table bible.table --out lab
"""


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
    report: ReportAndFigures = True,
    as_json: JsonSummary = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    threads: Threads = 0,
) -> None:
    """Repeat the article's experiments."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell, warn_of_report
    from nearkin.lab.cross_lingual.delivery import deliver
    from nearkin.lab.cross_lingual.documents import Columns
    from nearkin.lab.cross_lingual.experiment import Plan
    from nearkin.stages.documents.rules import ReadingRules
    from nearkin.workflows.resources import Resources

    columns = Columns(left_column, right_column, id, ReadingRules.of(on_error, max_document_size=max_document_size))
    plan = Plan(tuple(docs), tuple(table), columns, translated, documents, seed)
    resources = Resources(threads)
    with bars_shown(is_quiet=quiet or as_json) as bars:
        delivered = deliver(plan, out, resources=resources, report=report, overwrite=overwrite, progress=bars)
    warn_of_report(delivered.summary, is_silent=quiet or as_json)
    tell(
        lambda: delivered.summary,
        lambda console: _show(console, delivered.results, out, has_page=(out / "report.html").exists()),
        as_json=as_json,
        quiet=quiet,
    )


def _show(console: Console, results: Results, out: Path, *, has_page: bool) -> None:
    """Translations found, by way; what signatures alone find; what a window costs."""
    from nearkin.cli.printing import shown
    from nearkin.lab.cross_lingual.published import BOUND, CLAIMS

    for_all = _finding(results)
    console.print(for_all)
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
            f"A sliding window finds of that {', '.join(told)} of the comparisons, without the time for sorting "
            "(article: with it).",
            highlight=False,
            soft_wrap=True,
        )
    start = out / "report.html" if has_page else out / "summary.json"
    console.print(
        f"{results.elapsed_s:.1f} s. Results in [bold]{shown(out)}[/]; start with {shown(start)}",
        highlight=False,
        soft_wrap=True,
    )


def _finding(results: Results) -> Table:
    """A row a way."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, collapse_padding=True, header_style="bold")
    for i, heading in enumerate(("documents", "way", "translation first", "mean cosine", "recall at 0.3")):
        table.add_column(heading, justify="right" if i > 1 else "left", no_wrap=True)
    for one in results.sets:
        for i, way in enumerate(one.ways):
            finding = way.finding
            first = f"{finding.n_first:,} of {len(one.documents):,}"
            numbers = f"{finding.mean_cosine:.3f}", f"{finding.recall(0.3):.3f}"
            table.add_row("" if i else one.name, way.label, first, *numbers)
    return table
