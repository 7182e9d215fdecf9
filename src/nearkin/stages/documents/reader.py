"""A source as Arrow batches of documents, whatever its format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from nearkin.errors import ParameterError, SourceError
from nearkin.nouns import agreeing, counted
from nearkin.stages.documents.columns import choose_columns, sample_of_table
from nearkin.stages.documents.compression import MAGIC_BYTES, compression_of
from nearkin.stages.documents.damage import problem_of, truncated_input
from nearkin.stages.documents.delimited import read_delimited
from nearkin.stages.documents.encodings import check_encoding, looks_like_utf16
from nearkin.stages.documents.formats import WITHOUT_COLUMNS
from nearkin.stages.documents.jsonl import read_jsonl
from nearkin.stages.documents.keep_column import KeepColumn
from nearkin.stages.documents.keeping import (
    check_has_columns,
    check_keep_records,
    no_note,
    noting_values_without_number,
)
from nearkin.stages.documents.legibility import without_illegible
from nearkin.stages.documents.lines import read_lines, read_text_lines
from nearkin.stages.documents.record_runs import scanner_of
from nearkin.stages.documents.rows import IdType, one_batch, problem_piece
from nearkin.stages.documents.sniffing import (
    empty_stdin,
    head_of_stream,
    records_of_head,
    sample_of_head,
    standard_input,
    told_delimiter,
    unreadable,
)
from nearkin.stages.documents.sources import STDIN, Source
from nearkin.stages.documents.streams import ByteStream, Progress, StreamFault, no_progress
from nearkin.stages.documents.table_columns import Wanted
from nearkin.stages.documents.table_files import SAMPLE_ROWS, TABLES, opened_table, read_table_file
from nearkin.stages.documents.text_file import TextFile, read_text_file
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

    A record that cannot be read is a row whose text is null and whose ``problem`` says why; so is a text that is not
    UTF-8, or longer than the source allows. In tables texts that are not UTF-8 arrive as they are. Where a file breaks
    off is an error, or, if the source takes damaged files, a row as well (see :mod:`.damage`).

    The ids of a source are int64 while all are integers; from the batch in which one is not, they are strings (see
    :class:`.rows.IdType`). The same source and ``batch_bytes`` give the same batches, and any ``batch_bytes`` gives the
    same rows.

    Parameters
    ----------
    source : Source
        From :func:`.sources.resolve_sources`.
    batch_bytes : int, default 8 MiB
        About how many bytes of the unpacked file a batch stands for. A longer record has a batch of its own. Memory is
        bounded by a few times this, and by a few times the longest document that the source allows.
    keep_column : str, optional
        Its numbers become ``keep_value``; true is 1, a date or a time is its microseconds since 1970, all else is null.
        See :class:`.keep_column.KeepColumn`.
    progress : callable, optional
        Told the bytes of the file that were consumed since the last call; they add up to its size.
    stdin : binary file, optional
        Standard input, or a copy of it, for the source "-".
    encoding : str, default "utf-8"
        What text is in that is not valid UTF-8 and has no byte order mark, in all formats but tables. A text file is
        judged as a whole, all else line by line, and where that would be unsound by the first MiB of the file (see
        :mod:`.encodings`).
    note : callable, optional
        Told at the end of the source, in one sentence, if some documents have no value in ``keep_column``; of a dump
        of Wikipedia, how many pages were left out and why; of a damaged file that is taken, where it breaks off.

    Yields
    ------
    RecordBatch
        Of `records.DOCUMENTS_SCHEMA`; ``doc_id`` may be int64.

    Raises
    ------
    SourceError
        On the first batch: the file cannot be opened, or lacks a column.
    TruncatedInputError
        The file is truncated or damaged; the documents before were handed out.
    ParameterError
        A parameter breaks its rule.
    """
    encoding = check_encoding(encoding)
    if batch_bytes < 1:
        raise ParameterError.of("batch_bytes", "read_batches", "an int >= 1", batch_bytes)
    keep = None if keep_column is None else KeepColumn(keep_column)
    batches = batches_of(source, batch_bytes, keep, progress, stdin, encoding, note)
    batches = _until_damage(source, batches, note)
    if keep is not None:
        check_has_columns(source.name, source.format)
        batches = noting_values_without_number(batches, source.name, keep, note)
    yield from batches


