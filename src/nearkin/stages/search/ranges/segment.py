"""A wave of documents, ready to be searched: plain arrays, which can be memory-mapped."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearkin.errors import ParameterError
from nearkin.kernels.ranges import FAN_OUT, fill_blocks, order_points, scan_blocks
from nearkin.records import F64, I64, U32, LetterVectors

BLOCK_SIZE = 32
ROOM = 1 << 13
"""Maximum number of matches that a kernel finds before it returns them."""
MatchColumns = tuple[I64, U32, I64]
"""Queries, rows of the segment, squared distances."""


@dataclass(frozen=True)
class RangeSegment:
    """The vectors of a wave, and the tree of blocks over their points.

    Parameters
    ----------
    rows : uint32 array, shape (n_counted,)
        Rows of the documents that take part, in the order of the blocks.
    blocks : float32 array, shape (n_blocks, n_columns, BLOCK_SIZE)
        Their points, column by column.
    boxes : float32 array, shape (n_groups, n_columns, 2, 16)
        Bounds of the blocks, and of 16 boxes at a time, up to one group.
    """

    counts: U32
    rows: U32
    blocks: F32
    boxes: F32
    directions: F64

    @classmethod
    def build(cls, vectors: LetterVectors, directions: Directions | None = None) -> RangeSegment:
        """Learn directions, unless some are given, and put the counted documents into blocks."""
        check_counts(vectors.counts)
        rows = np.flatnonzero(vectors.is_counted).astype(np.uint32)
        chosen = None if len(rows) == len(vectors) else rows
        directions = directions or Directions.learn(vectors.counts, chosen)
        points = directions.points(vectors.counts, chosen)
        order_points(points, rows, block_size=BLOCK_SIZE)
        return cls(vectors.counts, rows, *_blocks_of(points), directions.matrix)

    def is_of(self, vectors: LetterVectors) -> bool:
        """Whether this is the segment of these vectors, equal in every bit of its blocks and boxes."""
        if not np.array_equal(self.counts, vectors.counts):
            return False
        if not np.array_equal(np.sort(self.rows), np.flatnonzero(vectors.is_counted)):
            return False
        blocks, boxes = _blocks_of(self._learnt.points(self.counts, np.asarray(self.rows)))
        return np.array_equal(self.blocks, blocks) and np.array_equal(self.boxes, boxes)

    @classmethod
    def array_names(cls) -> tuple[str, ...]:
        """Return the names of the fields, to store each in a file."""
        return tuple(field.name for field in fields(cls))

    def __len__(self) -> int:
        return len(self.counts)

    def is_consistent(self) -> bool:
        """Whether shapes and rows of stored arrays fit together, as `matches` assumes."""
        n_dimensions = self.counts.shape[1] if self.counts.ndim == 2 else 0
        n_blocks = -(-len(self.rows) // BLOCK_SIZE)
        n_columns = self._learnt.n_columns if self.directions.shape == (n_dimensions, n_dimensions) else -1
        shapes = {
            "counts": (np.uint32, (len(self.counts), n_dimensions)),
            "rows": (np.uint32, (len(self.rows),)),
            "blocks": (np.float32, (n_blocks, n_columns, BLOCK_SIZE)),
            "boxes": (np.float32, (int(groups_of_levels(n_blocks)[-1]), n_columns, 2, FAN_OUT)),
            "directions": (np.float64, (n_dimensions, n_dimensions)),
        }
        stored = {name: getattr(self, name) for name in shapes}
        fits = all((stored[name].dtype, stored[name].shape) == expected for name, expected in shapes.items())
        return fits and n_dimensions > 0 and int(self.rows.max(initial=0)) < max(1, len(self.counts))

    @cached_property
    def _learnt(self) -> Directions:
        return Directions(self.directions)

    @cached_property
    def _scanned(self) -> list[NDArray[Any]]:
        tree = [_read_only(self.blocks), _read_only(self.boxes), _read_only(groups_of_levels(len(self.blocks)))]
        return [*tree, _read_only(self.rows), _read_only(self.counts)]

    def matches(self, queries: U32, lengths: I64, limits: I64, counts: I64) -> Iterator[MatchColumns]:
        """Yield the matches within the limits, one buffer at a time.

        Parameters
        ----------
        lengths, limits : int64 arrays, shape (n_queries,)
            Squared lengths of the queries, and maximum squared distances of matches; negative to skip a query.
        """
        if not len(self.rows):
            return
        points, reaches = self._learnt.points(queries), self._learnt.reaches(lengths, limits)
        columns = np.empty(ROOM, np.int64), np.empty(ROOM, np.uint32), np.empty(ROOM, np.int64)
        for n_found in scan_blocks(
            *self._scanned,
            queries=queries,
            points=points,
            reaches=reaches,
            limits=limits,
            found=columns,
            counts=counts,
        ):
            yield columns[0][:n_found].copy(), columns[1][:n_found].copy(), columns[2][:n_found].copy()


def _blocks_of(points: F32) -> tuple[F32, F32]:
    blocks = np.empty((-(-len(points) // BLOCK_SIZE), points.shape[1], BLOCK_SIZE), np.float32)
    level_groups = groups_of_levels(len(blocks))
    boxes = np.empty((int(level_groups[-1]), points.shape[1], 2, FAN_OUT), np.float32)
    if len(points):
        fill_blocks(points, blocks, boxes, level_groups)
    return blocks, boxes


def groups_of_levels(n_blocks: int) -> I64:
    """Return the start of the groups of each level, from the boxes of blocks up to one group."""
    starts, n_boxes = [0], n_blocks
    while len(starts) < 2 or n_boxes > 1:
        n_boxes = -(-n_boxes // FAN_OUT)
        starts.append(starts[-1] + n_boxes)
    return np.array(starts, np.int64)


def check_counts(counts: U32) -> None:
    """Refuse vectors whose squared lengths may not fit into 62 bits."""
    if counts.ndim != 2 or not 1 <= counts.shape[1] <= MAX_DIMENSIONS:
        raise ParameterError.of("counts", f"of 1 to {MAX_DIMENSIONS} dimensions", counts.shape)
    largest = int(counts.max(initial=0))
    if largest > MAX_COUNT:
        raise ParameterError.of("counts", f"at most {MAX_COUNT:,}, one less than 2**27", largest)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only array, like those mapped from files: kernels are then compiled for one kind only."""
    view = np.ascontiguousarray(array).view(np.ndarray)
    view.setflags(write=False)
    return view


