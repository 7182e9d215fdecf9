"""Output file of a command whose result is one file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nearkin.errors import OutputError, OutputExistsError, ParameterError
from nearkin.hidden_characters import reveal_line
from nearkin.nouns import counted
from nearkin.paths import check_output


def check_free(out: Path, *, overwrite: bool, inputs: Sequence[str | Path], option: str = "--out") -> None:
    """Refuse a file that exists, or cannot be written, before any work is done.

    Raises
    ------
    OutputExistsError
        The file exists, and is not to be replaced.
    OutputError
        It is a directory, its directory does not exist, or its name is not valid for a result.
    ParameterError
        It is one of the inputs.
    """
    check_output(out, option)
    if any(Path(one).exists() and out.exists() and Path(one).samefile(out) for one in inputs if str(one) != "-"):
        raise ParameterError(f"{option} {out} is one of the inputs. Choose another file.")
    if out.is_symlink() or (out.exists() and not out.is_file() and not out.is_dir()):
        raise OutputError(f"Cannot write {out}: it is a link or a device; {option} must be a regular file.")
    if out.is_dir():
        raise OutputError(f"Cannot write {out}: it is a directory; {option} must be a file.")
    if out.exists() and not overwrite:
        raise OutputExistsError(f"{out} already exists. Choose another {option}, or add --overwrite to replace it.")
    if not out.parent.is_dir():
        raise OutputError(f"Cannot write {out}: the directory {out.parent} does not exist.")


def written(n_rows: int, row: str, out: Path) -> str:
    """Say that a table was written; nothing in the path can control the terminal.

    Examples
    --------
    >>> written(2, "document", Path("sheet.csv"))
    'wrote 2 documents to sheet.csv'
    """
    return f"wrote {counted(n_rows, row)} to {reveal_line(str(out))}"
