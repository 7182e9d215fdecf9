"""A stream cut into blocks of whole lines, each knowing the number of its first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nearkin.stages.documents.streams import ByteStream, StreamFault

MAX_RECORD_BYTES = 1 << 30
"""A longer record is a problem row: it is skipped, not held."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines, or a place where there are none to be had.

    Parameters
    ----------
    data : bytes
        Whole lines; the last may lack its newline at the end of the file.
    first_line : int
        The number of the first, from 1.
    problem : str or None
        Why there are no lines: one record is too long, or the rest of the file cannot be read.
    """

    data: bytes
    first_line: int
    problem: str | None = None


def too_long() -> str:
    """The problem of a record over the limit."""
    return f"the record is longer than {MAX_RECORD_BYTES >> 20} MiB"


def read_blocks(stream: ByteStream, block_bytes: int) -> Iterator[Block]:
    """Blocks of whole lines, about ``block_bytes`` each and more only where a line is longer.

    Where the stream breaks off, what stands before the last newline is handed out, then the problem. A break before
    the first byte raises :class:`StreamFault`.
    """
    carry: list[bytes] = []  # the beginning of a line whose end is still to come
    n_carried, line, n_read, is_skipping = 0, 1, 0, False
    while True:
        try:
            piece = stream.read(block_bytes)
        except StreamFault as fault:
            if not n_read:
                raise
            yield Block(b"", line, str(fault))
            return
        n_read += len(piece)
        if not piece:
            if n_carried:
                yield Block(b"".join(carry), line)
            return
        if is_skipping:
            cut = piece.find(b"\n") + 1
            if not cut:
                continue
            is_skipping, line, piece = False, line + 1, piece[cut:]
        cut = piece.rfind(b"\n") + 1
        if cut:
            data = b"".join([*carry, piece[:cut]]) if carry else piece[:cut]
            yield Block(data, line)
            line += data.count(b"\n")
            carry, n_carried, piece = [], 0, piece[cut:]
        if piece:
            carry.append(piece)
            n_carried += len(piece)
        if n_carried > MAX_RECORD_BYTES:
            yield Block(b"", line, too_long())
            carry, n_carried, is_skipping = [], 0, True