F32 = NDArray[np.float32]
N_DIRECTIONS = 11
"""Number of leading directions; with the column for all others, a document has 12 columns, or 48 bytes."""
SCALE = 1 << 20
"""Scale of directions, which are rounded to integers. So the sums that make a point are exact."""
MAX_DIMENSIONS = 256
MAX_COUNT = 2**27 - 1
_SAMPLE = 1 << 16
_ROWS_AT_A_TIME = 1 << 14
_ROUNDING = 2.0**-23  # relative error of a stored value: twice that of rounding to float32
_SUMMING = 1 + 2.0**-15  # relative error of a sum of up to 256 squares in float32
_LIMITING = threading.Lock()
"""Held while BLAS has one thread: two that limit it at once would not both give back what they found."""


@dataclass(frozen=True)
class Directions:
    """Directions, as many as dimensions, the leading ones first.

    Parameters
    ----------
    matrix : float64 array, shape (n_dimensions, n_dimensions)
        Integers, one direction per row; nearly orthogonal, of length nearly `SCALE`.
    """

    matrix: F64

    @classmethod
    def learn(cls, counts: U32, rows: U32 | None = None) -> Directions:
        """Learn the principal directions of a sample of vectors, scaled to equal length."""
        n_rows = len(counts) if rows is None else len(rows)
        places = _sampled(n_rows)
        sample = counts[places if rows is None else rows[places]].astype(np.float64)
        lengths = np.linalg.norm(sample, axis=1)
        sample = sample[lengths > 0] / lengths[lengths > 0, None]
        with _one_thread_of_blas():
            _, vectors = np.linalg.eigh(sample.T @ sample)
        matrix = vectors.T[::-1]
        largest = matrix[np.arange(len(matrix)), np.abs(matrix).argmax(axis=1)]
        return cls(np.rint(matrix * np.sign(largest)[:, None] * SCALE))

    @cached_property
    def stretch(self) -> float:
        """The maximum factor by which the directions lengthen a vector: S of the proof, rounded up."""
        whole = self.matrix.astype(np.int64)
        largest = int(np.abs(whole @ whole.T).sum(axis=1).max(initial=0))
        return (math.isqrt(largest) + 1) * (1 + 2.0**-50)

    @property
    def n_columns(self) -> int:
        """Number of values of a point: the leading directions, and the length of the rest."""
        return min(N_DIRECTIONS + 1, len(self.matrix))

    def points(self, counts: U32, rows: U32 | None = None) -> F32:
        """Return the points of the vectors, or of those in the given rows, shape (n_vectors, n_columns)."""
        n_leading = self.n_columns - 1
        points = np.empty((len(counts) if rows is None else len(rows), self.n_columns), np.float32)
        for start in range(0, len(points), _ROWS_AT_A_TIME):
            part = slice(start, start + _ROWS_AT_A_TIME)
            along = counts[part if rows is None else rows[part]].astype(np.float64) @ self.matrix.T
            points[part, :n_leading] = along[:, :n_leading]
            points[part, n_leading] = np.sqrt(np.square(along[:, n_leading:]).sum(axis=1))
        return points

    def reaches(self, squared_lengths: I64, limits: I64) -> F32:
        """Return the maximum squared distance of the points of matches from those of queries, as summed in float32."""
        radius = np.sqrt(np.maximum(limits, 0).astype(np.float64))
        radius += _ROUNDING * (2 * np.sqrt(squared_lengths.astype(np.float64)) + radius)
        reaches = (self.stretch * radius) ** 2 * _SUMMING
        return np.nextafter(reaches.astype(np.float32), np.float32(np.inf))


def squared_lengths(counts: U32) -> I64:
    """Return the exact squared length of each vector: with at most 256 counts below 2**27 it is below 2**62."""
    squares = np.empty(len(counts), np.int64)
    for start in range(0, len(counts), _ROWS_AT_A_TIME):
        whole = counts[start : start + _ROWS_AT_A_TIME].astype(np.int64)
        squares[start : start + _ROWS_AT_A_TIME] = np.einsum("ij,ij->i", whole, whole)
    return squares


def _sampled(n_rows: int) -> I64:
    if n_rows <= _SAMPLE:
        return np.arange(n_rows)
    return np.unique(np.linspace(0, n_rows - 1, _SAMPLE).astype(np.int64))


@contextmanager
def _one_thread_of_blas() -> Iterator[None]:
    """Let BLAS work in this thread alone: its threads wait busily for more work, longer than a small matrix takes."""
    with _LIMITING, _blas().limit(limits=1):
        yield


@cache
def _blas() -> Any:
    """Return the BLAS of numpy; the search takes a millisecond."""
    from threadpoolctl import ThreadpoolController  # not for a question: only an index that is made learns directions

    return ThreadpoolController().select(user_api="blas")
