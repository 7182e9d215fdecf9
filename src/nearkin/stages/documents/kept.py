"""Writing of the kept documents, in the files, the order and the format of the input."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from nearkin.errors import OutputError, TruncatedInputError
from nearkin.paths import why
from nearkin.records import I64
from nearkin.stages.documents.damage import truncated_input
from nearkin.stages.documents.encodings import check_encoding, is_told_by_line
from nearkin.stages.documents.formats import FORMATS, TABLES, holding, is_of_documents
from nearkin.stages.documents.sniffing import unreadable
from nearkin.stages.documents.source import Source
from nearkin.stages.documents.streams import Progress, StreamFault, no_progress

Mask = NDArray[np.bool_]


def write_kept(
    sources: Sequence[Source],
    kept_lines: Callable[[int], Mask],
    out: Path,
    *,
    progress: Progress = no_progress,
    encoding: str = "utf-8",
) -> list[Path]:
    """Write the kept documents of each source in its original form.

    JSON Lines and other lines keep their lines byte for byte, CSV and TSV their header and records, Parquet and Arrow
    their rows with all columns, a dump of Wikipedia the pages of the articles, text files are copied; compressed files
    are compressed again. A file of several documents cannot be cut: its kept texts are written as JSON Lines.
    The copy of a damaged file contains what comes before the damage, and is itself valid.

    A source without kept documents is written too, empty or with its header, except a file of documents. Under
    ``out`` the files have the same relative paths as in the folder that all sources share. Each file is written under
    another name, flushed to the disk and renamed, so it is complete once it has its own name.

    Parameters
    ----------
    sources : sequence of Source
    kept_lines : callable
        Takes the number of a source; returns a bool array indexed by line (index 0 unused); later lines are not kept.
    out : Path
        A folder; created if necessary.
    progress : callable, optional
        Receives the number of bytes of the sources consumed since the last call.
    encoding : str
        Encoding with which it was read, and is written.

    Returns
    -------
    list of Path
        Files that were written, in the order of their sources.

    Raises
    ------
    OutputError
        A file cannot be written; no part of it is left.
    SourceError
        A source cannot be read again.
    """
    encoding = check_encoding(encoding)
    if is_told_by_line(encoding):
        encoding = "utf-8"  # lines and records keep their bytes, which then pass unchanged
    written = []
    for index, (source, name) in enumerate(zip(sources, relative_names(sources), strict=True)):
        mask = kept_lines(index)
        if (is_of_documents(source.format) and not mask.any()) or _is_lost(source):
            progress(source.size_bytes)
            continue
        target = _target(out, name)
        with _reading(source) as raw, _writing(target) as file:
            _copy_kept(source, mask, raw, file, progress, encoding)
        written.append(target)
    return written


def _is_lost(source: Source) -> bool:
    """Whether this is a table that was accepted although it is too damaged to be read at all."""
    table = TABLES.get(source.format)
    if not source.takes_damaged or table is None:
        return False
    try:
        with table.at(source.path, source.name):
            return False
    except TruncatedInputError:
        return True


def relative_names(sources: Sequence[Source]) -> list[PurePosixPath]:
    """Return the path of each source relative to the folder that all share; distinct, and none outside that folder.

    Examples
    --------
    >>> paths = ["../in/a/x.jsonl", "../in/b/x.jsonl"]
    >>> [str(name) for name in relative_names([Source(path=path, name=path, format="jsonl") for path in paths])]
    ['a/x.jsonl', 'b/x.jsonl']
    """
    paths = [Path(os.path.abspath(source.path)) for source in sources]
    folders = [str(path.parent) for path in paths]
    shared = os.path.commonpath(folders) if folders else "/"
    names: list[PurePosixPath] = []
    taken: set[str] = set()
    for source, path in zip(sources, paths, strict=True):
        name = PurePosixPath(path.relative_to(shared).as_posix())
        if holding(source.format) == "documents":
            name = name.with_name(f"{name.name}.jsonl")
        unique, n_tried = name, 1
        while str(unique).casefold() in taken:  # some file systems ignore case
            n_tried += 1
            unique = name.with_name(f"{n_tried}-{name.name}")
        taken.add(str(unique).casefold())
        names.append(unique)
    return names


def _target(out: Path, name: PurePosixPath) -> Path:
    """Return the path for a file and create its folder; raise OutputError if a link leads out of ``out``."""
    target = out / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"Cannot create {target.parent}: {why(error)}.") from error
    if not target.parent.resolve().is_relative_to(out.resolve()):
        raise OutputError(f"{target}: a link leads out of {out}; kept files are written only below it.")
    return target


@contextmanager
def _reading(source: Source) -> Iterator[BinaryIO]:
    """Open the source again."""
    path = Path(source.path)
    try:
        raw = path.open("rb", buffering=0)
    except OSError as error:
        raise unreadable(source.name, error) from error
    with raw:
        yield cast(BinaryIO, raw)


@contextmanager
def _writing(target: Path) -> Iterator[IO[bytes]]:
    """Open a file that gets its name when it is completely on the disk; a failed one is removed."""
    # the file's own name may already have the maximum length, so nothing can be appended to it
    beside = target.with_name(f".{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}.part")
    try:
        with beside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise OutputError(f"Cannot write {target}: {why(error)}.") from error
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """Flush the new name to the disk, if the system allows opening a folder."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _copy_kept(source: Source, mask: Mask, raw: BinaryIO, file: IO[bytes], progress: Progress, encoding: str) -> None:
    """Copy the kept part of one source."""
    try:
        FORMATS[source.format].copy(source, partial(_is_kept, mask), raw, file, progress, encoding)
    except StreamFault as fault:
        n_lost = int(mask[fault.line or len(mask) :].sum())
        if n_lost:  # another column is damaged than those that were read
            raise TruncatedInputError(
                f"{source.name}: {fault}, and {n_lost:,} of the documents that are kept cannot be "
                "copied. Get the file again, or omit --write-kept."
            ) from fault
        if not source.takes_damaged:
            raise truncated_input(source.name, fault, int(mask.sum())) from fault


def _is_kept(mask: Mask, lines: I64) -> Mask:
    """Return which of the lines are kept."""
    is_known = lines < len(mask)
    kept: Mask = is_known & mask[np.where(is_known, lines, 0)]
    return kept
