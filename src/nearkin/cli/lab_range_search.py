"""``nearkin lab range-search``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nearkin.cli.options import (
    Corpus,
    Encoding,
    Format,
    Id,
    JsonSummary,
    Out,
    Overwrite,
    Quiet,
    ReportAndFigures,
    Text,
    Threads,
)
from nearkin.cli.reading_rules import (
    LARGEST_DOCUMENT,
    MOST_UNREADABLE,
    SKIP_DOCUMENTS,
    MaxDocumentSize,
    MaxUnreadable,
    OnError,
    rules_of,
)
from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.lab.range_search.experiment import Results

_measured = partial(typer.Option, rich_help_panel="What is measured")
First = Annotated[int, _measured("--documents", help="How many documents to take; their texts are held in memory.")]
Alphabet = Annotated[str, _measured(help="latin: A-Z, a-z, 0-9. universal: letters and digits of all scripts.")]
Queries = Annotated[int, _measured(help="How many documents to draw as queries.")]
Tau = Annotated[
    float | None,
    _measured(
        help="Factor of the width of a projection's range: 0.707 for precision, 7.6 for recall. "
        "[dim]default: 7.6, the paper's[/]",
        show_default=False,
    ),
]
Pairs = Annotated[int, _measured(help="How many matches of a query to compare by their texts, at most.")]
Longest = Annotated[int, _measured(help="Texts of more characters are not compared; they are counted.")]
ExperimentSeed = Annotated[int, _measured("--seed", help="Another seed draws other queries and projections.")]

HELP = """
Repeat the published measurements of range search by letter counts on your corpus: recall and precision of its random
projections against an exhaustive search, what each step leaves and takes, and whether what matches is alike by its
text.

[bold]Examples[/]

  nearkin lab range-search contracts/ --out lab

  nearkin lab range-search mail/ --alphabet universal --queries 1000 --out lab
"""


def range_search(
    inputs: Corpus,
    out: Out,
    text: Text = None,
    id: Id = None,
    file_format: Format = None,
    encoding: Encoding = "utf-8",
    on_error: OnError = SKIP_DOCUMENTS,
    max_unreadable: MaxUnreadable = MOST_UNREADABLE,
    max_document_size: MaxDocumentSize = LARGEST_DOCUMENT,
    documents: First = 100_000,
    alphabet: Alphabet = "latin",
    queries: Queries = 500,
    tau: Tau = None,
    pairs: Pairs = 20,
    longest: Longest = 1_000_000,
    seed: ExperimentSeed = 0,
    report: ReportAndFigures = True,
    as_json: JsonSummary = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    threads: Threads = 0,
) -> None:
    """Repeat the paper's measurements."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell, warn_of_report
    from nearkin.lab.range_search.delivery import deliver
    from nearkin.lab.range_search.experiment import Plan
    from nearkin.lab.range_search.similarity import Bounds
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.resources import Resources

    plan = Plan(documents, queries, alphabet, tau, seed, Bounds(pairs, longest))  # type: ignore[arg-type]
    rules = rules_of(on_error, max_unreadable, max_document_size)
    files = ReadingRequest(inputs, file_format=file_format, text=text, doc_id=id, encoding=encoding, rules=rules)
    n_threads = Resources(threads).n_threads
    with bars_shown(is_quiet=quiet or as_json) as bars:
        delivered = deliver(files, plan, out, threads=n_threads, report=report, overwrite=overwrite, progress=bars)
    warn_of_report(delivered.summary, is_silent=quiet or as_json)
    tell(
        lambda: delivered.summary,
        lambda console: _show(console, delivered.results, out, has_page=(out / "report.html").exists()),
        as_json=as_json,
        quiet=quiet,
    )


def _show(console: Console, results: Results, out: Path, *, has_page: bool) -> None:
    """Every way of searching beside the paper's numbers, then whether matches are alike, then what was left out."""
    from nearkin.cli.printing import shown
    from nearkin.lab.range_search.claims import percent
    from nearkin.lab.range_search.published import ALIKE

    n_counted, n_queries = results.counted.n_counted, len(results.queries)
    console.print(
        f"{counted(n_queries, 'query', 'queries')} over {counted(n_counted, 'document')}; compared: those that come "
        "to the exact comparison.",
        highlight=False,
    )
    console.print(_table(results))
    for alike in results.alikes:
        said = ALIKE[alike.gamma]
        console.print(
            f"γ {alike.gamma}: {percent(alike.at_least(said.similarity))} of the matches have an edit similarity of at "
            f"least {said.similarity:.2f} ({said.words}); {counted(len(alike.query), 'match', 'matches')} compared, "
            f"{counted(int(alike.is_copy.sum()), 'exact copy', 'exact copies')}.",
            highlight=False,
        )
    left_out = (
        (results.counted.n_few_letters, "with fewer than 20 letters"),
        (results.counted.n_other_letters, "in other letters"),
        (results.documents.n_without_text, "without text"),
        (results.documents.n_unreadable, "that cannot be read"),
    )
    if any(n for n, _ in left_out):
        words = ", ".join(f"{n:,} {why}" for n, why in left_out if n)
        console.print(f"Left out, and found by nothing: {words}.", highlight=False)
    start = out / "report.html" if has_page else out / "summary.json"
    console.print(
        f"{results.elapsed_s:.1f} s. Results in [bold]{shown(out)}[/]; start with {shown(start)}",
        highlight=False,
        soft_wrap=True,
    )


def _table(results: Results) -> object:
    """Recall, precision before the exact comparison, what comes to it, and the time: a row a way and a tolerance."""
    from rich.table import Table

    from nearkin.lab.range_search.published import GAMMAS, SAID
    from nearkin.lab.range_search.ways import WAYS

    table = Table(box=None, pad_edge=False, collapse_padding=True, header_style="bold")
    for heading in ("γ", "search", "recall", "(paper)", "precision", "(paper)", "compared", "ms"):
        style = "dim" if heading == "(paper)" else None
        table.add_column(heading, justify="left" if heading == "search" else "right", style=style, no_wrap=True)
    for gamma in GAMMAS:
        for way in WAYS:
            one, said = results.searches.of(way, gamma), SAID.get((way.key, gamma))
            table.add_row(
                str(gamma) if way is WAYS[0] else "",
                way.label,
                f"{one.quality.recall.mean:.3f}",
                f"({said.recall:.3f})" if said else "",
                f"{one.quality.precision.mean:.3f}",
                f"({said.precision:.3f})" if said else "",
                f"{one.n_passed:,.1f}",
                f"{1000 * one.mean_seconds:.3g}",
            )
    seconds = results.exhaustive_seconds
    table.add_row("", "exhaustive", "1", "", "", "", f"{results.counted.n_counted:,}", f"{1000 * seconds:.3g}")
    return table
