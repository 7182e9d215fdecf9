"""The console that commands print to."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import IO, TYPE_CHECKING

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nearkin.cli.command_line import is_unicode
from nearkin.hidden_characters import reveal, reveal_line

if TYPE_CHECKING:
    from pathlib import Path

    from nearkin.reports.sentences.sentence import Sentence, Tone
    from nearkin.stages.differences.comparison import Piece

_NO_LIMIT = (10_000, 24)
"""Columns and lines where nobody watches."""
_STYLES: dict[Tone, str] = {"plain": "", "quiet": "dim", "warning": "yellow", "damage": "red"}


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


def warn_of_report(problem: str | None, *, is_silent: bool) -> None:
    """Say on standard error why there is no page, where progress was not shown and so has not said it."""
    if problem and is_silent:
        typer.secho(f"Warning: {reveal(problem)}", fg="yellow", err=True)


def shown(text: object) -> str:
    """Text of users and of their documents, as a row may hold it: nothing in it steers the terminal or ends the row."""
    return escape(reveal_line(str(text)))


def say(console: Console, sentences: Iterable[Sentence]) -> None:
    """Print each sentence in a line of its own, in the colour of its tone; nothing in it steers the terminal."""
    for one in sentences:
        console.print(coloured(one), soft_wrap=True)


def coloured(one: Sentence) -> Text:
    """A sentence in the colour of its tone."""
    style = _STYLES[one.tone]
    return Text.assemble((reveal_line(one.strong), f"bold {style}"), (reveal_line(one.text), style))


def say_place(console: Console, what: str, out: Path, then: str = "") -> None:
    """Print what is in a place, and what to do with it."""
    said = (reveal_line(f"{what} in "), ""), (reveal_line(str(out)), "bold"), (reveal_line(then), "")
    console.print(Text.assemble(*said), soft_wrap=True)


def say_results(console: Console, out: Path, otherwise: str, *, before: str = "") -> None:
    """Print where the results are, and the file to start with: the page, or another where there is none."""
    start = out / "report.html"
    say_place(console, f"{before}Results", out, f"; start with {start if start.exists() else out / otherwise}")


def say_passage(console: Console, pieces: Sequence[Piece]) -> None:
    """Print a passage of a comparison, indented, with its marks in colour."""
    from nearkin.reports.comparison.terminal import pieces_to_terminal

    spans = pieces_to_terminal(pieces)
    console.print(Text.assemble("    ", *((text, style) for style, text in spans)), soft_wrap=True)


def table(*columns: str, numbers: int = 0) -> Table:
    """A table without lines; its first ``numbers`` columns hold numbers. Text that is too long is folded, never cut."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns):
        is_number = place < numbers
        made.add_column(column, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold")
    return made
