"""Text files with one text per line, as for one side of a parallel corpus."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from nearkin.stages.documents.blocks import LineBlock, read_blocks
from nearkin.stages.documents.rows import IdType, RowPiece, one_batch, problem_piece
from nearkin.stages.documents.streams import ByteStream


def read_plain_lines(stream: ByteStream, *, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    r"""Yield batches of lines, including blank ones, because lines are identified by number.

    Lines end only at ``\n`` or ``\r\n``.

    Raises
    ------
    StreamFault
        The file breaks off; all earlier lines have been yielded.
    """
    for block in read_blocks(stream, batch_bytes):
        piece = texts_of_lines(block) if block.problem is None else problem_piece(block.first_line, block.problem)
        yield one_batch([piece], IdType())


def texts_of_lines(block: LineBlock) -> RowPiece:
    """Return every line of a block as a text without an id."""
    data = bytes(block.data)  # a copy, because the memory of a block is reused
    view = np.frombuffer(data, np.uint8)
    ends = block.newlines if data.endswith(b"\n") else np.append(block.newlines, len(data))
    starts = np.concatenate([[0], ends[:-1] + 1])
    texts = ends - ((ends > starts) & (view[np.maximum(ends - 1, 0)] == ord("\r")))
    # view the block as a repetition of text, line end: Arrow then copies every second part
    bounds = np.append(np.column_stack([starts, texts]).ravel(), len(data)).astype(np.int64)
    n_lines = len(starts)
    parts = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), 2 * n_lines, [None, pa.py_buffer(bounds), pa.py_buffer(data)]
    )
    return RowPiece(
        text=parts.take(pa.array(np.arange(0, 2 * n_lines, 2))),
        line=np.arange(block.first_line, block.first_line + n_lines, dtype=np.int64),
    )
