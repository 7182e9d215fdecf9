"""The way back: the kept documents in the files, the order and the format they came in."""

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

from nearkin.errors import OutputError, SourceError, TruncatedInputError
from nearkin.paths import why
from nearkin.records import I64
from nearkin.stages.documents.compression import SUFFIX_OF_COMPRESSION
from nearkin.stages.documents.damage import truncated_input
from nearkin.stages.documents.encodings import check_encoding, is_told_by_line
from nearkin.stages.documents.formats import FORMATS, TABLES, holding, is_of_documents
from nearkin.stages.documents.sniffing import unreadable
from nearkin.stages.documents.source import STDIN, Source
from nearkin.stages.documents.streams import Progress, StreamFault, no_progress

Mask = NDArray[np.bool_]


def write_kept(
    sources: Sequence[Source],
    kept_lines: Callable[[int], Mask],
    out: Path,
    *,
    progress: Progress = no_progress,
    stdin_copy: Path | None = None,
    encoding: str = "utf-8",
) -> list[Path]:
    """Write what is kept of each source in the form it came in.

    JSON Lines and other lines keep their lines byte for byte, CSV and TSV their header and records, Parquet and Arrow
    their rows with all columns, a dump of Wikipedia the pages of the articles, text files are copied; what was
    compressed is compressed again. A file of several documents cannot be cut: its kept texts are written as JSON Lines.
    Of a damaged file that is taken, the copy has what comes before the damage, and is whole itself.

    A source of which nothing is kept is written too, empty or with its header, except a file of documents. Under
    ``out`` the files lie as they do under the folder that all sources share. What is on disk under its own name is
    whole: each file is written beside it, brought to the disk and renamed.

    Parameters
    ----------
    sources : sequence of Source
    kept_lines : callable
        For the number of a source, a bool array indexed by line, place 0 unused; lines past its end are not kept.
    out : Path
        A folder; made if need be.
    progress : callable, optional
        Told the bytes of the sources that were consumed since the last call.
    stdin_copy : Path, optional
        A copy of standard input, which cannot be read a second time: whoever wants "-" written keeps one while reading.
        It is written as ``stdin.jsonl`` or the like.
    encoding : str
        The one it was read with; it is written in the same.

    Returns
    -------
    list of Path
        The files written, in the order of their sources.

    Raises
    ------
    OutputError
        A file cannot be written; none of its name is left.
    SourceError
        A source cannot be read again, or is "-" and there is no copy.
    """
    encoding = check_encoding(encoding)
    if is_told_by_line(encoding):
        encoding = "utf-8"  # lines and records are the same bytes, which then pass as they are
    written = []
    for index, (source, name) in enumerate(zip(sources, relative_names(sources), strict=True)):
        mask = kept_lines(index)
        if (is_of_documents(source.format) and not mask.any()) or _is_lost(source):
            progress(source.size_bytes)
            continue
        target = _target(out, name)
        with _reading(source, stdin_copy) as raw, _writing(target) as file:
            _copy_kept(source, mask, raw, file, progress, encoding)
        written.append(target)
    return written


def _is_lost(source: Source) -> bool:
    """Whether this is a table that was taken although it is so damaged that nothing of it can be read."""
    table = TABLES.get(source.format)
    if not source.takes_damaged or table is None or source.path == STDIN:
        return False
    try:
        with table.at(source.path, source.name):
            return False
    except TruncatedInputError:
        return True


def relative_names(sources: Sequence[Source]) -> list[PurePosixPath]:
    """The place of each source under the folder that all share; no two alike, none outside of it.

    Examples
    --------
    >>> paths = ["../in/a/x.jsonl", "../in/b/x.jsonl", "-"]
    >>> [str(name) for name in relative_names([Source(path=path, name=path, format="jsonl") for path in paths])]
    ['a/x.jsonl', 'b/x.jsonl', 'stdin.jsonl']
    """
    paths = [None if source.path == STDIN else Path(os.path.abspath(source.path)) for source in sources]
    folders = [str(path.parent) for path in paths if path is not None]
    shared = os.path.commonpath(folders) if folders else "/"
    names: list[PurePosixPath] = []
    taken: set[str] = set()
    for source, path in zip(sources, paths, strict=True):
        if path is None:
            name = PurePosixPath(
                f"stdin{FORMATS[source.format].kept_suffix}{SUFFIX_OF_COMPRESSION[source.compression]}"
            )
        else:
            name = PurePosixPath(path.relative_to(shared).as_posix())
        if holding(source.format) == "documents":
            name = name.with_name(f"{name.name}.jsonl")
        unique, n_tried = name, 1
        while str(unique).casefold() in taken:  # two names that some file systems take for one
            n_tried += 1
            unique = name.with_name(f"{n_tried}-{name.name}")
        taken.add(str(unique).casefold())
        names.append(unique)
    return names


def _target(out: Path, name: PurePosixPath) -> Path:
    """Where a file goes, its folder made; OutputError where a link would lead it out of ``out``."""
    target = out / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{target.parent}: cannot be made: {why(error)}.") from error
    if not target.parent.resolve().is_relative_to(out.resolve()):
        raise OutputError(f"{target}: a link leads out of {out}; kept files are written only below it.")
    return target


@contextmanager
def _reading(source: Source, stdin_copy: Path | None) -> Iterator[BinaryIO]:
    """The source, opened a second time."""
    if source.path == STDIN and stdin_copy is None:
        raise SourceError("-: standard input cannot be read a second time, so what is kept of it cannot be written.")
    path = stdin_copy if source.path == STDIN and stdin_copy is not None else Path(source.path)
    try:
        raw = path.open("rb", buffering=0)
    except OSError as error:
        raise unreadable(source.name, error) from error
    with raw:
        yield cast(BinaryIO, raw)


@contextmanager
def _writing(target: Path) -> Iterator[IO[bytes]]:
    """A file that gets its name when all of it is on the disk; nothing is left of one that failed."""
    # a name as long as the file's own may be, with something added, would be too long
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
        raise OutputError(f"{target}: cannot be written: {why(error)}.") from error
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk, where the system lets a folder be opened."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _copy_kept(source: Source, mask: Mask, raw: BinaryIO, file: IO[bytes], progress: Progress, encoding: str) -> None:
    """The kept part of one source."""
    try:
        FORMATS[source.format].copy(source, partial(_is_kept, mask), raw, file, progress, encoding)
    except StreamFault as fault:
        n_lost = int(mask[fault.line or len(mask) :].sum())
        if n_lost:  # another column than those that were read
            raise TruncatedInputError(
                f"{source.name}: {fault}, and {n_lost:,} of the documents that are kept cannot be copied. Get the file "
                "again, or omit --write-kept."
            ) from fault
        if not source.takes_damaged:
            raise truncated_input(source.name, fault, int(mask.sum())) from fault


def _is_kept(mask: Mask, lines: I64) -> Mask:
    """Which of the lines are kept."""
    is_known = lines < len(mask)
    kept: Mask = is_known & mask[np.where(is_known, lines, 0)]
    return kept
