"""Lines: each is a document, ``ID<TAB>TEXT`` or a text.

A stream is cut into blocks of whole lines, and all work is done on blocks: only lines without a tab, or with nothing
but spaces, become Python objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.records import I64, Bool
from nearkin.stages.documents.faults import RecordFault, StreamFault
from nearkin.stages.documents.head import Head
from nearkin.stages.documents.reader import RowMask, StreamReader
from nearkin.stages.documents.rows import IdType, RowPiece, integers_or_strings, named, one_batch, problem_piece
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, too_long
from nearkin.stages.documents.source import OpenedSource
from nearkin.stages.documents.streams import ByteStream

_LONGEST_ID = 512
_COPIED_BYTES = 8 << 20
_BLANKS = (b" ", b"\t", b"\r", b"\v", b"\f")
_NO_TAB = "damaged: the line has no tab between an id and a text"


class LineReader(StreamReader):
    """Reader of a format whose lines are records, which are copied byte for byte."""

    def copy_stream(self, opened: OpenedSource, is_kept: RowMask, stream: ByteStream, sink: IO[bytes]) -> None:
        """Copy kept lines, adjacent ones in one call."""
        edit = None if opened.added is None else opened.added.json
        for block in read_blocks(stream, _COPIED_BYTES, opened.source.max_document_bytes):
            if block.fault is None:
                ends = block.newlines + 1
                if not len(ends) or ends[-1] != len(block.data):
                    ends = np.append(ends, len(block.data))
                starts = np.concatenate([[0], ends[:-1]])
                lines = np.arange(block.first_line, block.first_line + len(ends))
                write_kept_parts(block.data, starts, ends, lines, is_kept(lines), stream, sink, edit)


class Lines(LineReader):
    """``ID<TAB>TEXT``."""

    def begins(self, head: Head) -> bool:
        """Whether at least two lines, and two thirds of the first ones, have this form, and no id is repeated."""
        lines = head.first_lines
        ids = [line.partition(b"\t")[0] for line in lines if b"\t" in line]
        are_ids = all(0 < len(one) <= _LONGEST_ID and not re.search(rb"\s", one) for one in ids)
        return are_ids and len(set(ids)) == len(ids) >= 2 and 3 * len(ids) >= 2 * len(lines)

    def read(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents, one for each block that is not entirely blank."""
        yield from _batches(stream, opened, _ids_and_texts)


