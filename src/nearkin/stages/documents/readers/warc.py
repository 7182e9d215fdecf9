"""Web archives, WARC and WET: a document for each page or plain text, by FastWARC.

Requests, images, redirects, error pages and other records are omitted, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, cast

import pyarrow as pa

from nearkin.errors import MissingExtraError
from nearkin.nouns import counted
from nearkin.stages.documents.columns import Columns, ColumnSample, choose_columns, sample_of_records
from nearkin.stages.documents.extraction.html import decoded_page, text_of_html
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

_COLUMNS = ("url", "record_id", "date", "text")
_PAGES = ("text/html", "application/xhtml+xml")
_MAX_DEPTH = 10_000
_CONTAINER = re.compile(
    r"<(/?)(?:address|article|aside|blockquote|center|details|dialog|dir|div|dl|fieldset|figure|footer|header|hgroup|main"
    r"|menu|nav|ol|search|section|summary|ul)\b",
    re.IGNORECASE,
)
"""Tag of an element that the next one like it does not close: each level makes the parser slower."""
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
        """Yield batches of documents.

        Their lines are the numbers of the records. StreamFault if the file breaks off.
        """
        rows = RowList(keep=opened.keep, are_characters=True, batch_bytes=opened.batch_bytes)
        n_read, number, held, fault = 0, 0, None, None
        documents = _documents_of(stream, opened)
        while True:
            try:
                following = next(documents, _AT_END)
            except StreamFault as broken:  # perhaps within the record that is held
                broken.line, fault = number + 1, broken
                break
            if held is not None:
                values, text, unreadable = held
                carried = [values.get(column) for column in opened.carry]
                keep_value = None if opened.keep is None else values.get(opened.keep.name)
                rows.add(number, values.get(opened.source.id or "url"), text, unreadable, keep_value, carried=carried)
                n_read += 1
            if following is _AT_END:
                break
            held, number = following, number + 1
            if rows.is_full:
                yield rows.batch()
        if rows.lines:
            yield rows.batch()
        if fault is not None:
            raise fault
        pages = counted(n_read, "page or text", "pages or texts")
        opened.note(f"{opened.source.name}: {counted(number, 'record')}: {pages} read")


_Document = tuple[dict[str, str | None], bytes | None, RecordFault | None]
"""Values of the columns, and the text or the reason why there is none."""
_AT_END: _Document = ({}, None, None)


def _documents_of(stream: ByteStream, opened: OpenedSource) -> Iterator[_Document | None]:
    try:
        from fastwarc.warc import ArchiveIterator
    except ImportError as error:
        raise MissingExtraError.of("Reading web archives", "warc") from error
    file = _Bytes(stream)
    try:
        for record in ArchiveIterator(cast(BinaryIO, file), auto_decode="none", stream_detect=False):
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
                yield values, _text_of(record, kind, opened.source.max_document_bytes, opened.encoding), None
            except RecordFault as fault:
                yield values, None, fault
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


def _text_of(record: WarcRecord, kind: str, max_bytes: int, encoding: str) -> bytes:
    if record.content_length > max_bytes:
        raise too_long(record.content_length, max_bytes)
    data = _decoded_body(record, max_bytes)
    charset = record.http_charset if record.is_http else "utf-8"
    if kind in _PAGES:
        page = decoded_page(data, charset, encoding).text
        _check_nesting(page)
        text = text_of_html(page)
    else:
        text = decoded(data, charset, encoding).text
    if not text.strip():
        raise RecordFault("empty", NO_TEXT)
    return text.encode()


def _decoded_body(record: WarcRecord, max_bytes: int) -> bytes:
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


def _check_nesting(page: str) -> None:
    """Refuse a page nested so deep that parsing, here without a limit of time, would take hours."""
    if page.count("<") <= _MAX_DEPTH:
        return
    depth = 0
    for tag in _CONTAINER.finditer(page):
        depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > _MAX_DEPTH:
            raise RecordFault("too large", f"elements of the page are nested more than {_MAX_DEPTH} deep")


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
