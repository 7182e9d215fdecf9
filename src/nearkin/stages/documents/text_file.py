"""A file that is one document."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from nearkin.stages.documents import blocks
from nearkin.stages.documents.containers import why_not_text
from nearkin.stages.documents.encodings import (
    WIDE,
    into_utf8,
    is_taken_as_utf8,
    is_utf8,
    looks_like_utf16,
    with_byte_order,
)
from nearkin.stages.documents.rows import IdType, RowList, one_batch
from nearkin.stages.documents.streams import ByteStream, StreamFault

_PIECE_BYTES = 1 << 20


def read_text_file(stream: ByteStream, name: str, encoding: str) -> Iterator[pa.RecordBatch]:
    """One batch of one document, its name as id.

    A file that breaks off, is too long or is no text is a row with its problem.

    The stream is one of UTF-8: a file is in the named encoding only where all of it, seen together, is not UTF-8.
    """
    rows = RowList()
    pieces: list[bytes] = []
    n_bytes = 0
    problem = None
    while problem is None:
        try:
            piece = stream.read(_PIECE_BYTES)
        except StreamFault as fault:
            if not n_bytes:
                raise
            problem = str(fault)
            break
        if not piece:
            break
        if not pieces:
            problem = why_not_text(piece, name)
        pieces.append(piece)
        n_bytes += len(piece)
        if n_bytes > blocks.MAX_RECORD_BYTES:
            problem = blocks.too_long()
    data: bytes | None = None
    if problem is None:
        data = b"".join(pieces)
        if not stream.byte_order_mark():
            data, problem = _characters(data, with_byte_order(encoding))
    rows.add(1, name, data, problem)
    yield one_batch([rows.piece()], IdType())


def _characters(data: bytes, encoding: str) -> tuple[bytes | None, str | None]:
    """The bytes of a file in UTF-8, or why there are none."""
    if not encoding.startswith(WIDE) and (advice := looks_like_utf16(data)) is not None:
        return None, advice
    if is_utf8(encoding) or is_taken_as_utf8(data, encoding, is_all=True):
        return data, None
    return into_utf8(data, encoding), None
