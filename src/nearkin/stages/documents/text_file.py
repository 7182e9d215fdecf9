"""A file that is one document."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from nearkin.stages.documents import blocks
from nearkin.stages.documents.rows import IdType, RowList, one_batch
from nearkin.stages.documents.streams import ByteStream, StreamFault

_PIECE_BYTES = 1 << 20


def read_text_file(stream: ByteStream, name: str) -> Iterator[pa.RecordBatch]:
    """One batch of one document, its name as id; a file that breaks off or is too long is a row with its problem."""
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
        pieces.append(piece)
        n_bytes += len(piece)
        if n_bytes > blocks.MAX_RECORD_BYTES:
            problem = blocks.too_long()
    rows.add(1, name, None if problem is not None else b"".join(pieces), problem)
    yield one_batch([rows.piece()], IdType())
