"""Files that are one document each: plain texts, and formats that convert a file to a text."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, BinaryIO

from nearkin.paths import STDIN
from nearkin.stages.documents.formats.format import Format, stream_of
from nearkin.stages.documents.formats.tables import table_begun_by
from nearkin.stages.documents.head import empty_stdin, head_of_stream
from nearkin.stages.documents.source import OpenedSource, Source

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.stages.documents.streams import Progress
    from nearkin.stages.documents.table_columns import RowMask

_BLOCK_BYTES = 8 << 20


class WholeFile(Format):
    r"""The whole file is a document, with its name as the id.

    A subclass is a format of its own; `text_of` converts a file to its text.

    Examples
    --------
    >>> class Transcript(WholeFile):
    ...     name = "transcript"
    ...     hint = listed = in_words = "a transcript, without who speaks"
    ...     suffixes = (".transcript",)
    ...
    ...     def text_of(self, content: str) -> str:
    ...         return "\n".join(line.partition(": ")[2] for line in content.splitlines())
    >>> Transcript().text_of("A: Good morning.\nB: It is raining.")
    'Good morning.\nIt is raining.'
    """

    name = "file"
    hint = "a document per file"
    in_words = "one text document"
    a_file = "a text file"
    holds = "one document"

    def read(self, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield one batch of one document, which is decoded when it has been read completely."""
        from nearkin.stages.documents.legibility import without_illegible
        from nearkin.stages.documents.text_file import TextFile, read_text_file

        source, is_text = opened.source, type(self).text_of is WholeFile.text_of
        stream = stream_of(opened, "utf-8", is_compression_known=False)  # files of a folder were not inspected before
        file = TextFile(
            name=source.name,
            encoding=opened.encoding,
            max_document_bytes=source.max_document_bytes,
            problem_of_table=_problem_of_table,
            is_forced=source.is_forced or not is_text,
            is_pipe=opened.is_pipe,
            text_of=None if is_text else self.text_of,
        )
        if source.path == STDIN and not head_of_stream(stream).data:
            raise empty_stdin()
        for batch in read_text_file(stream, file):
            yield without_illegible(batch, opened.encoding, stream.byte_order_mark())

    def text_of(self, content: str) -> str:
        """Return the text of the document in a file.

        Raises
        ------
        DocumentError
            The file has no document; the message, without its full stop, is the document's problem. Any other error
            than this and ValueError ends the run: make it from the errors of a library, such as ``configparser.Error``.
        """
        return content

    def copy(
        self, source: Source, is_kept: RowMask, raw: BinaryIO, file: IO[bytes], progress: Progress, encoding: str
    ) -> None:
        """Copy the file."""
        shutil.copyfileobj(raw, file, _BLOCK_BYTES)
        progress(source.size_bytes)


def _problem_of_table(first: bytes) -> str | None:
    """Return why a file that begins with these bytes is not text, if it is a table."""
    table = table_begun_by(first)
    return None if table is None else f"not text: {table.a_file}; read it with --format {table.name}"
