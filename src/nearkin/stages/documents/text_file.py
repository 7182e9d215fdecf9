"""Reader of a file that is one document."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from nearkin.errors import DocumentError
from nearkin.stages.documents.encodings import (
    BYTE_ORDER_MARKS,
    WIDE,
    into_utf8,
    is_taken_as_utf8,
    is_utf8,
    looks_like_utf16,
    why_not_utf8,
    with_byte_order,
)
from nearkin.stages.documents.faults import problem_of
from nearkin.stages.documents.foreign import foreign
from nearkin.stages.documents.rows import IdType, RowList, one_batch
from nearkin.stages.documents.rules import too_long
from nearkin.stages.documents.streams import ByteStream, StreamFault

_PIECE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """Settings to read a file that is one document.

    Parameters
    ----------
    name : str
        Id of the document.
    encoding : str
        Used only if the file as a whole is not UTF-8.
    max_document_bytes : int
    problem_of_table : callable
        Returns why a file with this beginning is not text, if it is a table.
    is_forced : bool
        Whether the user named the format, so that text with markup is read unchanged.
    is_pipe : bool
        Whether it may be endless.
    text_of : callable, optional
        Converts the file to a text; ValueError or DocumentError says why it cannot.
    """

    name: str
    encoding: str
    max_document_bytes: int
    problem_of_table: Callable[[bytes], str | None]
    is_forced: bool = False
    is_pipe: bool = False
    text_of: Callable[[str], str] | None = None


def read_text_file(stream: ByteStream, file: TextFile) -> Iterator[pa.RecordBatch]:
    """Yield one batch of one document.

    A file that breaks off, is too long or is not plain text is a row with its problem. The stream is in UTF-8.
    """
    rows = RowList()
    data, problem = _held(stream, file)
    encoding = dict(BYTE_ORDER_MARKS).get(stream.byte_order_mark())
    if problem is None and encoding is None:
        data, problem = _characters(data, with_byte_order(file.encoding))
    elif data is not None and encoding is not None:
        problem = why_not_utf8(data, encoding, stream.byte_order_mark())
    if problem is None and data is not None and file.text_of is not None:
        data, problem = _extracted(data, file.text_of)
    rows.add(1, file.name, data if problem is None else None, problem)
    yield one_batch([rows.piece()], IdType())


def _held(stream: ByteStream, file: TextFile) -> tuple[bytes | None, str | None]:
    """Return the whole file, or the reason why it is not a document."""
    pieces: list[bytes] = []
    n_bytes = 0
    try:
        while piece := stream.read(_PIECE_BYTES):
            if not n_bytes and (problem := _why_no_document(piece, file)) is not None:
                return None, problem
            n_bytes += len(piece)
            pieces.append(piece)
            if n_bytes > file.max_document_bytes:
                pieces.clear()
                size = None if file.is_pipe else n_bytes + _rest(stream)
                return None, too_long(size, file.max_document_bytes)
    except StreamFault as fault:
        return None, problem_of("damaged", str(fault))
    return b"".join(pieces), None


def _extracted(data: bytes, text_of: Callable[[str], str]) -> tuple[bytes | None, str | None]:
    try:
        content = data.decode()
    except UnicodeDecodeError:
        return data, None  # invalid UTF-8 is reported later as the problem
    try:
        return text_of(content).encode(), None
    except (ValueError, DocumentError) as error:
        return None, problem_of("damaged", str(error).rstrip("."))


def _rest(stream: ByteStream) -> int:
    """Count the remaining bytes without holding them."""
    n_bytes = 0
    while n_piece := len(stream.read(_PIECE_BYTES)):
        n_bytes += n_piece
    return n_bytes


def _why_no_document(first: bytes, file: TextFile) -> str | None:
    if (problem := file.problem_of_table(first)) is not None:
        return problem
    kind = foreign(first, file.name)
    return (
        None
        if kind is None or (kind.is_text and file.is_forced)
        else problem_of("unsupported" if kind.is_text else "not text", kind.problem)
    )


def _characters(data: bytes | None, encoding: str) -> tuple[bytes | None, str | None]:
    """Return the bytes of a file in UTF-8, or the reason why there are none."""
    if data is None:
        return None, None
    if not encoding.startswith(WIDE) and (advice := looks_like_utf16(data)) is not None:
        return None, problem_of("wrong encoding", advice)
    if is_utf8(encoding) or is_taken_as_utf8(data, encoding, is_all=True):
        return data, None
    return into_utf8(data, encoding), None