def _until_damage(
    source: Source, batches: Iterator[pa.RecordBatch], note: Callable[[str], None]
) -> Iterator[pa.RecordBatch]:
    """The batches; where the file breaks off, an error, or a row that says so."""
    n_documents = 0
    try:
        for batch in batches:
            yield batch
            n_documents += len(batch)
    except StreamFault as fault:
        if not source.takes_damaged:
            raise truncated_input(source.name, fault, n_documents) from fault
        used = "Nothing of it is used"
        if n_documents:
            are = agreeing(n_documents, "is", "are")
            used = f"Only the {counted(n_documents, 'document')} before the damage {are} used"
        note(f"Warning: {source.name}: {fault}. {used}.")
        yield one_batch([problem_piece(fault.line or n_documents + 1, problem_of(fault))], IdType())


def batches_of(
    source: Source,
    batch_bytes: int,
    keep: KeepColumn | None,
    progress: Progress,
    stdin: BinaryIO | None,
    encoding: str,
    note: Callable[[str], None],
) -> Iterator[pa.RecordBatch]:
    """The batches of a source that is opened for them; parameters as for `read_batches`.

    Raises
    ------
    StreamFault
        The file breaks off; the documents before were handed out.
    """
    if source.path == STDIN:
        raw = standard_input(stdin)
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
    if source.format in TABLES:
        yield from _read_table(source, raw, batch_bytes, keep, progress, note)
        return
    # A file that is one document is decoded when all of it is there; XML says its encoding itself.
    encoding_of_stream = "utf-8" if source.format in ("file", "wikipedia") else encoding
    is_pipe = source.path == STDIN or not Path(source.path).is_file()
    compression = source.compression
    if source.format == "file" and compression == "none" and not is_pipe:  # nobody looked at it yet
        compression = compression_of(raw.read(MAGIC_BYTES))
        raw.seek(0)
    stream = ByteStream(
        raw,
        compression,
        encoding=encoding_of_stream,
        progress=progress,
        max_line_bytes=source.max_document_bytes,
        is_pipe=is_pipe,
    )
    if source.format == "file":
        file = TextFile(source.name, encoding, source.max_document_bytes, source.is_forced, is_pipe)
        if source.path == STDIN and not head_of_stream(stream).data:
            raise empty_stdin()
        for batch in read_text_file(stream, file):
            yield without_illegible(batch, encoding)
        return
    source = _with_columns(source, stream, None if keep is None else keep.name)
    if source.format == "wikipedia":
        yield from read_wikipedia(
            stream, source.name, batch_bytes=batch_bytes, max_document_bytes=source.max_document_bytes, note=note
        )
        return
    for batch in _read_stream(source, stream, batch_bytes, keep):
        yield without_illegible(batch, encoding)


def _read_stream(
    source: Source, stream: ByteStream, batch_bytes: int, keep: KeepColumn | None
) -> Iterator[pa.RecordBatch]:
    """The batches of a source of lines or records, its texts not checked yet."""
    text = source.text if source.text is not None else "text"
    most = source.max_document_bytes
    if source.format == "jsonl":
        yield from read_jsonl(
            stream,
            text=text,
            doc_id=source.id,
            keep=keep,
            batch_bytes=batch_bytes,
            max_document_bytes=most,
        )
    elif source.format == "lines":
        yield from read_lines(stream, batch_bytes=batch_bytes, max_document_bytes=most)
    elif source.format == "text-lines":
        yield from read_text_lines(stream, batch_bytes=batch_bytes, max_document_bytes=most)
    else:
        yield from read_delimited(
            stream,
            name=source.name,
            scanner=scanner_of(source.format, source.delimiter or ","),
            text=text,
            doc_id=source.id,
            keep=keep,
            batch_bytes=batch_bytes,
            max_document_bytes=most,
        )


def _with_columns(source: Source, stream: ByteStream, keep_column: str | None) -> Source:
    """The source with its columns guessed where nobody could look before, and the first bytes seen to be readable."""
    head = head_of_stream(stream)
    if (advice := looks_like_utf16(head.data)) is not None:
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


def _read_table(
    source: Source,
    raw: BinaryIO,
    batch_bytes: int,
    keep: KeepColumn | None,
    progress: Progress,
    note: Callable[[str], None],
) -> Iterator[pa.RecordBatch]:
    """A Parquet or Arrow file; its columns are guessed where nobody could look before."""
    with opened_table(source.format, raw, source.name) as table:
        if table.note is not None:
            note(table.note)
        text, doc_id = source.text, source.id
        if text is None:
            sample = sample_of_table(table.first_rows(SAMPLE_ROWS))
            columns = choose_columns(sample, source.name, text=None, doc_id=doc_id)
            text, doc_id = columns.text, columns.id
        yield from read_table_file(
            table,
            source.name,
            Wanted(text, doc_id, keep),
            batch_bytes=batch_bytes,
            max_document_bytes=source.max_document_bytes,
            progress=progress,
        )
