"""``nearkin dedup``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nearkin.cli.shell import app

_EXAMPLES = """
Clean a corpus of copies: find exact copies and near-duplicates, verify every pair, keep one document of each group.

[bold]Examples[/]

  nearkin dedup crawl/*.jsonl.gz --out clean --write-kept

  nearkin dedup contracts/ --out families --preset contracts

  nearkin dedup train.parquet --against eval.jsonl --measure containment --out contamination

  cat notes.tsv | nearkin dedup - --out notes --threshold 0.9
"""
_INPUT = "Input"
_SEARCH = "What is a near-duplicate"
_CHOICE = "What is kept"
_OUTPUT = "Output"
_RUN = "The run"


@app.command(help=_EXAMPLES)
def dedup(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="JSON Lines, Parquet, CSV, TSV, ID<TAB>TEXT lines (all also .gz or .zst), folders of text files, globs, - for standard input.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="Directory for the results.", show_default=False, rich_help_panel=_OUTPUT)
    ],
    text: Annotated[
        str | None,
        typer.Option(
            help="Column with the text. [dim]default: guessed and printed[/]",
            show_default=False,
            rich_help_panel=_INPUT,
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="Column with the id. [dim]default: guessed and printed, else file:line[/]",
            show_default=False,
            rich_help_panel=_INPUT,
        ),
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="jsonl, parquet, csv, tsv, lines or file. [dim]default: from the name and the first bytes[/]",
            show_default=False,
            rich_help_panel=_INPUT,
        ),
    ] = None,
    encoding: Annotated[str, typer.Option(help="Of text files, lines, CSV and TSV.", rich_help_panel=_INPUT)] = "utf-8",
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="Report what of INPUT is already in these files instead. May be repeated.",
            show_default=False,
            rich_help_panel=_INPUT,
        ),
    ] = None,
    on_error: Annotated[
        str,
        typer.Option(
            help="skip: a document that cannot be read is listed and left out. stop: it ends the run.",
            rich_help_panel=_INPUT,
        ),
    ] = "skip",
    preset: Annotated[
        str | None,
        typer.Option(
            help="fineweb, stack, ediscovery or contracts: starting points that other options override.",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Least similarity of a near-duplicate, above 0 and up to 1. [dim]default: 0.8[/]",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            help="jaccard: shared shingles of all. containment: shared shingles of the shorter text's. [dim]default: jaccard[/]",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    recall: Annotated[
        float | None,
        typer.Option(
            help="Probability of finding a pair at the threshold; bands and rows are chosen to reach it. [dim]default: 0.99[/]",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    shingle: Annotated[
        str | None,
        typer.Option(help="words:N or chars:N. [dim]default: words:5[/]", show_default=False, rich_help_panel=_SEARCH),
    ] = None,
    normalise: Annotated[
        str | None,
        typer.Option(
            help="What does not count: nfkc (Unicode compatibility forms), case, space (white space), joined by commas, or none. [dim]default: nfkc,case,space[/]",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Of the sketches: another seed misses other pairs. [dim]default: 0[/]",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            help="principal: every member is near its principal. component: whatever a chain connects. [dim]default: principal[/]",
            show_default=False,
            rich_help_panel=_CHOICE,
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            help="longest, shortest, first, max:COLUMN or min:COLUMN. [dim]default: longest[/]",
            show_default=False,
            rich_help_panel=_CHOICE,
        ),
    ] = None,
    write_kept: Annotated[
        bool,
        typer.Option(
            "--write-kept", help="Also write the cleaned corpus, in the format it came in.", rich_help_panel=_OUTPUT
        ),
    ] = False,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write report.html.", rich_help_panel=_OUTPUT)
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the manifest as JSON and nothing else.", rich_help_panel=_OUTPUT)
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=_OUTPUT)
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with an interrupted run; the result is the same to the byte.", rich_help_panel=_RUN
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the results of an earlier run.", rich_help_panel=_RUN)
    ] = False,
    threads: Annotated[int, typer.Option(help="0: one a processor.", rich_help_panel=_RUN)] = 0,
    memory: Annotated[str, typer.Option(help="What to stay under.", rich_help_panel=_RUN)] = "2GiB",
) -> None:
    """Clean a corpus of copies."""
    from rich.console import Console

    from nearkin.cli.bars import Bars
    from nearkin.cli.summary import print_summary
    from nearkin.workflows.dedup.files import Delivery, Files, dedup_files
    from nearkin.workflows.dedup.options import DedupOptions, Resources, parse_size

    options = DedupOptions.of(
        preset=preset, threshold=threshold, measure=measure, recall=recall, shingle=shingle, group=group, keep=keep,
        normalise=normalise, seed=seed,
    )  # fmt: skip
    console = Console(stderr=True)
    bars = Bars(console, is_quiet=quiet or as_json)
    with bars.shown():
        bars.say(", ".join(f"{name} {value}" for name, value in options.in_words().items()))
        manifest = dedup_files(
            Files(inputs, against or (), file_format, text, id, encoding),
            out,
            options,
            delivery=Delivery(on_error, resume, overwrite, write_kept, report),  # type: ignore[arg-type]  # Delivery checks it
            resources=Resources(threads, parse_size(memory)),
            progress=bars,
            preset=preset,
        )
    if as_json:
        import json

        typer.echo(json.dumps(manifest, ensure_ascii=False))
    elif not quiet:
        print_summary(Console(), manifest, out)
