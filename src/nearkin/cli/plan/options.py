"""The options that several plans share."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from nearkin.errors import ParameterError

plan_output = partial(typer.Option, rich_help_panel="Output", show_default=False)

Figure = Annotated[Path | None, plan_output("--figure", help="SVG file for a chart of recall against cost.")]
PlanEngine = Annotated[
    str,
    typer.Option(
        "--engine",
        rich_help_panel="The engine",
        help="local, or spark: also print what is shuffled on a Spark cluster and the memory and disk it needs.",
    ),
]


def check_figure(figure: Path | None, *, overwrite: bool) -> None:
    """Refuse a figure that cannot be written, before the plan is made."""
    from nearkin.cli.result_file import check_free

    if figure is None:
        return
    if figure.suffix.lower() != ".svg":
        raise ParameterError(f"--figure is an SVG file: its name must end in .svg. Got {figure.name!r} instead.")
    check_free(figure, overwrite=overwrite, inputs=[], option="--figure")
