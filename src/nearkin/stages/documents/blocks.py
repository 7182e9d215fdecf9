"""Blocks of whole lines cut from a stream, each with the number of its first line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nearkin.records import I64
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, too_long
from nearkin.stages.documents.streams import ByteStream, StreamFault


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
    problem : str or None
        Why there are no lines: a line is too long.
    """

    data: memoryview
    newlines: I64
    first_line: int
    problem: str | None = None

    @classmethod
    def of_problem(cls, line: int, problem: str) -> LineBlock:
        """Make a block with a problem instead of lines."""
        return cls(memoryview(b""), np.zeros(0, np.int64), line, problem)


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
            yield LineBlock.of_problem(line, too_long(n_carried, max_line_bytes))
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
        yield LineBlock.of_problem(block.first_line + index, too_long(n_bytes, max_line_bytes))
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
