"""The console that commands print to."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

import typer
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from nearkin.cli.command_line import is_unicode, places_read
from nearkin.errors import OutputError, OutputExistsError, ParameterError
from nearkin.nouns import counted
from nearkin.paths import check_output, check_outside_collections, check_own_format, is_one_of, on_disk
from nearkin.runs.finished import WORK, manifest_if_any
from nearkin.wording import WarningMessage, reveal, reveal_line

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.reports.sentences.sentence import Sentence, Tone
    from nearkin.stages.differences.comparison import Piece


_NO_LIMIT = (10_000, 24)
"""Columns and lines if the output is not a terminal."""
_WIDEST = 100
"""Characters of the longest cell that the other cells of its column are aligned to, if nothing is wrapped."""
_STYLES: dict[Tone, str] = {"plain": "", "quiet": "dim", "warning": "yellow", "damage": "red"}


class Printer(Console):
    """Console that survives a closed pipe (``head``); output for programs is not wrapped to a width."""

    def __init__(self, *, stderr: bool = False, file: IO[str] | None = None) -> None:
        super().__init__(stderr=stderr, file=file, emoji=False)  # an id such as a:x:b is printed as it is
        if not self.file.isatty():
            self.size = shutil.get_terminal_size(fallback=_NO_LIMIT)

    def on_broken_pipe(self) -> None:
        """Exit with the code for a broken pipe; if only progress was piped, continue the run without it."""
        if not self.stderr:
            raise BrokenPipeError
        self.quiet = True

    def say(self, sentences: Iterable[Sentence]) -> None:
        """Print each sentence on its own line, in the colour of its tone; no text in it can control the terminal."""
        for one in sentences:
            self.print(coloured(one), soft_wrap=True)

    def say_of_row(self, one: Sentence) -> None:
        """Print a warning that a row of a table shows, unless the table is printed, as it is here."""


class WarningsOnly(Printer):
    """Console of ``--quiet``: it prints only the warnings of an answer (`Sentence.is_warning`), on standard error.

    A mark in a row of a list belongs to the row, and is not printed without it.
    """

    def __init__(self) -> None:
        super().__init__(stderr=True)

    def print(self, *_objects: object, **_options: object) -> None:
        """Print nothing."""

    def say(self, sentences: Iterable[Sentence]) -> None:
        """Print the warnings among some sentences."""
        for one in sentences:
            if one.is_warning:
                warn(str(one))

    def say_of_row(self, one: Sentence) -> None:
        """Print a warning, whose row is not printed."""
        self.say([one])


def tell(
    summary: Callable[[], object], show: Callable[[Printer], None], *, as_json: bool = False, quiet: bool = False
) -> None:
    """Print a result for a program, as one line of JSON, or for a person; or, if ``quiet``, only its warnings."""
    if as_json:
        typer.echo(json.dumps(summary(), ensure_ascii=not is_unicode(sys.stdout)))
    else:
        show(WarningsOnly() if quiet else Printer())


def warn_of_report(problem: str | None, *, is_silent: bool) -> None:
    """Say on standard error why there is no report page, if progress was not shown and so has not said it."""
    if problem and is_silent:
        typer.secho(WarningMessage(reveal(problem)), fg="yellow", err=True)


def warn(warning: str) -> None:
    """Print a warning on standard error."""
    typer.secho(WarningMessage(reveal_line(warning)), fg="yellow", err=True)


def shown(text: object) -> str:
    """Make text from users and documents safe for a row: it cannot control the terminal or end the row."""
    return escape(reveal_line(str(text)))


def coloured(one: Sentence) -> Text:
    """Return a sentence in the colour of its tone."""
    style = _STYLES[one.tone]
    return Text.assemble((reveal_line(one.strong), f"bold {style}"), (reveal_line(one.text), style))


def say_place(console: Console, what: str, out: Path, then: str = "") -> None:
    """Print a path and what to do with it."""
    said = (reveal_line(f"{what} in "), ""), (reveal_line(str(out)), "bold"), (reveal_line(then), "")
    console.print(Text.assemble(*said), soft_wrap=True)


def say_results(console: Console, out: Path, otherwise: str, *, before: str = "") -> None:
    """Print where the results are, and which file to open first: the report page, or another if there is none."""
    start = out / "report.html"
    say_place(console, f"{before}Results", out, f"; start with {start if start.exists() else out / otherwise}")


def say_passage(console: Console, pieces: Sequence[Piece], *, n_differences: int = 0, n_moves: int = 0) -> None:
    """Print a passage of a comparison, indented, with its marks in colour, and the number of all if it is the first."""
    from nearkin.reports.comparison.terminal import pieces_to_terminal
    from nearkin.reports.quantities import first_difference_text

    spans = pieces_to_terminal(pieces)
    console.print(Text.assemble("    ", *((text, style) for style, text in spans)), soft_wrap=True)
    if said := first_difference_text(n_differences, n_moves):
        console.print(f"    [dim]{said}[/]", highlight=False, soft_wrap=True)


def table(*columns: str, numbers: int = 0) -> Table:
    """Make a table without lines; its first ``numbers`` columns hold numbers. Long text is wrapped, never cut.

    If the output is not a terminal, nothing is wrapped: a long cell moves the rest of its own row to the right.
    """
    made = _AlignedTable(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns):
        is_number = place < numbers
        made.add_column(column, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold")
    return made


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
        """Yield the header and the rows, unwrapped."""
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


_INPUTS = ("inputs", "against", "source", "left", "right", "table")
"""Keys of a manifest that lead to the files that the run read."""


def check_free(
    out: Path, *, overwrite: bool, inputs: Sequence[str | Path], option: str = "--out", holds: str = ""
) -> None:
    """Refuse a file that exists, cannot be written, or would damage what a command reads, before any work is done.

    Parameters
    ----------
    out : Path
    overwrite : bool
        Whether the file may be replaced.
    inputs : sequence of str or Path
        Input of the command beside the files and directories among its arguments and options.
    option : str
        Option or argument that names the file.
    holds : str
        The result, if it has a format of its own.

    Raises
    ------
    OutputExistsError
        The file exists, and is not to be replaced.
    OutputError
        It is a directory, its directory does not exist, it is inside a collection or a run that the command reads, or
        its name is not valid for a result.
    ParameterError
        It is one of the inputs, or its name is that of another format than the result has.
    """
    check_output(out, option)
    if holds:
        check_own_format(out, holds)
    read = [*inputs, *places_read()]
    if is_one_of(out, [*read, *(path for one in read for path in _read_by_run(one))]) and not out.is_dir():
        raise ParameterError(f"{option} {out} is one of the inputs. Choose another file.")
    check_outside_collections(out, option)
    for one in read:
        if _is_run(Path(one)) and Path(one).resolve() in out.resolve().parents:
            raise OutputError(f"Cannot write {out}: {one} is a run. Choose a place for {option} outside it.")
    if out.is_symlink() or (out.exists() and not out.is_file() and not out.is_dir()):
        raise OutputError(f"Cannot write {out}: it is a link or a device; {option} must be a regular file.")
    if out.is_dir():
        raise OutputError(f"Cannot write {out}: it is a directory; {option} must be a file.")
    if out.exists() and not overwrite:
        raise OutputExistsError(f"{out} already exists. Choose another {option}, or add --overwrite to replace it.")
    if not out.parent.is_dir():
        raise OutputError(f"Cannot write {out}: the directory {out.parent} does not exist.")


def _is_run(place: Path) -> bool:
    return (place / WORK).is_dir() or manifest_if_any(place) is not None


def _read_by_run(place: str | Path) -> Iterator[str]:
    """Yield the paths that the manifest in a directory lists as input, if it is that of a run."""
    pending: list[object] = [] if (manifest := manifest_if_any(Path(place))) is None else [manifest]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            pending += [one[name] for name in _INPUTS if name in one]
            if isinstance(path := one.get("path"), str):
                yield on_disk(path)
        elif isinstance(one, list):
            pending += one


def written(n_rows: int, row: str, out: Path) -> str:
    """Say that a table was written; nothing in the path can control the terminal.

    Examples
    --------
    >>> written(2, "document", Path("sheet.csv"))
    'wrote 2 documents to sheet.csv'
    """
    return f"wrote {counted(n_rows, row)} to {reveal_line(str(out))}"


def check_list_file(out: Path | None, *, overwrite: bool, inputs: Sequence[str | Path] = ()) -> None:
    """Refuse a file that cannot be written, before any work is done.

    Raises
    ------
    OutputError, OutputExistsError, ParameterError
    """
    if out is None:
        return
    from nearkin.workflows.collection.tables import check_format

    check_format(out)
    check_free(out, overwrite=overwrite, inputs=inputs)


def write_list(out: Path | None, table: Callable[[], pa.Table], noun: str, *, is_silent: bool) -> None:
    """Write the whole list, if a file is given, and say on standard error how long it is."""
    if out is None:
        return
    import typer

    from nearkin.workflows.collection.tables import write_table

    rows = table()
    write_table(rows, out)
    if not is_silent:
        typer.echo(written(len(rows), noun, out), err=True)
