"""Files that appear only when complete: written under another name, flushed, renamed into place."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nearkin.errors import OutputError, RunError
from nearkin.formats.sealed import Sealing, damaged_file, has_right_checksum, missing_file, with_checksum
from nearkin.paths import why


@contextlib.contextmanager
def published(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """Yield a path to write to; after the block the file is at ``path``, or nowhere if the block failed.

    ``durable`` waits until the disk has stored it: for results. OutputError if the disk is full or not writable.
    """
    # unique across machines that share the disk, too
    aside = path.with_name(f".{path.name[:40]}.{os.getpid()}-{secrets.token_hex(4)}.part")
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
def published_together(folder: Path, name: str) -> Iterator[Path]:
    """Yield a new folder to write files to; after the block they are in ``folder``, or nowhere if the block failed.

    They appear one after another, sorted by name, each complete.
    """
    aside = folder / f".{name}.{os.getpid()}-{secrets.token_hex(4)}.part"
    with writing(aside):
        aside.mkdir()
    try:
        yield aside
        for path in sorted(aside.iterdir()):
            with writing(folder / path.name):
                os.replace(path, folder / path.name)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def remove_unpublished(folder: Path) -> None:
    """Remove what killed attempts left, while no task of the folder is awaited."""
    for left in folder.glob(".*.part"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn system errors of writing into errors of Nearkin."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {why(error)}.") from error


@contextlib.contextmanager
def sealed(path: Path, *, durable: bool = False) -> Iterator[Sealing]:
    """Publish a work file in which changed bits are detected; see `nearkin.formats.sealed`."""
    with published(path, durable=durable) as aside, open(aside, "wb") as file:
        sealing = Sealing(file)
        yield sealing
        sealing.seal()


def write_checked_json(path: Path, value: Mapping[str, object], *, durable: bool = True) -> None:
    """Publish a JSON object in which changed bits are detected."""
    write_json(path, with_checksum(value), durable=durable)


def text_of(path: Path) -> str:
    """Return the text of a small regular file; FileNotFoundError for others: reading a pipe would block."""
    if not path.is_file():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    return path.read_text(encoding="utf-8")


def read_checked_json(path: Path) -> Mapping[str, Any]:
    """Read an object that `write_checked_json` wrote; RunError if changed, FileNotFoundError if missing."""
    try:
        value = json.loads(text_of(path))
    except ValueError as error:  # not JSON, or not UTF-8
        raise damaged_file(path) from error
    if not isinstance(value, dict) or not has_right_checksum(value):
        raise damaged_file(path)
    return value


def read_work_json(path: Path) -> Mapping[str, Any]:
    """Read an object that `write_checked_json` wrote; RunError if changed or missing."""
    try:
        return read_checked_json(path)
    except FileNotFoundError as error:
        raise (damaged_file(path) if path.exists() else missing_file(path)) from error


def make_work_folder(path: Path) -> None:
    """Create a folder for work files, unless it exists; RunError if something else has its name."""
    if path.exists() and not path.is_dir():
        raise damaged_file(path)
    with writing(path):
        path.mkdir(exist_ok=True)


def write_json(path: Path, value: object, *, durable: bool = True) -> None:
    """Publish a JSON file with sorted keys, so that equal values give equal bytes."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    if not text.isascii() and any(
        "\ud800" <= character <= "\udfff" for character in text
    ):  # from a file name: escape it
        text = json.dumps(value, indent=2, sort_keys=True)
    with published(path, durable=durable) as aside:
        aside.write_text(text + "\n", encoding="utf-8")


@contextlib.contextmanager
def locked(path: Path, *, other: str = "another --out") -> Iterator[None]:
    """Hold an exclusive lock on a file until the process ends at the latest; RunError if another one holds it."""
    try:
        import fcntl
    except ImportError:  # Windows lacks such locks; users must not start two runs in one directory
        yield
        return
    with writing(path):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise RunError(f"{path} is not a file of Nearkin. Remove it, or choose {other}.")
        file = open(path, "a")  # noqa: SIM115 (closed below, after the lock is given back)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            where = path.parent
            raise RunError(f"Another run is writing to {where}. Wait for it, or choose {other}.") from error
        if not _is_same(file.fileno(), path):
            raise RunError(f"Another run has just finished in {path.parent}. Try again.")
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)
    finally:
        file.close()
        with contextlib.suppress(OSError):
            path.parent.rmdir()  # empty: created by a run that was refused before it began


def _is_same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False
