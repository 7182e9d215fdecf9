"""Files that are whole or not there: written aside, flushed, renamed into place."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nearkin.errors import OutputError
from nearkin.formats.sealed import Sealing, damaged, has_right_checksum, with_checksum
from nearkin.paths import why


@contextlib.contextmanager
def published(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """Yield a name to write to; after the block the file stands at ``path``, or, if the block failed, nothing does.

    Parameters
    ----------
    path : Path
    durable : bool
        Wait until the disk has it: for results. Not for what a run can make again.

    Raises
    ------
    OutputError
        If the disk is full or cannot be written to.
    """
    # unique among machines that share the disk, too
    aside = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with writing(path):
            yield aside
            if durable:
                with open(aside, "rb+") as file:
                    os.fsync(file.fileno())
            os.replace(aside, path)
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says of a failed write into words that help."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {why(error)}.") from error


def printable(path: str) -> str:
    r"""A path as JSON, Arrow and a terminal can hold it, though its bytes be no UTF-8.

    Examples
    --------
    >>> print(printable("notes-\udcff.txt"))
    notes-\xff.txt
    """
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@contextlib.contextmanager
def sealed(path: Path) -> Iterator[Sealing]:
    """Publish a file of a run's work that notices a changed bit; see `nearkin.formats.sealed`."""
    with published(path, durable=False) as aside, open(aside, "wb") as file:
        sealing = Sealing(file)
        yield sealing
        sealing.seal()


def write_checked_json(path: Path, value: Mapping[str, object], *, durable: bool = True) -> None:
    """Publish a JSON object that notices a changed bit."""
    write_json(path, with_checksum(value), durable=durable)


def text_of(path: Path) -> str:
    """The text of a small file of Nearkin's own.

    Raises
    ------
    FileNotFoundError
        There is none, or something else in its place: a pipe would be waited for.
    """
    if not path.is_file():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    return path.read_text(encoding="utf-8")


def read_checked_json(path: Path) -> Mapping[str, Any]:
    """What `write_checked_json` wrote.

    Raises
    ------
    RunError
        It is not what was written.
    FileNotFoundError
        There is none.
    """
    try:
        value = json.loads(text_of(path))
    except ValueError as error:  # no JSON, or no UTF-8
        raise damaged(path) from error
    if not isinstance(value, dict) or not has_right_checksum(value):
        raise damaged(path)
    return value


def write_json(path: Path, value: object, *, durable: bool = True) -> None:
    """Publish a JSON file with sorted keys, so that equal values are equal bytes."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    if any("\ud800" <= character <= "\udfff" for character in text):  # of a file name that is no UTF-8: escaped then
        text = json.dumps(value, indent=2, sort_keys=True)
    with published(path, durable=durable) as aside:
        aside.write_text(text + "\n", encoding="utf-8")
