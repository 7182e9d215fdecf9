"""The way back: the kept documents in the files, the order and the format they came in."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, Protocol, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from nearkin.errors import OutputError, SourceError, TruncatedInputError
from nearkin.formats.parquet import table_writer
from nearkin.paths import why
from nearkin.records import I64
from nearkin.stages.documents.arrow_ipc import ArrowTable
from nearkin.stages.documents.blocks import read_blocks
from nearkin.stages.documents.compression import SUFFIX_OF_COMPRESSION
from nearkin.stages.documents.damage import truncated_input
from nearkin.stages.documents.delimited import split_header, with_records
from nearkin.stages.documents.encodings import check_encoding, is_told_by_line
from nearkin.stages.documents.packing import packed
from nearkin.stages.documents.parquet import ParquetTable, damaged
from nearkin.stages.documents.parquet_levels import codecs_of, levels_of
from nearkin.stages.documents.record_runs import scanner_of
from nearkin.stages.documents.run_reader import read_runs
from nearkin.stages.documents.sniffing import head_of_stream, told_delimiter, unreadable
from nearkin.stages.documents.sources import STDIN, Source
from nearkin.stages.documents.streams import ByteStream, Progress, StreamFault, no_progress
from nearkin.stages.documents.table_columns import filtered
from nearkin.stages.documents.table_files import TABLES, table_at
from nearkin.stages.documents.wikipedia_kept import copy_kept_pages

_BLOCK_BYTES = 8 << 20
_ROW_GROUP_BYTES = 64 << 20
_SUFFIX = {
    "jsonl": ".jsonl",
    "parquet": ".parquet",
    "arrow": ".arrow",
    "csv": ".csv",
    "tsv": ".tsv",
    "lines": ".txt",
    "text-lines": ".txt",
    "file": ".txt",
    "wikipedia": ".xml",
}
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
    compressed is compressed again. Of a damaged file that is taken, the copy has what comes before the damage, and is
    whole itself.

    A source of which nothing is kept is written too, empty or with its header, except a text file. Under ``out`` the
    files lie as they do under the folder that all sources share. What is on disk under its own name is whole: each
    file is written beside it, brought to the disk and renamed.

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
        if (source.format == "file" and not mask[1:2].any()) or _is_lost(source):
            progress(source.size_bytes)
            continue
        target = _target(out, name)
        with _reading(source, stdin_copy) as raw, _writing(target) as file:
            _copy_kept(source, mask, raw, file, progress, encoding)
        written.append(target)
    return written


def _is_lost(source: Source) -> bool:
    """Whether this is a table that was taken although it is so damaged that nothing of it can be read."""
    if not source.takes_damaged or source.format not in TABLES or source.path == STDIN:
        return False
    try:
        with table_at(source.format, source.path, source.name):
            return False
    except TruncatedInputError:
        return True


def relative_names(sources: Sequence[Source]) -> list[PurePosixPath]:
    """The place of each source under the folder that all share; no two alike, none outside of it.

    Examples
    --------
    >>> def source(path): return Source(path, path, "jsonl", "none", "text", None, 0)
    >>> [str(name) for name in relative_names([source("../in/a/x.jsonl"), source("../in/b/x.jsonl"), source("-")])]
    ['a/x.jsonl', 'b/x.jsonl', 'stdin.jsonl']
    """
    paths = [None if source.path == STDIN else Path(os.path.abspath(source.path)) for source in sources]
    folders = [str(path.parent) for path in paths if path is not None]
    shared = os.path.commonpath(folders) if folders else "/"
    names: list[PurePosixPath] = []
    taken: set[str] = set()
    for source, path in zip(sources, paths, strict=True):
        if path is None:
            name = PurePosixPath(f"stdin{_SUFFIX[source.format]}{SUFFIX_OF_COMPRESSION[source.compression]}")
        else:
            name = PurePosixPath(path.relative_to(shared).as_posix())
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


class _Sink(Protocol):
    """Where bytes go."""

    def write(self, data: bytes, /) -> object: ...


def _copy_kept(source: Source, mask: Mask, raw: BinaryIO, file: IO[bytes], progress: Progress, encoding: str) -> None:
    """The kept part of one source."""
    if source.format == "file":
        shutil.copyfileobj(raw, file, _BLOCK_BYTES)
        progress(source.size_bytes)
        return
    try:
        if source.format in TABLES:
            _copy_table(source, mask, raw, file)
            progress(source.size_bytes)
        else:
            encoding = "utf-8" if source.format == "wikipedia" else encoding  # XML says it itself
            stream = ByteStream(
                raw, source.compression, encoding=encoding, progress=progress, max_line_bytes=source.max_document_bytes
            )
            _copy_stream(source, mask, stream, file)
    except StreamFault as fault:
        n_lost = int(mask[fault.line or len(mask) :].sum())
        if n_lost:  # another column than those that were read
            raise TruncatedInputError(
                f"{source.name}: {fault}, and {n_lost:,} of the documents that are kept cannot be copied. Get the file "
                "again, or omit --write-kept."
            ) from fault
        if not source.takes_damaged:
            raise truncated_input(source.name, fault, int(mask.sum())) from fault


def _copy_stream(source: Source, mask: Mask, stream: ByteStream, file: IO[bytes]) -> None:
    """The kept part of a source that is no table; a fault is raised when the copy of what comes before is whole."""
    fault: StreamFault | None = None
    with packed(file, source.compression) as sink:
        try:
            sink.write(stream.byte_order_mark())
            if source.format in ("csv", "tsv"):
                _copy_records(source, mask, stream, sink)
            elif source.format == "wikipedia":
                copy_kept_pages(stream, source.name, lambda line: line < len(mask) and bool(mask[line]), sink.write)
            else:
                _copy_lines(mask, stream, sink, source.max_document_bytes)
        except StreamFault as broken:
            fault = broken
    if fault is not None:
        raise fault


def _is_kept(mask: Mask, lines: I64) -> Mask:
    """Which of the lines are kept."""
    is_known = lines < len(mask)
    kept: Mask = is_known & mask[np.where(is_known, lines, 0)]
    return kept


def _copy_lines(mask: Mask, stream: ByteStream, sink: _Sink, max_line_bytes: int) -> None:
    """Kept lines, those side by side in one go."""
    for block in read_blocks(stream, _BLOCK_BYTES, max_line_bytes):
        if block.problem is not None:
            continue
        ends = block.newlines + 1
        if not len(ends) or ends[-1] != len(block.data):
            ends = np.append(ends, len(block.data))
        starts = np.concatenate([[0], ends[:-1]])
        lines = np.arange(block.first_line, block.first_line + len(ends))
        _write_kept_parts(block.data, starts, ends, _is_kept(mask, lines), stream, sink)


def _copy_records(source: Source, mask: Mask, stream: ByteStream, sink: _Sink) -> None:
    """The header and the kept records."""
    delimiter = source.delimiter or told_delimiter(head_of_stream(stream), source.text, source.id)
    scanner = scanner_of(source.format, delimiter)
    is_first = True
    for block in read_runs(stream, scanner, _BLOCK_BYTES, source.max_document_bytes):
        runs = with_records(block)
        if runs and is_first:
            header = runs[0]
            sink.write(stream.as_it_was(header.data[: int(header.ends[0])]))
            _, runs = split_header(runs, scanner, source.name)
            is_first = False
        for run in runs:
            _write_kept_parts(memoryview(run.data), run.starts, run.ends, _is_kept(mask, run.lines), stream, sink)


def _write_kept_parts(data: memoryview, starts: I64, ends: I64, is_kept: Mask, stream: ByteStream, sink: _Sink) -> None:
    """The kept ones of the parts of ``data``, in the characters they came in."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_kept, [False]])))
    for first, stop in edges.reshape(-1, 2):
        if int(ends[stop - 1] - starts[first]) == int((ends[first:stop] - starts[first:stop]).sum()):
            sink.write(stream.as_it_was(bytes(data[starts[first] : ends[stop - 1]])))
        else:  # blank lines between records
            for index in range(first, stop):
                sink.write(stream.as_it_was(bytes(data[starts[index] : ends[index]])))


