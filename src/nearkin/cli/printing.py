"""The console that commands print to."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

import click
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from nearkin.reports.facts import fact as facts
from nearkin.reports.facts.fact import Fact
from nearkin.wording import WarningMessage, reveal, reveal_line

if TYPE_CHECKING:
    from nearkin.reports.facts.fact import Part, Tone

_NO_LIMIT = (10_000, 24)
"""Columns and lines if the output is not a terminal."""
_WIDEST = 100
"""Characters of the longest cell that the other cells of its column are aligned to, if nothing is wrapped."""
_STYLES: dict[Tone, str] = {"plain": "", "quiet": "dim", "warning": "yellow", "damage": "red"}


class Printer(Console):
    """Console that survives a closed pipe (``head``); output for programs is not wrapped to a width."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, emoji=False)  # an id such as a:x:b is printed as it is
        if not self.file.isatty():
            self.size = shutil.get_terminal_size(fallback=_NO_LIMIT)

    def on_broken_pipe(self) -> None:
        """Exit with the code for a broken pipe; if only progress was piped, continue the run without it."""
        if not self.stderr:
            raise BrokenPipeError
        self.quiet = True

    def show(self, parts: Iterable[Part]) -> None:
        """Print an answer; no text in it can control the terminal."""
        listed = list[Fact]()
        for part in parts:
            if isinstance(part, Fact):
                listed.append(part)
                continue
            self._show_facts(listed)
            listed = []
            if isinstance(part, facts.Table):
                self._show_table(part)
            else:
                revealed = reveal if part.may_break else reveal_line
                self.print(Text.assemble(*((revealed(text), style) for style, text in part.spans)), soft_wrap=True)
        self._show_facts(listed)

    def _show_facts(self, listed: Sequence[Fact]) -> None:
        width = max((cell_len(reveal_line(fact.label)) for fact in listed if fact.text or fact.note), default=0)
        for fact in sorted(listed, key=attrgetter("is_warning")):
            style = _STYLES[fact.tone]
            label, value, note = (Text(reveal_line(words), style) for words in (fact.label, fact.text, fact.note))
            value.stylize("bold")
            note.stylize(style or "dim")
            if not value and not note:
                self.print(label, soft_wrap=True)
                continue
            words = Text("  ").join(filter(None, (value, note)))
            if self.is_terminal:
                line = Table.grid(padding=(0, 2, 0, 0))
                line.add_column(min_width=width, no_wrap=True)
                line.add_column(overflow="fold")
                line.add_row(label, words)
                self.print(line)
            else:
                label.pad_right(width - cell_len(label.plain))
                self.print(Text("  ").join((label, words)), soft_wrap=True)

    def _show_table(self, table: facts.Table) -> None:
        """Print a table without lines; long text is wrapped, never cut."""
        if not table.rows:
            self._show_facts([Fact(table.empty)] if table.empty else [])
            return
        made = _AlignedTable(box=None, pad_edge=False, header_style="bold")
        used = [i for i in range(len(table.columns)) if any(row[i] is not None for row in table.rows)]
        for i in used:
            is_number = i < table.n_numbers
            justify: Literal["right", "left"] = "right" if is_number else "left"
            made.add_column(shown(table.columns[i]), justify=justify, no_wrap=is_number, overflow="fold")
        for row in table.rows:
            made.add_row(*(_cell(row[i]) for i in used))
        self.print(made)


def print_answer(parts: Iterable[Part], *, is_quiet: bool, is_aside: bool = False) -> None:
    """Print an answer, of which ``--quiet`` leaves the warnings, on standard error; if ``is_aside``, all of it."""
    if not is_quiet:
        Printer(stderr=is_aside).show(parts)
        return
    for part in parts:
        if isinstance(part, Fact) and part.is_warning:
            warn(str(part))


def warn_of_report(problem: str | None, *, is_silent: bool) -> None:
    """Say on standard error why there is no report page, unless shown progress has."""
    if problem and is_silent:
        click.secho(WarningMessage(reveal(problem)), fg="yellow", err=True)


def warn(warning: str) -> None:
    """Print a warning on standard error."""
    click.secho(WarningMessage(reveal_line(warning)), fg="yellow", err=True)


def shown(text: object) -> str:
    """Make text from users and documents safe for a row: it cannot control the terminal or end the row."""
    return escape(reveal_line(str(text)))


def _cell(value: object) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else shown(value)


class _AlignedTable(Table):
    """Table in which a long cell lengthens only its own row."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = [] if console.is_terminal else list(self._lines(console))
        if not lines or any("\n" in line or cell_len(line) > options.max_width for line in lines):
            yield from super().__rich_console__(console, options)
            return
        for line in lines:
            yield Segment(f"{line}\n")

    def _lines(self, console: Console) -> Iterator[str]:
        columns = []
        for column in self.columns:
            texts = [console.render_str(cell).plain if isinstance(cell, str) else str(cell) for cell in column.cells]
            texts = [str(column.header)] * self.show_header + texts
            width = max((n for n in map(cell_len, texts) if n <= _WIDEST), default=0)
            gaps = [" " * (width - cell_len(text)) for text in texts]
            is_right = column.justify == "right"
            columns.append([gap + text if is_right else text + gap for text, gap in zip(texts, gaps, strict=True)])
        for row in zip(*columns, strict=True):
            yield "  ".join(row).rstrip()
