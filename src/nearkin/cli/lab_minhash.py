"""``nearkin lab minhash``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.options import (
    Corpus,
    Documents,
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
    Title,
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

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.lab.minhash.experiment import Results

HELP = """
Repeat the published measurements of shingles, MinHash and bands on the first documents of your corpus, with every pair
compared exactly beside them.

[bold]Examples[/]

  nearkin lab minhash crawl.jsonl --out lab

  nearkin lab minhash news.parquet --title headline --documents 2000 --out lab
"""


def minhash(
    inputs: Corpus,
    out: Out,
    text: Text = None,
    title: Title = None,
    id: Id = None,
    file_format: Format = None,
    encoding: Encoding = "utf-8",
    on_error: OnError = SKIP_DOCUMENTS,
    max_unreadable: MaxUnreadable = MOST_UNREADABLE,
    max_document_size: MaxDocumentSize = LARGEST_DOCUMENT,
    documents: Documents = 1000,
    report: ReportAndFigures = True,
    as_json: JsonSummary = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    threads: Threads = 0,
) -> None:
    """Repeat the article's measurements."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell, warn_of_report
    from nearkin.lab.minhash.corpus import TitledRequest
    from nearkin.lab.minhash.delivery import deliver
    from nearkin.workflows.resources import Resources

    rules = rules_of(on_error, max_unreadable, max_document_size)
    files = TitledRequest(
        inputs, file_format=file_format, text=text, doc_id=id, encoding=encoding, rules=rules, title=title
    )
    n_threads = Resources(threads).n_threads
    with bars_shown(is_quiet=quiet or as_json) as bars:
        delivered = deliver(files, documents, out, threads=n_threads, report=report, overwrite=overwrite, progress=bars)
    warn_of_report(delivered.summary, is_silent=quiet or as_json)
    tell(
        lambda: delivered.summary,
        lambda console: _show(console, delivered.results, out, has_page=(out / "report.html").exists()),
        as_json=as_json,
        quiet=quiet,
    )


def _show(console: Console, results: Results, out: Path, *, has_page: bool) -> None:
    """The article's numbers beside ours, then the bands."""
    from rich.table import Table

    from nearkin.cli.printing import shown
    from nearkin.lab.minhash.tables import side_by_side

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    table.add_column("article", justify="right", style="dim")
    table.add_column("here", justify="right")
    for row in side_by_side(results):
        table.add_row(row.what, row.published, row.here)
    console.print(table)
    console.print()
    bands = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("bands × rows", "candidates", "predicted", "found ≥ 0.9", "predicted", "in vain"):
        bands.add_column(heading, justify="right")
    for b in results.truth.bandings:
        bands.add_row(
            f"{b.bands} × {b.rows}",
            f"{b.n_candidates[0]:,}",
            f"{b.n_expected:,.1f}",
            f"{b.n_high_found[0]:,} of {results.truth.n_high:,}",
            f"{b.n_high_expected:,.1f}",
            f"{b.n_in_vain:,}",
        )
    console.print(bands)
    start = out / "report.html" if has_page else out / "summary.json"
    console.print(
        f"{results.elapsed_s:.1f} s. Results in [bold]{shown(out)}[/]; start with {shown(start)}",
        highlight=False,
        soft_wrap=True,
    )
