"""Files that are one text each: what is in no other format."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, BinaryIO

from nearkin.stages.documents.formats.format import Format, stream_of
from nearkin.stages.documents.formats.tables import table_begun_by
from nearkin.stages.documents.head import empty_stdin, head_of_stream
from nearkin.stages.documents.source import STDIN, OpenedSource, Source

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.stages.documents.streams import Progress
    from nearkin.stages.documents.table_columns import RowMask

_BLOCK_BYTES = 8 << 20


class WholeFile(Format):
    """The whole file is a text, and its name is the id."""

    name = "file"
    hint = "a document per file"
    in_words = "one text document"
    holds = "one document"

    def read(self, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """One batch of one document; it is decoded when all of it is there."""
        from nearkin.stages.documents.legibility import without_illegible
        from nearkin.stages.documents.text_file import TextFile, read_text_file

        source = opened.source
        stream = stream_of(opened, "utf-8", is_compression_known=False)  # nobody looked at a file of a folder yet
        file = TextFile(
            name=source.name,
            encoding=opened.encoding,
            max_document_bytes=source.max_document_bytes,
            problem_of_table=_problem_of_table,
            is_forced=source.is_forced,
            is_pipe=opened.is_pipe,
        )
        if source.path == STDIN and not head_of_stream(stream).data:
            raise empty_stdin()
        for batch in read_text_file(stream, file):
            yield without_illegible(batch, opened.encoding)

    def copy(
        self, source: Source, is_kept: RowMask, raw: BinaryIO, file: IO[bytes], progress: Progress, encoding: str
    ) -> None:
        """Copy the file."""
        shutil.copyfileobj(raw, file, _BLOCK_BYTES)
        progress(source.size_bytes)


def _problem_of_table(first: bytes) -> str | None:
    """Why a file that begins so is no text, where it is a table."""
    table = table_begun_by(first)
    return None if table is None else f"{table.a_file}, not text; read it with --format {table.name}"
