"""Interface of a document format: names, recognition, reading, and copying without dropped documents.

Help texts list the formats, so the modules of this folder import no array library before a file is read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, BinaryIO, ClassVar, Literal, Protocol, runtime_checkable

from nearkin.errors import SourceError
from nearkin.paths import STDIN
from nearkin.stages.documents.head import Head, empty_stdin, head_of_stream
from nearkin.stages.documents.source import OpenedSource, Source

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.stages.documents.column_samples import ColumnSample
    from nearkin.stages.documents.columns import Columns
    from nearkin.stages.documents.streams import ByteStream, Progress
    from nearkin.stages.documents.table_columns import RowMask


Holding = Literal["records", "one document", "documents"]


class Format(ABC):
    """A format of documents; instances have no state.

    Attributes
    ----------
    name : str
        Name in ``--format``.
    hint : str
        Additional explanation in the help text of ``--format``.
    listed : str
        Entry in the help text of input files; empty if another entry includes it.
    in_words : str
        Name in a sentence.
    a_file : str
        Phrase for a file of the format, with the article.
    suffixes : tuple of str
        File name suffixes, in lower case, each with its dot.
    has_columns : bool
        Whether the text and the id are in named columns.
    has_types : bool
        Whether values may be numbers instead of strings.
    is_settled : bool
        Whether the suffix determines the format; otherwise `settled` inspects the content.
    is_unmistakable : bool
        Whether `is_begun_by` is conclusive: it is tried first, and such a file is not refused as foreign.
    holds : {"records", "one document", "documents"}
        Contents of a file: records or lines; a single document; or several nested documents, such as a mail with
        attachments. A folder of the latter two is a folder of documents, not of tables.
    has_ids : bool
        Whether records can have ids.
    """

    name: ClassVar[str]
    hint: ClassVar[str] = ""
    listed: ClassVar[str] = ""
    in_words: ClassVar[str]
    a_file: ClassVar[str] = "a file"
    suffixes: ClassVar[tuple[str, ...]] = ()
    has_columns: ClassVar[bool] = False
    has_types: ClassVar[bool] = False
    is_settled: ClassVar[bool] = True
    is_unmistakable: ClassVar[bool] = False
    holds: ClassVar[Holding] = "records"
    has_ids: ClassVar[bool] = True

    def is_begun_by(self, head: Head) -> bool:
        """Whether a file with this beginning and an uninformative name is in this format."""
        return False

    def settled(self, head: Head, text: str | None) -> str:
        """Return the format's name for a file with its suffix; ``text`` is the named text column."""
        return self.name

    def evidence(self, head: Head) -> str:
        """Return the evidence for the format if it is incomplete, to be appended to a sentence."""
        return ""

    def problem(self, head: Head) -> str | None:
        """Return a sentence that says why a file cannot be read in this format, and what to do; or None."""
        return None

    def delimiter(self, head: Head, *named: str | None) -> str | None:
        """Return the column separator if it varies between files; ``named`` are the named columns."""
        return None

    def header(self, head: Head, delimiter: str | None) -> Sequence[str]:
        """Return the names of the columns as the first line has them, so that names can repeat; empty without one."""
        return ()

    def records(self, head: Head, delimiter: str | None) -> Sequence[dict[str, object]]:
        """Return the first records; empty if the format has no columns, or none are visible."""
        return ()

    def is_cut(self, head: Head) -> bool:
        """Whether even the first record is incomplete, so that columns may follow."""
        return False

    def sample(self, head: Head, delimiter: str | None) -> ColumnSample | None:
        """Return the columns of the first records; None if there are none."""
        from nearkin.stages.documents.column_samples import sample_of_records

        records = self.records(head, delimiter)
        return sample_of_records(records, is_partial=self.is_cut(head)) if records else None

    def choose_columns(self, sample: ColumnSample, label: str, *, text: str | None, doc_id: str | None) -> Columns:
        """Return the named columns, or guess them; see `.columns.choose_columns`."""
        from nearkin.stages.documents.columns import choose_columns

        return choose_columns(sample, label, text=text, doc_id=doc_id)

    @abstractmethod
    def read(self, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents; see `.reader.batches_of`."""


@runtime_checkable
class Copied(Protocol):
    """A format whose kept documents are copied byte for byte, or row for row; those of others become JSON Lines."""

    def copy(
        self, source: Source, is_kept: RowMask, raw: BinaryIO, file: IO[bytes], progress: Progress, encoding: str
    ) -> None:
        """Write the kept documents of a source.

        Raises
        ------
        StreamFault
            The source breaks off; the copy of everything before is valid.
        """


class StreamFormat(Format):
    """A format that is read as characters, from the beginning to the end.

    Attributes
    ----------
    declares_encoding : bool
        Whether a file declares its own character encoding.
    """

    declares_encoding: ClassVar[bool] = False

    @abstractmethod
    def batches(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents of a source with known columns; UTF-8 is not checked here."""

    def read(self, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents; see `Format`."""
        from nearkin.stages.documents.legibility import legible

        stream = stream_of(opened, "utf-8" if self.declares_encoding else opened.encoding)
        opened = replace(opened, source=self._with_columns(opened, stream))
        batches = self.batches(stream, opened)
        yield from batches if self.declares_encoding else legible(batches, stream, opened.encoding)

    def _with_columns(self, opened: OpenedSource, stream: ByteStream) -> Source:
        """Return the source, with unknown columns guessed, after a check that its first bytes are readable."""
        from nearkin.stages.documents.encodings import looks_like_utf16

        source, keep = opened.source, opened.keep
        head = head_of_stream(stream)
        if (advice := looks_like_utf16(head.data)) is not None:
            raise SourceError(f"{source.name}: {advice}.")
        if source.path == STDIN and not head.data:
            raise empty_stdin()
        if source.delimiter is None:
            source = replace(source, delimiter=self.delimiter(head, source.text, source.id))
        if source.text is None and self.has_columns:
            sample = self.sample(head, source.delimiter)
            if sample is not None:
                columns = self.choose_columns(sample, source.name, text=source.text, doc_id=source.id)
                source = replace(source, text=columns.text, id=columns.id)
                opened.check(source, sample.names)
        if keep is not None and not self.is_cut(head):
            from nearkin.stages.documents.keeping import check_keep_records

            records = self.records(head, source.delimiter)
            check_keep_records(source.name, keep.name, records, is_text=not self.has_types)
        return source


class CopiedStream(StreamFormat):
    """Characters of which some lines or records are copied; see `Copied`."""

    @abstractmethod
    def copy_stream(self, source: Source, is_kept: RowMask, stream: ByteStream, sink: IO[bytes]) -> None:
        """Write the kept documents of a stream."""

    def copy(
        self, source: Source, is_kept: RowMask, raw: BinaryIO, file: IO[bytes], progress: Progress, encoding: str
    ) -> None:
        """Write the kept documents; see `Copied`."""
        from nearkin.stages.documents.packing import packed
        from nearkin.stages.documents.streams import ByteStream, StreamFault

        stream = ByteStream(
            raw,
            source.compression,
            encoding=encoding,
            progress=progress,
            max_line_bytes=source.max_document_bytes,
        )
        fault: StreamFault | None = None
        with packed(file, source.compression) as sink:
            try:
                sink.write(stream.byte_order_mark())
                self.copy_stream(source, is_kept, stream, sink)
            except StreamFault as broken:
                fault = broken
        if fault is not None:
            raise fault


def stream_of(opened: OpenedSource, encoding: str, *, is_compression_known: bool = True) -> ByteStream:
    """Return a source's decompressed bytes, converted from an encoding to UTF-8."""
    from nearkin.stages.documents.compression import MAGIC_BYTES, compression_of
    from nearkin.stages.documents.streams import ByteStream

    source, raw = opened.source, opened.raw
    compression = source.compression
    if not is_compression_known and compression == "none" and not opened.is_pipe:
        compression = compression_of(raw.read(MAGIC_BYTES))
        raw.seek(0)
    return ByteStream(
        raw,
        compression,
        encoding=encoding,
        progress=opened.progress,
        max_line_bytes=source.max_document_bytes,
    )
