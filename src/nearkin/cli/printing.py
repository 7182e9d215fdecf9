"""The console that commands print to."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import IO

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nearkin.cli.command_line import is_unicode
from nearkin.hidden_characters import reveal, reveal_line

_NO_LIMIT = (10_000, 24)
"""Columns and lines where nobody watches."""


class Printer(Console):
    """A console whose reader may go away, as ``head`` does; what another program reads is as wide as it is."""

    def __init__(self, *, stderr: bool = False, file: IO[str] | None = None) -> None:
        super().__init__(stderr=stderr, file=file)
        if not self.file.isatty():
            self.size = shutil.get_terminal_size(fallback=_NO_LIMIT)

    def on_broken_pipe(self) -> None:
        """End with the exit code for it; a run of which only the progress is no longer watched goes on in silence."""
        if not self.stderr:
            raise BrokenPipeError
        self.quiet = True


def tell(
    summary: Callable[[], object], show: Callable[[Console], None], *, as_json: bool = False, quiet: bool = False
) -> None:
    """Print a result for a program, as one line of JSON, or for a person; or not at all."""
    if as_json:
        typer.echo(json.dumps(summary(), ensure_ascii=not is_unicode(sys.stdout)))
    elif not quiet:
        show(Printer())


def warn_of_report(told: Mapping[str, object], *, is_silent: bool) -> None:
    """Say on standard error that there is no page, where progress was not shown and so has not said it."""
    problem = told.get("report_problem")
    if problem and is_silent:
        typer.secho(f"Warning: {reveal(str(problem))}", fg="yellow", err=True)


def shown(text: object) -> str:
    """Text of users and of their documents, as a row may hold it: nothing in it steers the terminal or ends the row."""
    return escape(reveal_line(str(text)))


def table(*columns: str, numbers: int = 0) -> Table:
    """A table without lines; its first ``numbers`` columns hold numbers. Text that is too long is folded, never cut."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns):
        is_number = place < numbers
        made.add_column(column, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold")
    return made
