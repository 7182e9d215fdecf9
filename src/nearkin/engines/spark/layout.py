"""Columns of numbers packed into bytes: tasks exchange a few large blocks instead of many small rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]
MAX_BLOCK_BYTES = 256 << 10
"""Maximum size of a block: larger ones cost Java's heap more than they save."""
_LENGTH_BYTES = 8


@dataclass(frozen=True, slots=True)
class Block:
    """Data that one task sends to another."""

    stream: str
    target: int
    data: Any


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns of numbers in a stream.

    Examples
    --------
    >>> layout = Layout("pairs", (("left", "<u4"), ("right", "<u4")))
    >>> [block] = layout.scattered(np.array([7, 7]), np.array([1, 2]), np.array([3, 4]))
    >>> block.target, [column.tolist() for column in layout.joined([block, block])]
    (7, [[1, 2, 1, 2], [3, 4, 3, 4]])
    """

    stream: str
    columns: tuple[tuple[str, str], ...]

    def of(self, number: int) -> Layout:
        """Return the same columns in a separate stream for each number."""
        return Layout(f"{self.stream} {number}", self.columns)

    @property
    def row_bytes(self) -> int:
        """Size of a row."""
        return sum(np.dtype(kind).itemsize for _, kind in self.columns)

    def packed(self, target: int, *columns: Column) -> Iterator[Block]:
        """Pack all rows into blocks for one target."""
        step = max(1, MAX_BLOCK_BYTES // self.row_bytes)
        for start in range(0, len(columns[0]), step):
            yield Block(self.stream, target, self.bytes_of(*(column[start : start + step] for column in columns)))

    def bytes_of(self, *columns: Column) -> bytes:
        """Pack the columns into the bytes of one block."""
        parts = [np.ascontiguousarray(column, kind) for column, (_, kind) in zip(columns, self.columns, strict=True)]
        return b"".join(part.data for part in parts)

    def scattered(self, targets: NDArray[np.integer[Any]], *columns: Column) -> Iterator[Block]:
        """Distribute rows to blocks by target; rows for the same target keep their order."""
        if not len(targets):
            return
        lowest = int(targets.min())
        if lowest == int(targets.max()):
            yield from self.packed(lowest, *columns)
            return
        order = np.argsort(targets, kind="stable")
        ordered = targets[order]
        bounds = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, [len(ordered)]])
        sorted_columns = [column[order] for column in columns]
        for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            yield from self.packed(int(ordered[a]), *(column[a:b] for column in sorted_columns))

    def n_rows(self, block: Block) -> int:
        """Return the number of rows of a block."""
        return len(block.data) // self.row_bytes

    def joined(self, blocks: Iterable[Block]) -> tuple[Column, ...]:
        """Concatenate the columns of all blocks of this stream."""
        parts: list[list[Column]] = [[np.zeros(0, kind)] for _, kind in self.columns]
        for block in blocks:
            if block.stream != self.stream:
                continue
            n, at = self.n_rows(block), 0
            for arrays, (_, kind) in zip(parts, self.columns, strict=True):
                arrays.append(np.frombuffer(block.data, kind, n, at))
                at += arrays[-1].nbytes
        return tuple(np.concatenate(part) for part in parts)

    def of_targets(self, blocks: Iterable[Block], n_targets: int) -> tuple[Column, ...]:
        """Return the columns with each target's only row at its index, and zeros for targets without a row."""
        columns = tuple(np.zeros(n_targets, kind) for _, kind in self.columns)
        for block in blocks:
            for column, value in zip(columns, self.joined([block]), strict=True):
                column[block.target] = value[0]
        return columns


@dataclass(frozen=True, slots=True)
class Attached:
    """Rows together with an array of numbers, both in one block so that they stay together."""

    stream: str
    rows: Layout

    def block(self, target: int, columns: Sequence[Column], numbers: Column) -> Block:
        """Pack some rows for one target."""
        rows = self.rows.bytes_of(*columns)
        return Block(self.stream, target, len(rows).to_bytes(_LENGTH_BYTES, "little") + rows + numbers.tobytes())

    def parts(self, blocks: Iterable[Block], kind: type[np.generic]) -> Iterator[tuple[tuple[Column, ...], Column]]:
        """Yield the columns of each block of the stream, and its numbers."""
        for block in blocks:
            if block.stream == self.stream:
                data = memoryview(block.data)
                end = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
                rows = Block(self.rows.stream, block.target, data[_LENGTH_BYTES:end])
                yield self.rows.joined([rows]), np.frombuffer(data, kind, offset=end)
