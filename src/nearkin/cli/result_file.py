"""Output file of a command whose result is one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nearkin.cli.command_line import places_read
from nearkin.errors import OutputError, OutputExistsError, ParameterError
from nearkin.nouns import counted
from nearkin.paths import check_output, check_outside_collections, check_own_format, is_one_of, on_disk
from nearkin.runs.finished import WORK, manifest_if_any
from nearkin.wording import reveal_line

if TYPE_CHECKING:
    import pyarrow as pa


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

    from nearkin.workflows.collection.tables import write_table

    rows = table()
    write_table(rows, out)
    if not is_silent:
        click.echo(written(len(rows), noun, out), err=True)
