"""Web archives, WARC and WET: a document for each page or plain text, by FastWARC.

Workers read ahead, and each body is unpacked on its own, because FastWARC stops at a body that is not as its headers
say.
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
        ahead, n_bytes, is_over, fault = deque[_Document](), 0, False, None
        with ExtractionPool(limits=opened.source.limits) as pool:
            documents = _documents_of(stream, opened, pool)
            while not is_over or ahead:
                try:
                    following = next(documents, None)
                except StreamFault as broken:
                    following, fault = None, broken
                is_over |= following is None
                if following is not None:
                    ahead.append(following)
                    n_bytes += following.n_bytes
                while ahead and (is_over or len(ahead) > _AHEAD or n_bytes > _AHEAD_BYTES):
                    document = ahead.popleft()
                    n_bytes -= document.n_bytes
                    document.add_to(rows, opened)
                    if rows.is_full:
                        yield rows.batch()
        if rows.rows:
            yield rows.batch()
        if fault is not None:
            raise fault


@dataclass(frozen=True, slots=True)
class _Document:
    """A record with the values of the columns, and its text, the fault in it, or the answer of a worker to come."""

    number: int
    values: Mapping[str, str | None]
    content: bytes | RecordFault | ExtractionAnswer
    n_bytes: int = 0

    def add_to(self, rows: RowList, opened: OpenedSource) -> None:
        text, problem = (self.content, None) if isinstance(self.content, bytes) else (None, self.content)
        if not isinstance(problem, RecordFault | None):
            page = next(problem.nodes())
            origin, text, problem = page.origin, page.text, None
            if text is None:
                problem = RecordFault(origin.exception or "damaged", origin.sentence or NO_TEXT)
        doc_id, *carried = map(self.values.get, (opened.source.id or "url", *opened.carry))
        keep_value = None if opened.keep is None else self.values.get(opened.keep.name)
        rows.add(self.number, doc_id, text, problem, keep_value, carried=carried)


def _documents_of(stream: ByteStream, opened: OpenedSource, pool: ExtractionPool) -> Iterator[_Document]:
    """Yield the pages and texts, each once the record after it shows that it is whole."""
    from nearkin.stages.documents.extraction.nodes import ExtractionRequest

    try:
        from fastwarc.warc import ArchiveIterator
    except ImportError as error:
        raise MissingExtraError.of("Reading web archives", "warc") from error
    file, number, n_read, last = _Bytes(stream), 0, 0, None
    try:
        records = ArchiveIterator(cast(BinaryIO, file), auto_decode="none", stream_detect=False)
        for number, record in enumerate(records, 1):
            if last is not None:
                yield last
            kind, last = _kind_of(record), None
            if kind is None:
                continue
            n_read += 1
            values = {
                "url": record.headers.get("WARC-Target-URI") or record.record_id,
                "record_id": record.record_id,
                "date": record.headers.get("WARC-Date"),
            }
            try:
                data = _body(record, opened.source.max_document_bytes)
            except RecordFault as fault:
                last = _Document(number, values, fault)
                continue
            charset = record.http_charset if record.is_http else "utf-8"
            if kind in _PAGES:
                page = ExtractionRequest(
                    name="", kind="html", encoding=opened.source.encoding, is_page=True, charset=charset
                )
                last = _Document(number, values, pool.submit(page, data), len(data))
            else:
                text = decoded(data, charset, opened.source.encoding)
                content = text.encode() if text.strip() else RecordFault("empty", NO_TEXT)
                last = _Document(number, values, content, len(data))
        file.check_end()
    except (StreamFault, OSError, ValueError) as error:
        raise StreamFault(f"the web archive is truncated or damaged: {error}", number + 1) from error
    if last is not None:
        yield last
    pages = counted(n_read, "page or text", "pages or texts")
    opened.note(f"{opened.source.name}: {counted(number, 'record')}: {pages} read")


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