def _copy_table(source: Source, mask: Mask, raw: BinaryIO, file: IO[bytes]) -> None:
    """Kept rows of a table with all its columns."""
    if source.format == "arrow":
        with ArrowTable.opened(raw, source.name) as table:
            table.copy_rows(lambda rows: _is_kept(mask, rows), file)
    else:
        with ParquetTable.opened(raw, source.name) as table:
            _copy_rows(source, mask, table.parquet, file)


def _copy_rows(source: Source, mask: Mask, parquet: pq.ParquetFile, file: IO[bytes]) -> None:
    """Kept rows of a Parquet file, about a row group of the file at a time."""
    schema = parquet.schema_arrow
    fault: StreamFault | None = None
    try:
        codecs, levels = codecs_of(parquet.metadata), levels_of(parquet)
        with table_writer(file, schema, compression=codecs, compression_level=levels) as writer:
            try:
                for rows in _kept_rows(parquet, mask):
                    writer.write_table(pa.Table.from_batches(rows, schema))
            except StreamFault as broken:
                fault = broken
    except pa.ArrowException as error:
        raise SourceError(f"{source.name}: cannot be copied: {error}.") from error
    if fault is not None:
        raise fault


def _kept_rows(parquet: pq.ParquetFile, mask: Mask) -> Iterator[list[pa.RecordBatch]]:
    """Kept rows in portions: what is left of a row group, less where that is much."""
    row = 1
    for index in range(parquet.metadata.num_row_groups):
        waiting: list[pa.RecordBatch] = []
        n_bytes = 0
        group = parquet.metadata.row_group(index)
        n_rows = max(min(_BLOCK_BYTES * group.num_rows // max(group.total_byte_size, 1), 1 << 16), 1)
        fault: StreamFault | None = None
        try:
            for batch in _batches(parquet, n_rows, index, row):
                kept = filtered(batch, _is_kept(mask, np.arange(row, row + len(batch))))
                row += len(batch)
                if len(kept):
                    waiting.append(kept)
                    n_bytes += kept.nbytes
                if n_bytes >= _ROW_GROUP_BYTES:
                    yield waiting
                    waiting, n_bytes = [], 0
        except StreamFault as broken:
            fault = broken
        if waiting:
            yield waiting
        if fault is not None:
            raise fault


def _batches(parquet: pq.ParquetFile, n_rows: int, group: int, row: int) -> Iterator[pa.RecordBatch]:
    """The rows of a row group, which begins with ``row``; StreamFault where it is damaged."""
    try:
        for batch in parquet.iter_batches(n_rows, row_groups=[group]):
            yield batch
            row += len(batch)
    except (pa.ArrowException, OSError) as error:
        fault = damaged(error)
        fault.line = row
        raise fault from error
