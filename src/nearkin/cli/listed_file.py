"""The file of ``--out``, for commands that print a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


def check_list_file(out: Path | None, *, overwrite: bool, inputs: Sequence[str | Path] = ()) -> None:
    """Refuse a file that cannot be written, before any work is done.

    Raises
    ------
    OutputError, OutputExistsError, ParameterError
    """
    if out is None:
        return
    from nearkin.cli.result_file import check_free
    from nearkin.workflows.collection.tables import check_format

    check_format(out)
    check_free(out, overwrite=overwrite, inputs=inputs)


def write_list(out: Path | None, table: Callable[[], pa.Table], noun: str, *, is_silent: bool) -> None:
    """Write the whole list, if a file is given, and say on standard error how long it is."""
    if out is None:
        return
    import typer

    from nearkin.cli.result_file import written
    from nearkin.workflows.collection.tables import write_table

    rows = table()
    write_table(rows, out)
    if not is_silent:
        typer.echo(written(len(rows), noun, out), err=True)
