"""A stream cut into blocks of whole lines, each knowing the number of its first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nearkin.records import I64
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, too_long
from nearkin.stages.documents.streams import ByteStream, StreamFault


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Whole lines, or a place where there are none to be had.

    Parameters
    ----------
    data : memoryview
        Whole lines; the last may lack its newline at the end of the file. The memory is used again for the next block:
        what is kept of it must be copied.
    newlines : int64 array
        Where in ``data`` the newlines are.
    first_line : int
        The number of the first, from 1.
    problem : str or None
        Why there are no lines: one is too long.
    """

    data: memoryview
    newlines: I64
    first_line: int
    problem: str | None = None

    @classmethod
    def of_problem(cls, line: int, problem: str) -> LineBlock:
        """A place without lines."""
        return cls(memoryview(b""), np.zeros(0, np.int64), line, problem)


def read_blocks(stream: ByteStream, block_bytes: int, max_line_bytes: int = MAX_DOCUMENT_BYTES) -> Iterator[LineBlock]:
    """Blocks of whole lines, about ``block_bytes`` each and more only where a line is longer.

    A line of more than ``max_line_bytes`` is a block with a problem; no more than that is held of it.

    Raises
    ------
    StreamFault
        The stream breaks off; what stands before the last newline was handed out.
    """
    room = bytearray(block_bytes)
    n_carried, line = 0, 1  # the beginning of a line is carried until its end comes
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
            # Grown for one long line, and back to its size after it.
            other = bytearray(max(block_bytes, min(2 * n_carried, max_line_bytes + block_bytes)))
            other[:n_carried] = memoryview(room)[start:n_have]
            room = other
        elif start:
            room[:n_carried] = room[start:n_have]


def _within(block: LineBlock, max_line_bytes: int) -> Iterator[LineBlock]:
    """The block, each line that is too long as a block of its own with a problem."""
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
    """Some of the lines of a block."""
    if first == 0 and stop == len(starts):
        return block
    start = int(starts[first])
    end = int(starts[stop]) if stop < len(starts) else len(block.data)
    within = block.newlines[first:stop] - start
    return LineBlock(block.data[start:end], within, block.first_line + first)