class TextLines(LineReader):
    """One text per line, without an id."""

    def read(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents, one per line, without blank lines."""
        yield from _batches(stream, opened, _texts)


def _batches(
    stream: ByteStream, opened: OpenedSource, read_block: Callable[[LineBlock], RowPiece]
) -> Iterator[pa.RecordBatch]:
    ids = IdType()
    for block in read_blocks(stream, opened.batch_bytes, opened.source.max_document_bytes):
        if block.fault is not None:
            yield one_batch([problem_piece(block.first_line, block.fault)], ids)
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
        piece = texts_of_lines(block) if block.fault is None else problem_piece(block.first_line, block.fault)
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


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Whole lines, or a place where lines cannot be read.

    Parameters
    ----------
    data : memoryview
        Whole lines; the last may lack its newline at the end of the file. The memory is reused for the next block:
        copy what you keep.
    newlines : int64 array
        Positions of the newlines in ``data``.
    first_line : int
        Number of the first line, from 1.
    fault : RecordFault or None
        Why there are no lines: a line is too long.
    """

    data: memoryview
    newlines: I64
    first_line: int
    fault: RecordFault | None = None

    @classmethod
    def of_fault(cls, line: int, fault: RecordFault) -> LineBlock:
        """Make a block with a fault instead of lines."""
        return cls(memoryview(b""), np.zeros(0, np.int64), line, fault)


def read_blocks(stream: ByteStream, block_bytes: int, max_line_bytes: int = MAX_DOCUMENT_BYTES) -> Iterator[LineBlock]:
    """Yield blocks of whole lines of about ``block_bytes`` each, larger only for longer lines.

    A line of more than ``max_line_bytes`` becomes a block with a problem; at most that much of it is held in memory.

    Raises
    ------
    StreamFault
        The stream breaks off; everything before the last newline has been yielded.
    """
    room = bytearray(block_bytes)
    n_carried, line = 0, 1  # the beginning of a line is carried over until its end is read
    while True:
        try:
            n_new = stream.read_into(memoryview(room)[n_carried:])
        except StreamFault as fault:
            fault.line = line
            raise
        n_have = n_carried + n_new
        if not n_new:
            if n_have:
                yield from _within(LineBlock(memoryview(room)[:n_have], np.zeros(0, np.int64), line), max_line_bytes)
            return
        start = room.rfind(b"\n", n_carried, n_have) + 1
        if start:
            data = memoryview(room)[:start]
            newlines = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
            yield from _within(LineBlock(data, newlines, line), max_line_bytes)
            line += len(newlines)
        n_carried = n_have - start
        if n_carried > max_line_bytes:
            n_carried += stream.skip_line()
            yield LineBlock.of_fault(line, too_long(n_carried, max_line_bytes))
            n_carried, line = 0, line + 1
        elif n_carried > len(room) // 2 or len(room) > block_bytes:
            # enlarged for a long line, and reset after it
            other = bytearray(max(block_bytes, min(2 * n_carried, max_line_bytes + block_bytes)))
            other[:n_carried] = memoryview(room)[start:n_have]
            room = other
        elif start:
            room[:n_carried] = room[start:n_have]


def _within(block: LineBlock, max_line_bytes: int) -> Iterator[LineBlock]:
    """Yield the block, with each line that is too long as a separate block with a problem."""
    if len(block.data) <= max_line_bytes:
        yield block
        return
    ends = block.newlines
    if not len(ends) or ends[-1] + 1 < len(block.data):
        ends = np.append(ends, len(block.data))
    starts = np.concatenate([[0], ends[:-1] + 1])
    first = 0
    for index in np.flatnonzero(ends - starts > max_line_bytes).tolist():
        if first < index:
            yield _part(block, first, index, starts)
        n_bytes = int(ends[index] - starts[index])
        yield LineBlock.of_fault(block.first_line + index, too_long(n_bytes, max_line_bytes))
        first = index + 1
    if first < len(starts):
        yield _part(block, first, len(starts), starts)


def _part(block: LineBlock, first: int, stop: int, starts: I64) -> LineBlock:
    """Return some of the lines of a block."""
    if first == 0 and stop == len(starts):
        return block
    start = int(starts[first])
    end = int(starts[stop]) if stop < len(starts) else len(block.data)
    within = block.newlines[first:stop] - start
    return LineBlock(block.data[start:end], within, block.first_line + first)


Edit = Callable[[bytes, int], bytes]
"""Returns a copied record, of which the line is given, with more in it."""


def write_kept_parts(
    data: memoryview,
    starts: I64,
    ends: I64,
    lines: I64,
    is_kept: Bool,
    stream: ByteStream,
    sink: IO[bytes],
    edit: Edit | None = None,
) -> None:
    """Write the kept parts of ``data`` in their original encoding."""
    if edit is not None:
        for index in np.flatnonzero(is_kept).tolist():
            record = bytes(data[starts[index] : ends[index]])
            sink.write(stream.as_it_was(edit(record, int(lines[index]))))
        return
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_kept, [False]])))
    for first, stop in edges.reshape(-1, 2):
        if int(ends[stop - 1] - starts[first]) == int((ends[first:stop] - starts[first:stop]).sum()):
            sink.write(stream.as_it_was(bytes(data[starts[first] : ends[stop - 1]])))
        else:  # blank lines between records
            for index in range(first, stop):
                sink.write(stream.as_it_was(bytes(data[starts[index] : ends[index]])))
