"""``nearkin regroup``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nearkin.cli.shell import app

_HELP = """
Cut the groups of a finished run at a higher threshold, or by another rule, from its stored pairs: the corpus is not \
read again.

[bold]Example[/]

  nearkin regroup clean --threshold 0.9
"""


@app.command(help=_HELP)
def regroup(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Results of nearkin dedup.", show_default=False)],
    threshold: Annotated[
        float, typer.Option(help="Least similarity; at least the threshold of the run.", show_default=False)
    ],
    group: Annotated[
        str | None, typer.Option(help="principal or component. [dim]default: as in the run[/]", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Directory for the results. [dim]default: DIR/threshold-T[/]", show_default=False),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the results of an earlier run.")] = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest as JSON and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Cut groups anew."""
    from rich.console import Console

    from nearkin.cli.bars import Bars
    from nearkin.cli.summary import print_summary
    from nearkin.workflows.dedup.regrouping import regroup as cut

    with Bars(Console(stderr=True), is_quiet=quiet or as_json).shown() as bars:
        where, manifest = cut(
            directory, threshold=threshold, group=group, out=out, overwrite=overwrite, report=report, progress=bars
        )
    if as_json:
        import json

        typer.echo(json.dumps(manifest, ensure_ascii=False))
    elif not quiet:
        print_summary(Console(), manifest, where)
