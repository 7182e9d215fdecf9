"""Directions in which documents differ most, and points along them that are never farther apart than the vectors.

docs/range-search.md proves that the search loses nothing; the names here are those of the proof.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearkin.records import F64, I64, U32

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
        """Learn the principal directions of a sample of vectors, scaled to equal length.

        The tolerance grows with a document's length, so lengths must not matter: the directions show how profiles
        differ. The sample is spread evenly over the rows, or over the given ones. The sign of a direction makes its
        largest entry positive.

        Examples
        --------
        >>> directions = Directions.learn(np.array([[9, 1], [90, 10], [8, 2]], np.uint32))
        >>> (directions.matrix[0] / SCALE).round(2).tolist()
        [0.99, 0.15]
        """
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
        """The maximum factor by which the directions lengthen a vector: S of the proof, rounded up.

        By Gershgorin's theorem no eigenvalue of the Gram matrix exceeds the sum of a row's absolute values; these
        are integers, summed exactly.
        """
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
        """Return the maximum squared distance of the points of matches from those of queries, as summed in float32.

        Parameters
        ----------
        squared_lengths, limits : int64 arrays, shape (n_queries,)
            Those of the queries, and the maximum squared distance of a match.
        """
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
    """Return the places of the rows that directions are learned from: all, or `_SAMPLE` at equal distances."""
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
    """Return the BLAS of numpy; to search the libraries of the process for it takes a millisecond."""
    from threadpoolctl import ThreadpoolController  # not for a question: only an index that is made learns directions

    return ThreadpoolController().select(user_api="blas")
