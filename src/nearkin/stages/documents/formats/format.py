"""What a format of documents is: its names, how it is recognised, read, and copied without what is dropped.

Help texts list the formats, so the modules of this folder load no array library before a file is read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, BinaryIO, ClassVar, Literal

from nearkin.errors import SourceError
from nearkin.stages.documents.head import Head, empty_stdin, head_of_stream
from nearkin.stages.documents.source import STDIN, OpenedSource, Source

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.stages.documents.columns import ColumnSample
    from nearkin.stages.documents.streams import ByteStream, Progress
    from nearkin.stages.documents.table_columns import RowMask


Holding = Literal["records", "one document", "documents"]


class Format(ABC):
    """A format of documents; its objects have no state.

    Attributes
    ----------
    name : str
        What ``--format`` calls it.
    hint : str
        What the name does not say, for the help text of ``--format``.
    listed : str
        As the help text of input files lists it; empty where another entry there stands for it.
    in_words : str
        As it is written in a sentence.
    suffixes : tuple of str
        Of names of files in this format, in small letters, each with its dot.
    kept_suffix : str
        Of what is kept of standard input.
    has_columns : bool
        Whether the text and the id are in columns that have names.
    has_types : bool
        Whether a value may be a number, rather than the characters of one.
    is_settled : bool
        Whether the suffix tells the format; else `settled` looks at the content.
    is_unmistakable : bool
        Whether `is_begun_by` tells it from all else: it is tried first, and such a file is not refused as foreign.
    holds : {"records", "one document", "documents"}
        What is in a file: records or lines; a single document; or some documents, inside of one another, such as a mail
        with attachments. A folder of the latter two is a folder of documents, not of tables.
    is_pipeable : bool
        Whether it can be read from a pipe.
    """

    name: ClassVar[str]
    hint: ClassVar[str] = ""
    listed: ClassVar[str] = ""
    in_words: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = ()
    kept_suffix: ClassVar[str] = ".txt"
    has_columns: ClassVar[bool] = False
    has_types: ClassVar[bool] = False
    is_settled: ClassVar[bool] = True
    is_unmistakable: ClassVar[bool] = False
    holds: ClassVar[Holding] = "records"
    is_pipeable: ClassVar[bool] = True

    def is_begun_by(self, head: Head) -> bool:
        """Whether a file whose name tells nothing, and that begins so, is in this format."""
        return False

    def settled(self, head: Head, text: str | None) -> str:
        """The name of the format of a file that has the suffix of this one; ``text`` is the column that was named."""
        return self.name

    def evidence(self, head: Head) -> str:
        """What of the beginning tells the format, where not all of it does; to be put after a sentence."""
        return ""

    def problem(self, head: Head) -> str | None:
        """A sentence on why a file that begins so cannot be read in this format, and what to do."""
        return None

    def delimiter(self, head: Head, *named: str | None) -> str | None:
        """What separates columns, where that differs from file to file; ``named`` are columns that were named."""
        return None

    def records(self, head: Head, delimiter: str | None) -> Sequence[dict[str, object]]:
        """The first records; empty where the format has no columns, or nothing is to be seen."""
        return ()

    def is_cut(self, head: Head) -> bool:
        """Whether not even the first record is whole: columns may come later."""
        return False

    def sample(self, head: Head, delimiter: str | None) -> ColumnSample | None:
        """The columns of the first records; None where there are none."""
        from nearkin.stages.documents.columns import sample_of_records

        records = self.records(head, delimiter)
        return sample_of_records(records, is_partial=self.is_cut(head)) if records else None

    @abstractmethod
    def read(self, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Batches of documents; see `.reader.batches_of`."""

    @abstractmethod
    def copy(
        self, source: Source, is_kept: RowMask, raw: BinaryIO, file: IO[bytes], progress: Progress, encoding: str
    ) -> None:
        """Write the kept documents of a source; see `.kept.write_kept`.

        Raises
        ------
        StreamFault
            The source breaks off; the copy of what comes before is whole.
        """


class StreamFormat(Format):
    """A format that is read as characters, from the beginning to the end.

    Attributes
    ----------
    declares_encoding : bool
        Whether a file says itself how its characters are encoded.
    """

    declares_encoding: ClassVar[bool] = False

    @abstractmethod
    def batches(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Batches of documents, of a source whose columns are known; whether texts are UTF-8 is not checked here."""

    @abstractmethod
    def copy_stream(self, source: Source, is_kept: RowMask, stream: ByteStream, sink: IO[bytes]) -> None:
        """Write the kept documents of a stream."""

    def read(self, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """See `Format`."""
        from nearkin.stages.documents.legibility import without_illegible

        stream = stream_of(opened, "utf-8" if self.declares_encoding else opened.encoding)
        opened = replace(opened, source=self._with_columns(opened, stream))
        for batch in self.batches(stream, opened):
            yield batch if self.declares_encoding else without_illegible(batch, opened.encoding)

    def copy(
        self, source: Source, is_kept: RowMask, raw: BinaryIO, file: IO[bytes], progress: Progress, encoding: str
    ) -> None:
        """See `Format`."""
        from nearkin.stages.documents.packing import packed
        from nearkin.stages.documents.streams import ByteStream, StreamFault

        stream = ByteStream(
            raw,
            source.compression,
            encoding="utf-8" if self.declares_encoding else encoding,
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

    def _with_columns(self, opened: OpenedSource, stream: ByteStream) -> Source:
        """The source with its columns guessed where nobody could look before, its first bytes seen to be readable."""
        from nearkin.stages.documents.columns import choose_columns
        from nearkin.stages.documents.encodings import looks_like_utf16
        from nearkin.stages.documents.keeping import check_keep_records

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
                columns = choose_columns(sample, source.name, text=source.text, doc_id=source.id)
                source = replace(source, text=columns.text, id=columns.id)
        if keep is not None and not self.is_cut(head):
            records = self.records(head, source.delimiter)
            check_keep_records(source.name, keep.name, records, is_text=not self.has_types)
        return source


def stream_of(opened: OpenedSource, encoding: str, *, is_compression_known: bool = True) -> ByteStream:
    """The unpacked bytes of a source in UTF-8, out of an encoding."""
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
        is_pipe=opened.is_pipe,
    )
