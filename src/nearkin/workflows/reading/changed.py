"""Errors for inputs that cannot be read again or have changed."""

from __future__ import annotations

import os

from nearkin.errors import SourceError
from nearkin.paths import STDIN, printable


def check_comes_again(path: str) -> None:
    """Check that the input with this name can be read again.

    Raises
    ------
    SourceError
        Nothing has that name, or it is a pipe.
    """
    if path == STDIN:
        raise SourceError(
            "The input was standard input, which cannot be read again. Save it to a file, and read the file."
        )
    if not os.path.lexists(path):
        if os.path.isabs(path):
            raise SourceError(f"{printable(path)} does not exist. Its documents must be read again: restore the file.")
        raise SourceError(
            f"There is no {printable(path)} in {printable(os.getcwd())}, and its documents must be read again. Restore "
            "the file, or run the command in the directory from which it was read first: the path is relative."
        )
    if os.path.exists(path) and not os.path.isfile(path):
        raise SourceError(
            f"{printable(path)} is no longer a file, and its documents must be read again: restore the file."
        )


def changed(name: str, how: str = "") -> SourceError:
    """Return the error for an input that changed since it was first read; ``how`` describes the difference."""
    differs = f" ({how})" if how else ""
    return SourceError(f"{printable(name)} has changed since it was read{differs}. Repeat the command that read it.")


def changed_documents() -> SourceError:
    """Return the error for documents in memory that are not those of the first reading."""
    return SourceError("The given documents differ from those that the run read. Give the same documents again.")


def changed_while_read(name: str) -> SourceError:
    """Return the error for an input that changed during the run."""
    return SourceError(
        f"{printable(name)} changed while it was read. Run again when nothing writes to it, or use a copy."
    )
