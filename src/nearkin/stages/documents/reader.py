"""Reading of a source of any format: its first bytes, what a reader provides, and its documents as Arrow batches."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, ClassVar, cast

import pyarrow as pa

from nearkin.errors import ParameterError, SourceError
from nearkin.nouns import counted
from nearkin.paths import STDIN, why
from nearkin.records import I64, Bool
from nearkin.stages.documents.columns import Columns, ColumnSample, choose_columns
from nearkin.stages.documents.encodings import check_encoding
from nearkin.stages.documents.extraction.kinds import FIRST_BYTES, Foreign, foreign
from nearkin.stages.documents.formats import FORMATS, table_begun_by
from nearkin.stages.documents.rows import IdType, legible, problem_batch
from nearkin.stages.documents.rules import StreamFault, problem_of, truncated_input
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.stages.documents.streams import (
    COMPRESSION_OF_SUFFIX,
    MAGIC_BYTES,
    ByteStream,
    Compression,
    Progress,
    compression_of,
    packed,
    unreported,
)
from nearkin.stages.documents.values import KeepColumn
from nearkin.wording import WarningMessage

if TYPE_CHECKING:
    from nearkin.stages.documents.extraction.messages import ExtractedNode

HEAD_BYTES = 1 << 16
_LONGEST_HEAD_BYTES = 1 << 26
SAMPLE_RECORDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The beginning of a file, decompressed and in UTF-8, with its kind if that is foreign.

    ``compression`` is by the first bytes, whatever the file's name.
    """

    data: bytes
    compression: Compression
    is_all: bool
    table: str | None = None
    kind: Foreign | None = None

    @property
    def lines(self) -> list[bytes]:
        """The complete lines; the only line if none is complete."""
        lines = self.data.split(b"\n")
        if not self.is_all and len(lines) > 1:
            lines.pop()
        return [line.rstrip(b"\r") for line in lines]

    @property
    def first_lines(self) -> list[bytes]:
        """The first lines that are not blank."""
        return [line for line in self.lines if line.strip()][:SAMPLE_RECORDS]


def empty_stdin() -> SourceError:
    """Return the error for an empty pipe."""
    return SourceError("standard input is empty. Check the command before the pipe, or name a file.")


def head_of_stream(stream: ByteStream, compression: Compression = "none", *, is_cut: bool = False) -> Head:
    """Return the beginning of a stream without consuming it, with a complete line unless very long."""
    n_bytes = HEAD_BYTES
    while len(data := stream.peek(n_bytes)) == n_bytes < _LONGEST_HEAD_BYTES and b"\n" not in data:
        n_bytes <<= 5
    is_all = not is_cut and len(data) < n_bytes
    return Head(data=data, compression=compression, is_all=is_all)


def head_of_file(path: str, name: str, encoding: str) -> Head:
    """Return the beginning of a file; SourceError if it cannot be opened, TruncatedInputError if not decompressed."""
    if path == STDIN:
        return head_of_stdin(encoding)
    try:
        with open(path, "rb", buffering=0) as raw:
            if os.path.splitext(path.lower())[1] in COMPRESSION_OF_SUFFIX and not raw.read(1):
                raise truncated_input(name, "the file is empty, not even an empty compressed stream", 0)
            return _head_of(cast("BinaryIO", raw), path, encoding)
    except OSError as error:
        raise unreadable(name, error) from error
    except StreamFault as fault:
        raise truncated_input(name, fault, 0) from fault


def _head_of(raw: BinaryIO, path: str, encoding: str, *, is_cut: bool = False) -> Head:
    raw.seek(0)
    first = raw.read(FIRST_BYTES)
    raw.seek(0)
    compression = compression_of(first)
    if compression != "none":
        first = ByteStream(raw, compression).read(FIRST_BYTES)
        raw.seek(0)
    # decoding may fail with a wrong encoding; names and braces are ASCII in most encodings
    head = head_of_stream(ByteStream(raw, compression, encoding=encoding), compression, is_cut=is_cut)
    table = table_begun_by(first)
    if table is not None:
        return replace(head, table=table.name)
    return replace(head, kind=foreign(first, path) or foreign(head.data, path))


