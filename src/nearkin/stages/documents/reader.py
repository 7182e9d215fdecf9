"""A source as Arrow batches of documents, whatever its format."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from nearkin.errors import ParameterError, SourceError
from nearkin.stages.documents.columns import choose_columns
from nearkin.stages.documents.delimited import read_delimited
from nearkin.stages.documents.encodings import check_encoding, looks_like_utf16
from nearkin.stages.documents.finding import WITHOUT_COLUMNS
from nearkin.stages.documents.jsonl import read_jsonl
from nearkin.stages.documents.keep_column import KeepColumn
from nearkin.stages.documents.keeping import (
    check_has_columns,
    check_keep_records,
    no_note,
    noting_values_without_number,
)
from nearkin.stages.documents.legibility import without_illegible
from nearkin.stages.documents.lines import read_lines
from nearkin.stages.documents.parquet import read_parquet, sample_of_parquet
from nearkin.stages.documents.record_runs import scanner_of
from nearkin.stages.documents.sniffing import (
    empty_stdin,
    head_of_stream,
    records_of_head,
    sample_of_head,
    told_delimiter,
    unreadable,
)
from nearkin.stages.documents.sources import STDIN, Source
from nearkin.stages.documents.streams import ByteStream, Progress, StreamFault, no_progress
from nearkin.stages.documents.text_file import read_text_file
from nearkin.stages.documents.wikipedia import read_wikipedia


def read_batches(
    source: Source,
    *,
    batch_bytes: int = 8 << 20,
    keep_column: str | None = None,
    progress: Progress = no_progress,
    stdin: BinaryIO | None = None,
    encoding: str = "utf-8",
    note: Callable[[str], None] = no_note,
) -> Iterator[pa.RecordBatch]:
    """The documents of a source, a batch at a time.

    A record that cannot be read is a row whose text is null and whose ``problem`` says why; so is the place where a
    file breaks off, and a text that is not UTF-8. In Parquet such texts arrive as they are.

    The ids of a source are int64 while all are integers; from the batch in which one is not, they are strings (see
    :class:`.rows.IdType`). The same source and ``batch_bytes`` give the same batches, and any ``batch_bytes`` gives the
    same rows.

    Parameters
    ----------
    source : Source
        From :func:`.sources.resolve_sources`.
    batch_bytes : int, default 8 MiB
        About how many bytes of the unpacked file a batch stands for. A longer record has a batch of its own; one of
        more than 1 GiB is a problem. Memory is bounded by a few times this.
    keep_column : str, optional
        Its numbers become ``keep_value``; true is 1, a date or a time is its microseconds since 1970, all else is null.
        See :class:`.keep_column.KeepColumn`.
    progress : callable, optional
        Told the bytes of the file that were consumed since the last call; they add up to its size.
    stdin : binary file, optional
        Standard input, or a copy of it, for the source "-".
    encoding : str, default "utf-8"
        What text is in that is not valid UTF-8 and has no byte order mark, in all formats but Parquet. A text file is
        judged as a whole, all else line by line, and where that would be unsound by the first MiB of the file (see
        :mod:`.encodings`).
    note : callable, optional
        Told at the end of the source, in one sentence, if some documents have no value in ``keep_column``; of a dump
        of Wikipedia, how many pages were left out and why.

    Yields
    ------
    RecordBatch
        Of `records.DOCUMENTS_SCHEMA`; ``doc_id`` may be int64.

    Raises
    ------
    SourceError
        On the first batch: the file cannot be opened or unpacked, or lacks a column.
    ParameterError
        A parameter breaks its rule.
    """
    encoding = check_encoding(encoding)
    if batch_bytes < 1:
        raise ParameterError.of("batch_bytes", "read_batches", "an int >= 1", batch_bytes)
    keep = None if keep_column is None else KeepColumn(keep_column)
    batches = _read_source(source, batch_bytes, keep, progress, stdin, encoding, note)
    if keep is not None:
        check_has_columns(source.name, source.format)
        batches = noting_values_without_number(batches, source.name, keep, note)
    yield from batches


def _read_source(
    source: Source,
    batch_bytes: int,
    keep: KeepColumn | None,
    progress: Progress,
    stdin: BinaryIO | None,
    encoding: str,
    note: Callable[[str], None],
) -> Iterator[pa.RecordBatch]:
    """The batches of a source that is opened for them."""
    if source.path == STDIN:
        raw = stdin if stdin is not None else sys.stdin.buffer
        yield from _read(source, raw, batch_bytes, keep, progress, encoding, note)
        return
    try:
        opened = Path(source.path).open("rb", buffering=0)  # noqa: SIM115  only the opening is to be refused here
    except OSError as error:
        raise unreadable(source.name, error) from error
    with opened as raw:
        yield from _read(source, raw, batch_bytes, keep, progress, encoding, note)


def _read(
    source: Source,
    raw: BinaryIO,
    batch_bytes: int,
    keep: KeepColumn | None,
    progress: Progress,
    encoding: str,
    note: Callable[[str], None],
) -> Iterator[pa.RecordBatch]:
    """The batches of an open source."""
    if source.format == "parquet":
        yield from _read_parquet(source, raw, batch_bytes, keep, progress)
        return
    # A file that is one document is decoded when all of it is there; XML says its encoding itself.
    encoding_of_stream = "utf-8" if source.format in ("file", "wikipedia") else encoding
    stream = ByteStream(raw, source.compression, encoding=encoding_of_stream, progress=progress)
    try:
        source = _with_columns(source, stream, None if keep is None else keep.name)
    except StreamFault as fault:
        raise SourceError(f"{source.name}: cannot be read: {fault}.") from fault
    if source.format == "wikipedia":
        yield from read_wikipedia(stream, source.name, batch_bytes=batch_bytes, note=note)
        return
    for batch in _read_stream(source, stream, batch_bytes, keep, encoding):
        yield without_illegible(batch, encoding)


def _read_stream(
    source: Source, stream: ByteStream, batch_bytes: int, keep: KeepColumn | None, encoding: str
) -> Iterator[pa.RecordBatch]:
    """The batches of a source of any format but Parquet, its texts not checked yet."""
    text = source.text if source.text is not None else "text"
    if source.format == "jsonl":
        yield from read_jsonl(stream, text=text, doc_id=source.id, keep=keep, batch_bytes=batch_bytes)
    elif source.format == "lines":
        yield from read_lines(stream, batch_bytes=batch_bytes)
    elif source.format == "file":
        yield from read_text_file(stream, source.name, encoding)
    else:
        yield from read_delimited(
            stream,
            name=source.name,
            scanner=scanner_of(source.format, source.delimiter or ","),
            text=text,
            doc_id=source.id,
            keep=keep,
            batch_bytes=batch_bytes,
        )


def _with_columns(source: Source, stream: ByteStream, keep_column: str | None) -> Source:
    """The source with its columns guessed where nobody could look before, and the first bytes seen to be readable."""
    head = head_of_stream(stream)
    if source.format != "file" and (advice := looks_like_utf16(head.data)) is not None:
        raise SourceError(f"{source.name}: {advice}.")
    if source.path == STDIN and not head.data:
        raise empty_stdin()
    if source.format == "csv" and source.delimiter is None:
        source = replace(source, delimiter=told_delimiter(head, source.text, source.id))
    if source.text is None and source.format not in WITHOUT_COLUMNS:
        sample = sample_of_head(head, source.format, source.delimiter)
        if sample is not None:
            columns = choose_columns(sample, source.name, text=source.text, doc_id=source.id)
            source = replace(source, text=columns.text, id=columns.id)
    if keep_column is not None and not (source.format == "jsonl" and head.is_cut_record):
        records = records_of_head(head, source.format, source.delimiter)
        check_keep_records(source.name, keep_column, records, is_text=source.format != "jsonl")
    return source


def _read_parquet(
    source: Source, raw: BinaryIO, batch_bytes: int, keep: KeepColumn | None, progress: Progress
) -> Iterator[pa.RecordBatch]:
    """A Parquet file, which must be open to reading anywhere in it."""
    if not raw.seekable():
        raise SourceError(f"{source.name}: Parquet cannot be read from a pipe. Save it to a file first.")
    text, doc_id = source.text, source.id
    if text is None:
        columns = choose_columns(sample_of_parquet(raw, source.name), source.name, text=None, doc_id=doc_id)
        text, doc_id = columns.text, columns.id
    yield from read_parquet(
        raw,
        name=source.name,
        text=text,
        doc_id=doc_id,
        keep=keep,
        batch_bytes=batch_bytes,
        size_bytes=source.size_bytes,
        progress=progress,
    )
