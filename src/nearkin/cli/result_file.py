"""Output file of a command whose result is one file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nearkin.cli.command_line import places_read
from nearkin.nouns import counted
from nearkin.wording import reveal_line

if TYPE_CHECKING:
    from nearkin.options.running import PrintOptions


def check_free(
    out: Path, *, overwrite: bool, inputs: Sequence[str | Path] = (), option: str = "--out", holds: str = ""
) -> None:
    """Refuse a file for a result; ``inputs`` are others than those of the arguments and options."""
    from nearkin.runs import result_file

    result_file.check_free(out, overwrite=overwrite, inputs=[*inputs, *places_read()], option=option, holds=holds)


def say_written(options: PrintOptions, n_rows: int, row: str, out: Path) -> None:
    """Say on standard error that a table was written."""
    if not options.is_silent:
        click.echo(f"wrote {counted(n_rows, row)} to {reveal_line(str(out))}", err=True)