@contextmanager
def opened_text(path: str, encoding: str = "utf-8", progress: Progress = unreported) -> Iterator[ByteStream]:
    """Open the decompressed characters of a file; SourceError if it cannot be opened, or is no text."""
    if os.path.isdir(path):
        raise SourceError(f"{path} is a folder. Name a file.")
    head = head_of_file(path, path, encoding)
    if head.kind is not None and not head.kind.is_text:
        raise SourceError(f"{path}: this is {head.kind.problem}.")
    try:
        opened: BinaryIO = open(path, "rb", buffering=0)  # noqa: SIM115  only the opening is to be refused here
    except OSError as error:
        raise unreadable(path, error) from error
    with opened as raw:
        yield ByteStream(raw, head.compression, encoding=encoding, progress=progress)


def standard_input() -> BinaryIO:
    """Return standard input; SourceError if it is closed."""
    if sys.stdin is None:  # it was closed before Python started
        raise SourceError("standard input is closed. Check how the command was started, or name a file.")
    return sys.stdin.buffer


def head_of_stdin(encoding: str = "utf-8") -> Head:
    """Return the visible beginning of standard input without consuming it; SourceError if it is unreadable."""
    try:
        data = cast("io.BufferedReader", standard_input()).peek(HEAD_BYTES)
    except OSError as error:  # open for writing only
        raise SourceError(
            f"Cannot read standard input: {why(error)}. Check how the command was started, or name a file."
        ) from error
    if not data:
        raise empty_stdin()
    try:  # less may be visible than was written to a pipe, so it is never known to be complete
        return _head_of(io.BytesIO(data), STDIN, encoding, is_cut=True)
    except StreamFault:
        return Head(data=b"", compression=compression_of(data), is_all=False)


def sniffed(head: Head) -> str | None:
    """Return the format that this beginning indicates, unmistakable ones first; None for plain text."""
    if head.table is not None:
        return head.table
    tried = sorted(FORMATS.values(), key=lambda kind: not kind.is_unmistakable)
    return next((kind.name for kind in tried if not kind.magic and kind.reader.begins(head)), None)


def unreadable(name: str, error: OSError) -> SourceError:
    """Return the error for a file that cannot be opened."""
    if error.errno == errno.ESPIPE:
        return SourceError(f"{name} is a pipe, and this input is read twice. Save it to a file first.")
    return SourceError(f"Cannot open {name}: {why(error)}.")


RowMask = Callable[[I64], Bool]
"""Selection of the rows of a source, numbered from 1, that are kept."""


