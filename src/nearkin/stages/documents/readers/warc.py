"""Web archives, WARC and WET: a document for each page or plain text, by FastWARC.

Pages are extracted by workers. Requests, images, redirects, error pages and other records are omitted, and counted.
This reader is longer than others because workers read ahead, and because FastWARC stops at a body that is not as its
headers say: each body is unpacked on its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

import pyarrow as pa

from nearkin.errors import MissingExtraError
from nearkin.nouns import counted
from nearkin.stages.documents.columns import Columns, ColumnSample, choose_columns, sample_of_records
from nearkin.stages.documents.extraction.plain import decoded
from nearkin.stages.documents.faults import RecordFault, StreamFault
from nearkin.stages.documents.head import Head
from nearkin.stages.documents.members import NO_TEXT
from nearkin.stages.documents.reader import StreamReader
from nearkin.stages.documents.rows import RowList
from nearkin.stages.documents.rules import too_long
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.stages.documents.streams import ByteStream

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

    from nearkin.stages.documents.extraction.pool import ExtractionAnswer, ExtractionPool

_COLUMNS = ("url", "record_id", "date", "text")
_PAGES = ("text/html", "application/xhtml+xml")
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

    def choose_columns(self, sample: ColumnSample, label: str, *, text: str | None, doc_id: str | None) -> Columns:
        """Return the columns; the id is the address unless another one is named."""
        return choose_columns(sample, label, text=text or "text", doc_id=doc_id or "url")

    def read(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents."""
        from nearkin.stages.documents.extraction.pool import ExtractionPool

        rows = RowList(keep=opened.keep, are_characters=True, batch_bytes=opened.batch_bytes)
        n_read, number, n_bytes, fault = 0, 0, 0, None
        ahead = deque[_Document]()
        with ExtractionPool(limits=opened.source.limits) as pool:
            documents = _documents_of(stream, opened, pool)
            while True:
                try:
                    following = next(documents, _AT_END)
                except StreamFault as broken:  # perhaps within the last record
                    broken.line, fault = number + 1, broken
                    if ahead and ahead[-1].number == number:
                        ahead.pop()
                    following = _AT_END
                if following is not None:
                    ahead.append(following)
                    n_bytes += following.n_bytes
                number += following is not _AT_END
                while len(ahead) > 1 and (following is _AT_END or len(ahead) > _AHEAD or n_bytes > _AHEAD_BYTES):
                    document = ahead.popleft()
                    n_bytes -= document.n_bytes
                    text, problem = document.read()
                    values = document.values
                    carried = [values.get(column) for column in opened.carry]
                    keep_value = None if opened.keep is None else values.get(opened.keep.name)
                    doc_id = values.get(opened.source.id or "url")
                    rows.add(document.number, doc_id, text, problem, keep_value, carried=carried)
                    n_read += 1
                    if rows.is_full:
                        yield rows.batch()
                if following is _AT_END:
                    break
        if rows.lines:
            yield rows.batch()
        if fault is not None:
            raise fault
        pages = counted(n_read, "page or text", "pages or texts")
        opened.note(f"{opened.source.name}: {counted(number, 'record')}: {pages} read")


@dataclass(frozen=True, slots=True)
class _Document:
    """A record with the values of the columns, and its text, the fault in it, or the answer of a worker to come."""

    number: int
    values: Mapping[str, str | None]
    content: bytes | RecordFault | ExtractionAnswer
    n_bytes: int = 0

    def read(self) -> tuple[bytes | None, RecordFault | None]:
        if isinstance(self.content, RecordFault):
            return None, self.content
        if isinstance(self.content, bytes):
            return self.content, None
        page = next(self.content.nodes())
        if page.text is None:
            return None, RecordFault(page.origin.exception or "damaged", page.origin.sentence or NO_TEXT)
        return page.text, None


_AT_END = _Document(0, {}, b"")


def _documents_of(stream: ByteStream, opened: OpenedSource, pool: ExtractionPool) -> Iterator[_Document | None]:
    from nearkin.stages.documents.extraction.nodes import ExtractionRequest

    try:
        from fastwarc.warc import ArchiveIterator
    except ImportError as error:
        raise MissingExtraError.of("Reading web archives", "warc") from error
    file = _Bytes(stream)
    try:
        records = ArchiveIterator(cast(BinaryIO, file), auto_decode="none", stream_detect=False)
        for number, record in enumerate(records, 1):
            kind = _kind_of(record)
            if kind is None:
                yield None
                continue
            values = {
                "url": record.headers.get("WARC-Target-URI") or record.record_id,
                "record_id": record.record_id,
                "date": record.headers.get("WARC-Date"),
            }
            try:
                data = _body(record, opened.source.max_document_bytes)
            except RecordFault as fault:
                yield _Document(number, values, fault)
                continue
            charset = record.http_charset if record.is_http else "utf-8"
            if kind in _PAGES:
                page = ExtractionRequest(
                    name="", kind="html", encoding=opened.source.encoding, is_page=True, charset=charset
                )
                yield _Document(number, values, pool.submit(page, data), len(data))
            else:
                text = decoded(data, charset, opened.source.encoding)
                content = text.encode() if text.strip() else RecordFault("empty", NO_TEXT)
                yield _Document(number, values, content, len(data))
        file.check_end()
    except (StreamFault, OSError, ValueError) as error:
        raise StreamFault(f"the web archive is truncated or damaged: {error}") from error


def _kind_of(record: WarcRecord) -> str | None:
    if record.is_http:
        is_sent = record.http_headers is not None and record.http_headers.status_code == 200
        kind = record.http_content_type if is_sent else None
    else:
        kind = record.headers.get("Content-Type") if record.headers.get("WARC-Type") == "conversion" else None
    kind = (kind or "").partition(";")[0].strip().lower()
    return kind if kind == "text/plain" or kind in _PAGES else None


def _body(record: WarcRecord, max_bytes: int) -> bytes:
    if record.content_length > max_bytes:
        raise too_long(record.content_length, max_bytes)
    from fastwarc.warc import WarcRecord

    data = record.reader.read(max_bytes + 1)
    headers = record.http_headers
    names = () if headers is None else ("Content-Encoding", "Transfer-Encoding")
    lines = "".join(f"{name}: {headers[name]}\r\n" for name in names if headers.get(name))
    if not lines:
        return data
    content = f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode() + data
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    try:
        packed = WarcRecord.from_bytes(head.encode() + content + _END)
        packed.parse_http(auto_decode="all")
        unpacked = packed.reader.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        try:
            data.decode()
        except UnicodeDecodeError:
            raise RecordFault("damaged", f"the body is not as its headers say: {error}") from error
        return data
    if len(unpacked) > max_bytes:
        raise too_long(None, max_bytes)
    return unpacked


class _Bytes:
    """File for FastWARC that remembers how it ended: no error passes through its loops."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream, self._end, self._n_bytes = stream, b"", 0
        self._fault: StreamFault | None = None

    def read(self, n_bytes: int) -> bytes:
        try:
            piece = b"" if self._fault else self._stream.read(n_bytes)
        except StreamFault as fault:
            piece, self._fault = b"", fault
        self._end = (self._end + piece)[-len(_END) :]
        self._n_bytes += len(piece)
        return piece

    def tell(self) -> int:
        return self._n_bytes

    def check_end(self) -> None:
        if self._fault is not None or self._end != _END:
            raise self._fault or StreamFault("the last record is not complete")
