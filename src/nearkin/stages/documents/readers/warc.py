"""Web archives, WARC and WET: a document for each page or plain text, by FastWARC.

Workers read ahead, and each body is unpacked on its own, because FastWARC stops at a body that is not as its headers
say.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, cast

import pyarrow as pa

from nearkin.errors import MissingExtraError
from nearkin.nouns import counted
from nearkin.stages.documents.columns import ColumnSample, sample_of_records
from nearkin.stages.documents.encodings import looks_binary
from nearkin.stages.documents.extraction.messages import ExtractionRequest
from nearkin.stages.documents.extraction.plain import decoded
from nearkin.stages.documents.members import NO_TEXT
from nearkin.stages.documents.reader import Head, StreamReader
from nearkin.stages.documents.rows import Row, RowList
from nearkin.stages.documents.rules import RecordFault, StreamFault, too_long
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.stages.documents.streams import ByteStream

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

    from nearkin.stages.documents.extraction.pool import ExtractionAnswer, ExtractionPool

_COLUMNS = ("url", "record_id", "date", "text")
_PAGES = ("text/html", "application/xhtml+xml")
_ENCODED = ("Content-Encoding", "Transfer-Encoding")
_AHEAD, _AHEAD_BYTES = 128, 64 << 20
"""Pages that workers may be reading, and their size together."""
_END = b"\r\n\r\n"
"""Every record ends with two empty lines, so a file that ends otherwise was cut off."""


class Warc(StreamReader):
    """Records of a web archive; the columns are the address, the record's own id, the date and the text."""

    declares_encoding = True

    def begins(self, head: Head) -> bool:
        """Whether a file begins with the version of a record."""
        return head.data.startswith(b"WARC/")

    def sample(self, source: Source, head: Head) -> ColumnSample | None:
        """Return the columns, which are the same in every archive."""
        return sample_of_records([dict.fromkeys(_COLUMNS, "")], header=_COLUMNS)

    def read(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents."""
        from nearkin.stages.documents.extraction.pool import ExtractionPool  # texts need no workers

        rows = RowList(keep=opened.keep, are_characters=True, batch_bytes=opened.batch_bytes)
        with ExtractionPool(limits=opened.source.limits) as pool:
            documents = _ahead(_documents_of(stream, opened, pool))
            yield from rows.batches(_finished(row, answer) for row, answer, _ in documents)


_Document = tuple[Row, "ExtractionAnswer | None", int]
"""A record as a row, the answer of a worker to come with its text, and the size of the page."""


def _finished(row: Row, answer: ExtractionAnswer | None) -> Row:
    if answer is None:
        return row
    page = next(answer.nodes())
    problem = RecordFault(page.origin.exception or "damaged", page.origin.sentence or NO_TEXT)
    return row._replace(problem=problem) if page.text is None else row._replace(text=page.text)


def _ahead(documents: Iterator[_Document]) -> Iterator[_Document]:
    """Yield documents some time after they were submitted to workers; a StreamFault after all before it."""
    waiting = deque[_Document]()
    try:
        for document in documents:
            waiting.append(document)
            while len(waiting) > _AHEAD or sum(n_bytes for *_, n_bytes in waiting) > _AHEAD_BYTES:
                yield waiting.popleft()
    except StreamFault:
        yield from waiting
        raise
    yield from waiting


def _documents_of(stream: ByteStream, opened: OpenedSource, pool: ExtractionPool) -> Iterator[_Document]:
    """Yield the pages and texts, each once the record after it shows that it is whole."""
    try:
        from fastwarc.warc import ArchiveIterator
    except ImportError as error:
        raise MissingExtraError.of("Reading web archives", "warc") from error
    encoding, keep = opened.source.encoding, None if opened.keep is None else opened.keep.name
    columns = (opened.source.id or "url", keep or "", *opened.carry)
    file, number, n_read = _Bytes(stream), 0, 0
    last: _Document | None = None
    try:
        for number, record in enumerate(
            ArchiveIterator(cast("BinaryIO", file), auto_decode="none", stream_detect=False), 1
        ):
            if last is not None:
                yield last
            kind, last = _kind_of(record), None
            if kind is None:
                continue
            n_read += 1
            url, date = (record.headers.get(name) for name in ("WARC-Target-URI", "WARC-Date"))
            values = {"url": url or record.record_id, "record_id": record.record_id, "date": date}
            doc_id, keep_value, *carried = map(values.get, columns)
            row = Row(number, doc_id, keep_value=keep_value, carried=carried)
            charset = record.http_charset if record.is_http else "utf-8"
            try:
                data = _body(record, opened.source.max_document_bytes)
                if kind in _PAGES:
                    page = ExtractionRequest(name="", kind="html", encoding=encoding, is_page=True, charset=charset)
                    last = row, pool.submit(page, data), len(data)
                else:
                    text = decoded(data, charset, encoding)
                    if not text.strip():
                        raise RecordFault("empty", NO_TEXT)
                    last = row._replace(text=text.encode()), None, len(data)
            except RecordFault as fault:
                last = row._replace(problem=fault), None, 0
        if file.fault is not None or file.end != _END:
            raise file.fault or StreamFault("the last record is not complete")
    except (StreamFault, OSError, ValueError) as error:
        raise StreamFault(f"the web archive is truncated or damaged: {error}", number + 1) from error
    if last is not None:
        yield last
    pages = counted(n_read, "page or text", "pages or texts")
    opened.note(f"{opened.source.name}: {counted(number, 'record')}: {pages} read")


def _kind_of(record: WarcRecord) -> str | None:
    is_text, headers = record.headers.get("WARC-Type") == "conversion", record.http_headers
    kind = record.headers.get("Content-Type") if is_text and not record.is_http else None
    if record.is_http and headers is not None and headers.status_code == 200:
        kind = record.http_content_type
    kind = (kind or "").partition(";")[0].strip().lower()
    return kind if kind == "text/plain" or kind in _PAGES else None


def _body(record: WarcRecord, max_bytes: int) -> bytes:
    if record.content_length > max_bytes:
        raise too_long(record.content_length, max_bytes)
    data, headers = record.reader.read(max_bytes + 1), record.http_headers
    names = () if headers is None else _ENCODED
    lines = "".join(f"{name}: {headers[name]}\r\n" for name in names if headers.get(name))
    if not lines:
        return data
    from fastwarc.warc import WarcRecord

    content = f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode() + data
    head = f"WARC/1.0\r\nContent-Type: application/http\r\nContent-Length: {len(content)}\r\n\r\n"
    try:
        packed = WarcRecord.from_bytes(head.encode() + content + _END)
        packed.parse_http(auto_decode="all")
        data = packed.reader.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        if looks_binary(data):
            raise RecordFault("damaged", f"the body is not as its headers say: {error}") from error
    if len(data) > max_bytes:
        raise too_long(None, max_bytes)
    return data


class _Bytes:
    """File for FastWARC that remembers how it ended: no error passes through its loops."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream, self._n_bytes, self.end = stream, 0, b""
        self.fault: StreamFault | None = None

    def read(self, n_bytes: int) -> bytes:
        try:
            piece = b"" if self.fault else self._stream.read(n_bytes)
        except StreamFault as fault:
            piece, self.fault = b"", fault
        self.end = (self.end + piece)[-len(_END) :]
        self._n_bytes += len(piece)
        return piece

    def tell(self) -> int:
        return self._n_bytes
