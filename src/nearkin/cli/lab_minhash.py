"""``nearkin lab minhash``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nearkin.cli.shell import lab

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.lab.minhash.experiment import Results

_HELP = """
Repeat the published measurements of shingles, MinHash and bands on the first documents of your corpus, with every pair
compared exactly beside them.

[bold]Examples[/]

  nearkin lab minhash crawl.jsonl --out lab

  nearkin lab minhash news.parquet --title headline --documents 2000 --out lab
"""


@lab.command(help=_HELP)
def minhash(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="CORPUS...", help="Files, folders or globs, as for nearkin dedup.", show_default=False),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="Directory for the page, the tables and the figures.", show_default=False)
    ],
    documents: Annotated[int, typer.Option(help="How many documents to take; every pair of them is compared.")] = 1000,
    text: Annotated[
        str | None,
        typer.Option(help="Column with the text. [dim]default: guessed and printed[/]", show_default=False),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(
            help="Column with a headline, to be put before the text with a space. [dim]default: none[/]",
            show_default=False,
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="Column with the id. [dim]default: guessed and printed, else file:line[/]",
            show_default=False,
        ),
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="jsonl, parquet, csv, tsv, lines or file. [dim]default: from the name and the first bytes[/]",
            show_default=False,
        ),
    ] = None,
    encoding: Annotated[str, typer.Option(help="Of text files, lines, CSV and TSV.")] = "utf-8",
    threads: Annotated[int, typer.Option(help="0: one a processor.")] = 0,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html and the figures.")] = True,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the results of an earlier run.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Repeat the article's measurements."""
    from rich.console import Console

    from nearkin.cli.bars import Bars
    from nearkin.lab.minhash.corpus import CorpusFiles
    from nearkin.lab.minhash.delivery import deliver
    from nearkin.workflows.dedup.options import Resources

    files = CorpusFiles(inputs, text, id, title, file_format, encoding)
    with Bars(Console(stderr=True), is_quiet=quiet or as_json).shown() as bars:
        delivered = deliver(
            files,
            documents,
            out,
            threads=Resources(threads).n_threads,
            report=report,
            overwrite=overwrite,
            progress=bars,
        )
    if as_json:
        import json

        typer.echo(json.dumps(delivered.summary, ensure_ascii=False))
    elif not quiet:
        _print(Console(), delivered.results, out, has_page=report)


def _print(console: Console, results: Results, out: Path, *, has_page: bool) -> None:
    """The article's numbers beside ours, then the bands."""
    from rich.table import Table

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
        f"{results.elapsed_s:.1f} s. Results in [bold]{out}[/]; start with {start}", highlight=False, soft_wrap=True
    )
