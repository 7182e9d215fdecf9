"""What is said where an input cannot be read once more, or is not what it was."""

from __future__ import annotations

import os

from nearkin.errors import SourceError
from nearkin.stages.documents.sources import STDIN


def check_comes_again(path: str) -> None:
    """Check that what was read under this name can be read once more.

    Raises
    ------
    SourceError
        There is nothing of that name, or it is a pipe.
    """
    if path == STDIN:
        raise SourceError(
            "The input was standard input or a pipe, which cannot be read again. Save it to a file, and read that."
        )
    if not os.path.lexists(path):
        here = "" if os.path.isabs(path) else f" from {os.getcwd()}, and the name is relative"
        raise SourceError(
            f"{path} does not exist{here}. Its documents are read again: restore the file, or start the command in the "
            "directory where they were read first."
        )
    if os.path.exists(path) and not os.path.isfile(path):
        raise SourceError(
            f"{path} is a pipe or a folder, which cannot be read again. If it was a file, restore it; if it was a "
            "pipe, save what it gives to a file, and read that."
        )


def changed(name: str, how: str = "") -> SourceError:
    """Some input is not what it was when it was read first; ``how`` says what differs."""
    differs = f" ({how})" if how else ""
    return SourceError(f"{name} has changed since it was read{differs}. Repeat the command that read it.")


def changed_while_read(name: str) -> SourceError:
    """Some input was written to during the run."""
    return SourceError(f"{name} changed while it was read. Run again when nothing writes to it, or on a copy.")
