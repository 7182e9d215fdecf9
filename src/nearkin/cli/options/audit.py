"""Options of ``nearkin audit``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

_sample = partial(typer.Option, rich_help_panel="The sample")
_alike = partial(typer.Option, rich_help_panel="Tolerance", show_default=False)
_output = partial(typer.Option, rich_help_panel="Output")

AuditedPlace = Annotated[
    str,
    typer.Argument(metavar="DIR", help="A finished run, or a collection: a directory or a URL.", show_default=False),
]
Sample = Annotated[int, _sample(help="Number of documents to sample; all of them if there are fewer.")]
AuditSeed = Annotated[int, _sample("--seed", help="Random seed of the sample.")]
Gamma = Annotated[
    float | None,
    _alike(help="Maximum distance of letter counts, for --measure letters. [dim]default: 0.025[/]"),
]
Json = Annotated[bool, _output("--json", help="Print the result as JSON and nothing else.")]
ReplaceMissed = Annotated[bool, _output("--overwrite", help="Replace the file of --missed.")]
MissedFile = Annotated[
    Path | None,
    _output("--missed", help="File for the missed pairs: .tsv, .csv, .jsonl or .parquet.", show_default=False),
]
