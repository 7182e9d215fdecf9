"""The options of ``nearkin audit``; see `options`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

_sample = partial(typer.Option, rich_help_panel="The sample")
_alike = partial(typer.Option, rich_help_panel="How alike", show_default=False)
_output = partial(typer.Option, rich_help_panel="Output")

AuditedPlace = Annotated[
    str,
    typer.Argument(metavar="DIR", help="A finished run, or a collection: a directory or a URL.", show_default=False),
]
Sample = Annotated[int, _sample(help="Documents to compare with everything; all of them if there are fewer.")]
AuditSeed = Annotated[int, _sample("--seed", help="Another seed draws other documents.")]
Gamma = Annotated[
    float | None,
    _alike(help="How far letter counts may be from the document's, with --method range. [dim]default: 0.025[/]"),
]
Json = Annotated[bool, _output("--json", help="Print what was found as JSON and nothing else.")]
MissedFile = Annotated[
    Path | None,
    _output("--missed", help="Write the missed pairs: a file .tsv, .csv, .jsonl or .parquet.", show_default=False),
]
