"""All points within a distance: blocks of close points in a tree of boxes, and the search of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, is_worth_starting, loops

FAN_OUT = 16
"""Number of boxes side by side: comparing all of them takes few vector instructions."""
_TWIN_S = 0.003  # time of the plain loops per query


def order_points(points: NDArray[np.float32], rows: NDArray[np.uint32], *, block_size: int) -> None:
    """Bring distinct rows and their finite points into the order of their blocks, in place.

    A range of several blocks is divided at a whole block, at the largest power of two below its number of blocks, by
    the column in which its points are farthest apart; ties are broken by row.
    """
    loops("ranges", points.nbytes).order_many(points, rows, block_size)


def fill_blocks(
    points: NDArray[np.float32],
    blocks: NDArray[np.float32],
    boxes: NDArray[np.float32],
    level_groups: NDArray[np.int64],
) -> None:
    """Write ordered points column by column, and the boxes of all levels.

    Parameters
    ----------
    blocks : float32 array, shape (n_blocks, n_columns, block_size), written
        Places after the last point are set to infinity.
    boxes : float32 array, shape (n_groups, n_columns, 2, FAN_OUT), written
        Lowest and highest value of each block in each column, then of each ``FAN_OUT`` boxes, up to one group; both are
        infinite for missing boxes.
    level_groups : int64 array, shape (n_levels + 1,)
        Start of the groups of each level; the boxes of blocks come first.
    """
    boxes[:] = np.inf
    loops("ranges", points.nbytes).fill_many(*frozen(points), blocks, boxes, *frozen(level_groups))


def scan_blocks(
    blocks: NDArray[np.float32],
    boxes: NDArray[np.float32],
    level_groups: NDArray[np.int64],
    rows: NDArray[np.uint32],
    vectors: NDArray[np.uint32],
    *,
    queries: NDArray[np.uint32],
    points: NDArray[np.float32],
    reaches: NDArray[np.float32],
    limits: NDArray[np.int64],
    found: tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]],
    counts: NDArray[np.int64],
) -> Iterator[int]:
    """Compare queries with all points within their distance; yields whenever the buffer is full.

    Parameters
    ----------
    vectors : uint32 array, shape (n_vectors, n_dimensions)
        Row ``rows[i]`` belongs to point ``i``.
    queries, points : arrays, shapes (n_queries, n_dimensions) and (n_queries, n_columns)
        Vectors of the queries, and their points.
    reaches : float32 array, shape (n_queries,)
        Points with a greater squared distance, summed in float32, are skipped.
    limits : int64 array, shape (n_queries,)
        Maximum squared distance of matching vectors; negative to skip a query.
    found : three arrays of one length, at least block_size, written
        Queries, rows, squared distances; for each query in the order of blocks.
    counts : int64 array, shape (n_queries, 3), added to
        Points compared, points within reach, matches.

    Yields
    ------
    n_found : int
        Number of results in ``found``, valid until the next iteration; never 0.
    """
    is_worth_it = is_worth_starting(_TWIN_S * len(queries))
    kernel = loops("ranges", vectors.nbytes if is_worth_it else 0)
    tree = frozen(blocks, boxes, level_groups, rows, vectors)
    asked = frozen(queries, points, reaches, limits)
    query = block = 0
    while query < len(queries):
        n_found, query, block = kernel.scan_many(*tree, *asked, query, block, *found, counts)
        if n_found:
            yield int(n_found)
