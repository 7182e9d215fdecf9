"""Lines of ``ID<TAB>TEXT``, and lines that are one text each.

All work is done on whole blocks: only lines without a tab, or with nothing but spaces, become Python objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.stages.documents.blocks import LineBlock, read_blocks
from nearkin.stages.documents.delimited import named
from nearkin.stages.documents.rows import IdType, RowPiece, integers_or_strings, one_batch, problem_piece
from nearkin.stages.documents.source import OpenedSource
from nearkin.stages.documents.streams import ByteStream

_BLANKS = (b" ", b"\t", b"\r", b"\v", b"\f")
_NO_TAB = "damaged: the line has no tab between an id and a text"


def read_lines(stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
    """Yield batches of documents of ``ID<TAB>TEXT``, one for each block that is not entirely blank."""
    yield from _batches(stream, opened, _ids_and_texts)


def read_text_lines(stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
    """Yield batches of documents, one per line, without blank lines."""
    yield from _batches(stream, opened, _texts)


def _batches(
    stream: ByteStream, opened: OpenedSource, read_block: Callable[[LineBlock], RowPiece]
) -> Iterator[pa.RecordBatch]:
    ids = IdType()
    for block in read_blocks(stream, opened.batch_bytes, opened.source.max_document_bytes):
        if block.problem is not None:
            yield one_batch([problem_piece(block.first_line, block.problem)], ids)
            continue
        piece = read_block(block)
        if len(piece):
            yield one_batch([piece], ids)


def _texts(block: LineBlock) -> RowPiece:
    """Return the non-blank lines of a block, as texts without ids."""
    every = texts_of_lines(block)
    texts = every.text
    is_there = np.ones(len(texts), np.bool_)
    begins_blank = pc.is_in(pc.binary_slice(texts, 0, 1), value_set=pa.array([b"", *_BLANKS], texts.type))
    for index in np.flatnonzero(begins_blank.to_numpy(zero_copy_only=False)).tolist():
        is_there[index] = bool(texts[index].as_py().strip())
    mask = pa.array(is_there)
    return RowPiece(text=texts.filter(mask), line=every.line[is_there])


def _ids_and_texts(block: LineBlock) -> RowPiece:
    """Return the non-blank lines of a block, as ids and texts."""
    data, view = block.data, np.frombuffer(block.data, np.uint8)
    ends = block.newlines if data[-1] == ord("\n") else np.append(block.newlines, len(data))
    starts = np.concatenate([[0], ends[:-1] + 1])
    numbers = np.arange(block.first_line, block.first_line + len(ends), dtype=np.int64)
    ends = ends - ((ends > starts) & (view[np.maximum(ends - 1, 0)] == ord("\r")))
    tabs = np.append(np.flatnonzero(view == ord("\t")), len(data))
    tabs = tabs[np.searchsorted(tabs, starts)]
    is_blank = ends <= starts
    for index in np.flatnonzero(~is_blank & (tabs >= ends)):
        is_blank[index] = not bytes(data[starts[index] : ends[index]]).strip()
    if is_blank.any():
        starts, ends, tabs, numbers = starts[~is_blank], ends[~is_blank], tabs[~is_blank], numbers[~is_blank]
    has_no_tab = tabs >= ends
    tabs = np.where(has_no_tab, starts, tabs)
    after_tab = np.where(has_no_tab, starts, tabs + 1)
    # view the block as a repetition of id, tab, text, line end: Arrow then copies every fourth part
    n_lines = len(starts)
    bounds = np.append(np.column_stack([starts, tabs, after_tab, ends]).ravel(), len(data))
    buffers = [None, pa.py_buffer(np.ascontiguousarray(bounds, np.int64)), pa.py_buffer(data)]
    parts = pa.LargeBinaryArray.from_buffers(pa.large_binary(), 4 * n_lines, buffers)
    order = np.arange(0, 4 * n_lines, 4)
    doc_ids, texts = named(parts.take(pa.array(order))), parts.take(pa.array(order + 2))
    problems = pa.nulls(n_lines, pa.large_string())
    if has_no_tab.any():
        mask = pa.array(has_no_tab)
        texts = pc.if_else(mask, pa.scalar(None, pa.large_binary()), texts)
        problems = pc.if_else(mask, pa.scalar(_NO_TAB, pa.large_string()), problems)
    return RowPiece(doc_id=integers_or_strings(doc_ids), text=texts, line=numbers, problem=problems)


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
