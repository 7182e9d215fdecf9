"""``nearkin dedup``."""

from __future__ import annotations

from functools import partial
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

# An option is shown in the panel of its maker. Where an option is None if not given, its help tells the default: it may
# come from a preset, or from the input.
_input = partial(typer.Option, rich_help_panel="Input")
_search = partial(typer.Option, rich_help_panel="What is a near-duplicate", show_default=False)
_choice = partial(typer.Option, rich_help_panel="What is kept", show_default=False)
_output = partial(typer.Option, rich_help_panel="Output")
_run = partial(typer.Option, rich_help_panel="The run")

_Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help="JSON Lines, Parquet, CSV, TSV, ID<TAB>TEXT lines (all also .gz or .zst), folders of text files, globs, "
        "- for standard input.",
        show_default=False,
    ),
]

# -- Input ------------------------------------------------------------------------------------------------------------

_Text = Annotated[
    str | None,
    _input(help="Column with the text. [dim]default: guessed and printed[/]", show_default=False),
]
_Id = Annotated[
    str | None,
    _input("--id", help="Column with the id. [dim]default: guessed and printed, else file:line[/]", show_default=False),
]
_Format = Annotated[
    str | None,
    _input(
        "--format",
        help="jsonl, parquet, csv, tsv, lines or file. [dim]default: from the name and the first bytes[/]",
        show_default=False,
    ),
]
_Encoding = Annotated[str, _input(help="What text files, lines, CSV and TSV are taken for where they are not UTF-8.")]
_Against = Annotated[
    list[str] | None,
    _input(help="Report what of INPUT is already in these files instead. May be repeated.", show_default=False),
]
_OnError = Annotated[
    str,
    _input(help="skip: a document that cannot be read is listed and left out. stop: it ends the run."),
]

# -- What is a near-duplicate -----------------------------------------------------------------------------------------

_Preset = Annotated[
    str | None,
    _search(help="fineweb, stack, ediscovery or contracts: starting points that other options override."),
]
_Threshold = Annotated[
    float | None,
    _search(help="Least similarity of a near-duplicate, above 0 and up to 1. [dim]default: 0.7[/]"),
]
_Measure = Annotated[
    str | None,
    _search(
        help="jaccard: shared shingles of all. containment: shared shingles of the shorter text's. "
        "[dim]default: jaccard[/]"
    ),
]
_Recall = Annotated[
    float | None,
    _search(
        help="Probability of finding a pair at the threshold; bands and rows are chosen to reach it. "
        "[dim]default: 0.99[/]"
    ),
]
_Shingle = Annotated[str | None, _search(help="words:N or chars:N. [dim]default: words:5[/]")]
_Normalise = Annotated[
    str | None,
    _search(
        help="What does not count: nfkc (Unicode compatibility forms), case, space (white space), joined by commas, "
        "or none. [dim]default: nfkc,case,space[/]"
    ),
]
_Seed = Annotated[int | None, _search(help="Of the sketches: another seed misses other pairs. [dim]default: 0[/]")]

# -- What is kept -----------------------------------------------------------------------------------------------------

_Group = Annotated[
    str | None,
    _choice(
        help="principal: every member is near its principal. component: whatever a chain connects. "
        "[dim]default: principal[/]"
    ),
]
_Keep = Annotated[
    str | None,
    _choice(help="longest, shortest, first, max:COLUMN or min:COLUMN. [dim]default: longest[/]"),
]

# -- Output -----------------------------------------------------------------------------------------------------------

_Out = Annotated[Path, _output("--out", help="Directory for the results.", show_default=False)]
_WriteKept = Annotated[
    bool,
    _output("--write-kept", help="Also write the cleaned corpus, in the format it came in."),
]
_Report = Annotated[bool, _output("--report/--no-report", help="Write report.html.")]
_Json = Annotated[bool, _output("--json", help="Print the manifest as JSON and nothing else.")]
_Quiet = Annotated[bool, _output("--quiet", "-q", help="Print nothing but errors.")]

# -- The run ----------------------------------------------------------------------------------------------------------

_Resume = Annotated[
    bool,
    _run("--resume", help="Go on with an interrupted run; the result is the same to the byte."),
]
_Overwrite = Annotated[bool, _run("--overwrite", help="Replace the results of an earlier run.")]
_Threads = Annotated[int, _run(help="0: one a processor.")]
_Memory = Annotated[str, _run(help="What to stay under.")]


@app.command(help=_EXAMPLES)
def dedup(
    inputs: _Inputs,
    out: _Out,
    text: _Text = None,
    id: _Id = None,
    file_format: _Format = None,
    encoding: _Encoding = "utf-8",
    against: _Against = None,
    on_error: _OnError = "skip",
    preset: _Preset = None,
    threshold: _Threshold = None,
    measure: _Measure = None,
    recall: _Recall = None,
    shingle: _Shingle = None,
    normalise: _Normalise = None,
    seed: _Seed = None,
    group: _Group = None,
    keep: _Keep = None,
    write_kept: _WriteKept = False,
    report: _Report = True,
    as_json: _Json = False,
    quiet: _Quiet = False,
    resume: _Resume = False,
    overwrite: _Overwrite = False,
    threads: _Threads = 0,
    memory: _Memory = "2GiB",
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
    delivery = Delivery(on_error, resume, overwrite, write_kept, report)  # type: ignore[arg-type]  # it checks on_error
    console = Console(stderr=True)
    bars = Bars(console, is_quiet=quiet or as_json)
    with bars.shown():
        bars.say(", ".join(f"{name} {value}" for name, value in options.in_words().items()))
        manifest = dedup_files(
            Files(inputs, against or (), file_format, text, id, encoding),
            out,
            options,
            delivery=delivery,
            resources=Resources(threads, parse_size(memory)),
            progress=bars,
            preset=preset,
        )
    if as_json:
        import json

        typer.echo(json.dumps(manifest, ensure_ascii=False))
    elif not quiet:
        print_summary(Console(), manifest, out)
