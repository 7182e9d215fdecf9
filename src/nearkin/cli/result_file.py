"""Output file of a command whose result is one file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nearkin.cli.command_line import places_read
from nearkin.nouns import counted
from nearkin.wording import reveal_line

if TYPE_CHECKING:
    import pyarrow as pa


def check_free(
    out: Path, *, overwrite: bool, inputs: Sequence[str | Path] = (), option: str = "--out", holds: str = ""
) -> None:
    """Refuse a file for a result; see `nearkin.runs.result_file.check_free`.

    ``inputs`` are those that are not among the files and directories of the arguments and options.
    """
    from nearkin.runs import result_file

    result_file.check_free(out, overwrite=overwrite, inputs=[*inputs, *places_read()], option=option, holds=holds)


def written(n_rows: int, row: str, out: Path) -> str:
    """Say that a table was written; nothing in the path can control the terminal.

    Examples
    --------
    >>> written(2, "document", Path("sheet.csv"))
    'wrote 2 documents to sheet.csv'
    """
    return f"wrote {counted(n_rows, row)} to {reveal_line(str(out))}"


def check_list_file(out: Path | None, *, overwrite: bool) -> None:
    """Refuse a file that cannot be written, before any work is done.

    Raises
    ------
    OutputError, OutputExistsError, ParameterError
    """
    if out is None:
        return
    from nearkin.workflows.collection.tables import check_format

    check_format(out)
    check_free(out, overwrite=overwrite)


def write_list(out: Path | None, table: Callable[[], pa.Table], noun: str, *, is_silent: bool) -> None:
    """Write the whole list, if a file is given, and say on standard error how long it is."""
    if out is None:
        return

    from nearkin.workflows.collection.tables import write_table

    rows = table()
    write_table(rows, out)
    if not is_silent:
        click.echo(written(len(rows), noun, out), err=True)
