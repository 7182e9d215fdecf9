"""Files that are one document each: plain texts, and formats that convert a file to a text."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import IO, BinaryIO, cast

import pyarrow as pa

from nearkin.errors import DocumentError
from nearkin.paths import STDIN
from nearkin.stages.documents import encodings
from nearkin.stages.documents.extraction.kinds import foreign
from nearkin.stages.documents.formats import table_begun_by
from nearkin.stages.documents.reader import Reader, RowMask, stream_of
from nearkin.stages.documents.rows import Row, RowList, without_illegible
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, RecordFault, StreamFault, too_long
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.stages.documents.streams import ByteStream

_BLOCK_BYTES, _PIECE_BYTES, _MIN_PIECE_BYTES = 8 << 20, 1 << 20, 1 << 14


class WholeFile(Reader):
    r"""The whole file is a document, with its name as the id.

    Examples
    --------
    >>> class Transcript(WholeFile):
    ...     def text_of(self, content: str) -> str:
    ...         return "\n".join(line.partition(": ")[2] for line in content.splitlines())
    >>> Transcript().text_of("A: Good morning.\nB: It is raining.")
    'Good morning.\nIt is raining.'
    """

    def batches(self, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield one batch of one document; a file that breaks off, is too long or is no plain text is a problem."""
        name, mark, rows = opened.source.name, b"", RowList()
        try:
            text, mark = whole_text(opened, takes_markup=opened.source.is_forced or not self._is_text)
            rows.add(Row(1, name, text if self._is_text else self._converted(text)))
        except RecordFault as fault:
            rows.add(Row(1, name, problem=fault))
        yield without_illegible(rows.batch(), opened.source.encoding, mark)

    def _converted(self, data: bytes) -> bytes:
        try:
            return self.text_of(data.decode()).encode()
        except UnicodeDecodeError:
            return data
        except (ValueError, DocumentError) as error:
            raise RecordFault("damaged", str(error).rstrip(".")) from error

    @property
    def _is_text(self) -> bool:
        return type(self).text_of is WholeFile.text_of

    def text_of(self, content: str) -> str:
        """Return the text of the document in a file."""
        return content

    def copy(self, opened: OpenedSource, is_kept: RowMask, file: IO[bytes]) -> None:
        """Copy the file."""
        shutil.copyfileobj(opened.raw, file, _BLOCK_BYTES)
        opened.progress(opened.source.size_bytes)


def text_of_file(path: str, encoding: str, max_bytes: int = MAX_DOCUMENT_BYTES) -> bytes:
    """Return a text file in UTF-8; RecordFault if it is no text, OSError if it cannot be opened."""
    with open(path, "rb", buffering=0) as raw:
        size_bytes = os.fstat(raw.fileno()).st_size
        source = Source(
            path=path, name=path, format="file", size_bytes=size_bytes, max_document_bytes=max_bytes, encoding=encoding
        )
        text, mark = whole_text(OpenedSource(source=source, raw=cast("BinaryIO", raw)), takes_markup=True)
    if (fault := encodings.why_not_utf8(text, encoding, mark)) is not None:
        raise fault
    return text


def whole_text(opened: OpenedSource, *, takes_markup: bool) -> tuple[bytes, bytes]:
    """Return a text file in UTF-8, and its byte order mark; bytes that are no characters stay."""
    source = opened.source
    stream = stream_of(opened, "utf-8")
    mark = stream.byte_order_mark()
    data = _held(stream, source, takes_markup=takes_markup)
    if mark:
        if (fault := encodings.why_not_utf8(data, dict(encodings.BYTE_ORDER_MARKS)[mark], mark)) is not None:
            raise fault
        return data, mark
    encoding = encodings.with_byte_order(opened.source.encoding)
    if not encoding.startswith(encodings.WIDE) and (advice := encodings.looks_like_utf16(data)) is not None:
        raise RecordFault("wrong encoding", advice)
    if not encodings.is_utf8(encoding) and not encodings.is_taken_as_utf8(data, encoding, is_all=True):
        data = encodings.into_utf8(data, encoding)
    return data, mark


def _held(stream: ByteStream, source: Source, *, takes_markup: bool) -> bytes:
    pieces: list[bytes] = []
    n_bytes, most = 0, source.max_document_bytes
    piece_bytes = min(max(source.size_bytes + 1, _MIN_PIECE_BYTES), _PIECE_BYTES)
    try:
        while piece := stream.read(piece_bytes):
            if not n_bytes:
                _check_begin(piece, source, takes_markup=takes_markup)
            n_bytes += len(piece)
            pieces += [piece] if n_bytes <= most else []
            if n_bytes > most and source.path == STDIN:  # it may be endless
                break
    except StreamFault as fault:
        raise RecordFault("damaged", str(fault)) from fault
    if n_bytes > most:
        raise too_long(None if source.path == STDIN else n_bytes, most)
    return b"".join(pieces)


def _check_begin(first: bytes, source: Source, *, takes_markup: bool) -> None:
    if (table := table_begun_by(first)) is not None:
        raise RecordFault("not text", f"{table.a_file}; read it with --format {table.name}")
    kind = foreign(first, source.name)
    if kind is not None and not (kind.is_text and takes_markup):
        raise RecordFault("unsupported" if kind.is_text else "not text", kind.problem)
