"""A stream cut into blocks of whole lines, each knowing the number of its first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nearkin.records import I64
from nearkin.stages.documents.streams import ByteStream, StreamFault

MAX_RECORD_BYTES = 1 << 30
"""A longer record is a problem row: it is skipped, not held."""


@dataclass(frozen=True, slots=True)
class Block:
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
        Why there are no lines: one record is too long, or the rest of the file cannot be read.
    """

    data: memoryview
    newlines: I64
    first_line: int
    problem: str | None = None

    @classmethod
    def of_problem(cls, line: int, problem: str) -> Block:
        """A place without lines."""
        return cls(memoryview(b""), np.zeros(0, np.int64), line, problem)


def too_long() -> str:
    """The problem of a record over the limit."""
    return f"the record is longer than {MAX_RECORD_BYTES >> 20} MiB"


def read_blocks(stream: ByteStream, block_bytes: int) -> Iterator[Block]:
    """Blocks of whole lines, about ``block_bytes`` each and more only where a line is longer.

    Where the stream breaks off, what stands before the last newline is handed out, then the problem. A break before
    the first byte raises :class:`StreamFault`.
    """
    room = bytearray(block_bytes)
    n_carried, line, n_read, is_skipping = 0, 1, 0, False  # the beginning of a line is carried until its end comes
    while True:
        try:
            n_new = stream.read_into(memoryview(room)[n_carried:])
        except StreamFault as fault:
            if not n_read:
                raise
            yield Block.of_problem(line, str(fault))
            return
        n_read += n_new
        n_have = n_carried + n_new
        if not n_new:
            if n_have and not is_skipping:
                yield Block(memoryview(room)[:n_have], np.zeros(0, np.int64), line)
            return
        start = 0
        if is_skipping:
            start = room.find(b"\n", 0, n_have) + 1
            if not start:
                n_carried = 0
                continue
            is_skipping, line = False, line + 1
        stop = room.rfind(b"\n", max(n_carried, start), n_have) + 1
        if stop:
            data = memoryview(room)[start:stop]
            newlines = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
            yield Block(data, newlines, line)
            line += len(newlines)
        start = max(start, stop)
        n_carried = n_have - start
        if n_carried > MAX_RECORD_BYTES:
            yield Block.of_problem(line, too_long())
            n_carried, is_skipping = 0, True
        elif n_carried > len(room) // 2 or len(room) > block_bytes:
            # Grown for one long line, and back to its size after it.
            other = bytearray(max(block_bytes, min(2 * n_carried, MAX_RECORD_BYTES + block_bytes)))
            other[:n_carried] = memoryview(room)[start:n_have]
            room = other
        elif start:
            room[:n_carried] = room[start:n_have]