class Reader:
    """Reader of a format; instances have no state."""

    def batches(self, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents."""
        raise NotImplementedError

    def begins(self, head: Head) -> bool:
        """Whether a file with this beginning and an uninformative name is in this format."""
        return False

    def settled(self, head: Head, text: str | None) -> str | None:
        """Return the format of a file with its suffix, if the content may show another one."""
        return None

    def evidence(self, head: Head) -> str:
        """Return the evidence for the format if it is incomplete, for the end of a sentence."""
        return ""

    def problem(self, head: Head) -> str | None:
        """Say why a file cannot be read in this format, and what to do."""
        return None

    def sample(self, source: Source, head: Head) -> ColumnSample | None:
        """Return the columns of the first records, if there are any."""
        return None

    def choose_columns(self, sample: ColumnSample, label: str, *, text: str | None, doc_id: str | None) -> Columns:
        """Return the named columns, or guess them; see `.columns.choose_columns`."""
        return choose_columns(sample, label, text=text, doc_id=doc_id)

    def with_columns(self, source: Source, sample: ColumnSample) -> tuple[Source, Sequence[str]]:
        """Return a source with all columns, as it names them or as they are guessed, and a sentence for each guess."""
        columns = self.choose_columns(sample, source.name, text=source.text, doc_id=source.id)
        delimiter = source.delimiter or sample.delimiter
        return replace(source, text=columns.text, id=columns.id, delimiter=delimiter), columns.guesses

    def copy(self, opened: OpenedSource, is_kept: RowMask, file: IO[bytes]) -> None:
        """Write the kept documents of a source; StreamFault if it breaks off, after everything before."""
        raise NotImplementedError


class StreamReader(Reader):
    """Reader of characters, from the beginning to the end; a file may declare its own encoding."""

    declares_encoding: ClassVar[bool] = False

    def read(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents of a source with known columns; UTF-8 is not checked here."""
        raise NotImplementedError

    def copy_stream(self, opened: OpenedSource, is_kept: RowMask, stream: ByteStream, sink: IO[bytes]) -> None:
        """Write the kept documents of a stream."""
        raise NotImplementedError

    def batches(self, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents; see `Reader`."""
        stream = stream_of(opened, self.encoding(opened.source.encoding))
        batches = self.read(stream, replace(opened, source=self.seen_columns(opened.source, stream)))
        yield from batches if self.declares_encoding else legible(batches, stream, opened.source.encoding)

    def encoding(self, encoding: str) -> str:
        """Return the encoding in which the whole stream is decoded."""
        return "utf-8" if self.declares_encoding else encoding

    def seen_columns(self, source: Source, stream: ByteStream) -> Source:
        """Return the source, with unknown columns guessed, if its first bytes are readable."""
        head = head_of_stream(stream)
        sample = self.sample(source, head) if FORMATS[source.format].has_columns else None
        if sample is not None and source.text is None:
            return self.with_columns(source, sample)[0]
        return source if sample is None else replace(source, delimiter=source.delimiter or sample.delimiter)

    def copy(self, opened: OpenedSource, is_kept: RowMask, file: IO[bytes]) -> None:
        """Write the kept documents; see `Reader`."""
        stream = stream_of(opened, opened.source.encoding)
        with packed(file, stream.compression) as sink:
            sink.write(stream.byte_order_mark())
            self.copy_stream(opened, is_kept, stream, sink)


def stream_of(opened: OpenedSource, encoding: str) -> ByteStream:
    """Return a source's decompressed bytes, converted from an encoding to UTF-8."""
    source, raw, compression = opened.source, opened.raw, opened.source.compression
    if compression == "none" and source.path != STDIN:  # files of a folder, and of a finished run, were not inspected
        compression = compression_of(raw.read(MAGIC_BYTES))
        raw.seek(0)
    stream = ByteStream(
        raw,
        compression,
        encoding=encoding,
        progress=opened.progress,
        max_line_bytes=source.max_document_bytes,
    )
    if source.path == STDIN and not stream.peek(1):
        raise empty_stdin()
    return stream


def read_batches(
    source: Source,
    *,
    batch_bytes: int = 8 << 20,
    keep_column: str | None = None,
    progress: Progress = unreported,
    note: Callable[[str], None] = unreported,
    content: bytes | None = None,
    nodes: Iterable[ExtractedNode] | None = None,
    carry: Sequence[str] = (),
    damage_is_row: bool = True,
) -> Iterator[pa.RecordBatch]:
    """Yield the documents of a source in batches.

    An unreadable record becomes a row with a null text and a ``problem``; so does a text that is not UTF-8, or longer
    than the source allows.

    The ids of a source are int64 while all are integers; from the first batch with another id on they are strings.

    Parameters
    ----------
    batch_bytes
        Approximate number of decompressed bytes per batch. A longer record has a batch of its own. Memory is bounded by
        a few times this, and by a few times the longest document that the source allows.
    keep_column
        Its values become ``keep_value``: numbers, true as 1, dates and times as microseconds since 1970, others null.
    damage_is_row
        Whether damage is an error, or a row if the source accepts damage; otherwise a `StreamFault` is raised.

    Yields
    ------
    RecordBatch
        With `records.DOCUMENTS_SCHEMA`; ``doc_id`` may be int64.
    """
    source = replace(source, encoding=check_encoding(source.encoding))
    if batch_bytes < 1:
        raise ParameterError.of("batch_bytes", "an int >= 1", batch_bytes)
    with _opened(source) if content is None else io.BytesIO(content) as raw:
        opened = OpenedSource(
            source=source,
            raw=raw,
            batch_bytes=batch_bytes,
            keep=None if keep_column is None else KeepColumn(keep_column),
            progress=progress,
            note=note,
            carry=carry,
            nodes=nodes,
        )
        batches: Iterator[pa.RecordBatch] = FORMATS[source.format].reader.batches(opened)
        if damage_is_row:
            batches = _until_damage(source, batches, note)
        yield from batches


def _opened(source: Source) -> AbstractContextManager[BinaryIO]:
    if source.path == STDIN:
        return nullcontext(standard_input())
    try:
        return Path(source.path).open("rb", buffering=0)
    except OSError as error:
        raise unreadable(source.name, error) from error


def _until_damage(
    source: Source, batches: Iterator[pa.RecordBatch], note: Callable[[str], None]
) -> Iterator[pa.RecordBatch]:
    n_documents = 0
    try:
        for batch in batches:
            yield batch
            n_documents += len(batch)
    except StreamFault as fault:
        if not source.takes_damaged:
            raise truncated_input(source.name, fault, n_documents) from fault
        note(
            WarningMessage(
                f"{source.name}: {fault}. Only what comes before is used: {counted(n_documents, 'document')}"
            )
        )
        problem = problem_of("truncated", str(fault))
        yield problem_batch(IdType(), fault.line or n_documents + 1, problem)
