"""All points of a tree of blocks within a distance of a query, then the exact distances of their vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.range_blocks import FAN_OUT

_STEP = 4


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
    start: tuple[int, int],
    found: tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]],
    counts: NDArray[np.int64],
) -> tuple[int, tuple[int, int]]:
    """Compare queries with what their distance reaches.

    Parameters
    ----------
    blocks, boxes, level_groups, rows
        See `nearkin.kernels.range_blocks`.
    vectors : uint32 array, shape (n_vectors, n_dimensions)
        Row ``rows[i]`` belongs to point ``i``.
    queries, points : arrays, shapes (n_queries, n_dimensions) and (n_queries, n_columns)
        The vectors that are asked, and their points.
    reaches : float32 array, shape (n_queries,)
        Points with a greater squared distance, as float32 adds it up, are left out.
    limits : int64 array, shape (n_queries,)
        The greatest squared distance of vectors that is a match; below 0 for a query that is left out.
    start : (int, int)
        (0, 0), or what the last call said: a query and a block.
    found : three arrays of one length, at least block_size, written
        Queries, rows, squared distances; of a query in the order of blocks.
    counts : int64 array, shape (n_queries, 3), added to
        Points compared, points within reach, matches.

    Returns
    -------
    n_found : int
    next_start : (int, int)
        Its first number is ``len(queries)`` when all is done.
    """
    n_found, query, block = _scan_many(
        blocks, boxes, level_groups, rows, vectors, queries, points, reaches, limits, start[0], start[1], *found, counts
    )
    return int(n_found), (int(query), int(block))


@njit(nogil=True, cache=True)
def _scan_many(
    blocks, boxes, level_groups, rows, vectors, queries, points, reaches, limits,
    query, block, found_queries, found_rows, found_squares, counts,
):  # fmt: skip
    n_found = 0
    asked = np.empty(queries.shape[1], np.int64)
    nodes = np.empty(FAN_OUT * len(level_groups), np.int64)
    levels = np.empty(FAN_OUT * len(level_groups), np.int64)
    squares = np.empty(blocks.shape[2], np.float32)
    while query < len(queries):
        if limits[query] >= 0 and len(blocks):
            asked[:] = queries[query]
            n_before = n_found
            n_found, block = _scan_one(
                blocks, boxes, level_groups, rows, vectors, asked, points[query], reaches[query], limits[query],
                block, nodes, levels, squares, found_rows, found_squares, n_found, counts[query],
            )  # fmt: skip
            found_queries[n_before:n_found] = query
            if block < len(blocks):
                return n_found, query, block
        query += 1
        block = 0
    return n_found, query, 0


@njit(nogil=True, cache=True)
def _scan_one(
    blocks, boxes, level_groups, rows, vectors, asked, point, reach, limit,
    start, nodes, levels, squares, found_rows, found_squares, n_found, counts,
):  # fmt: skip
    """Go down to the blocks from ``start`` on; stop before one for which there may be no room, and say which."""
    near = np.empty(FAN_OUT, np.float32)
    top = len(level_groups) - 2
    nodes[0], levels[0], n_open = 0, top, 1
    while n_open:
        n_open -= 1
        node, level = nodes[n_open], levels[n_open]
        if level < 0:
            if n_found + blocks.shape[2] > len(found_rows):
                return n_found, node
            n_found = _scan_block(
                blocks, node, rows, vectors, asked, point, reach, limit, squares,
                found_rows, found_squares, n_found, counts,
            )  # fmt: skip
            continue
        if not _is_any_near(boxes, level_groups[level] + node, point, reach, near):
            continue
        blocks_below = FAN_OUT**level
        for lane in range(FAN_OUT - 1, -1, -1):
            child = node * FAN_OUT + lane
            if near[lane] <= reach and (child + 1) * blocks_below > start:
                nodes[n_open], levels[n_open] = child, level - 1
                n_open += 1
    return n_found, len(blocks)


@njit(inline="always", cache=True)
def _is_any_near(boxes, group, point, reach, near):
    """Squared distances from the boxes of a group, a few columns at a time while any box is within reach."""
    for lane in range(FAN_OUT):
        near[lane] = np.float32(0)
    n_columns = boxes.shape[1]
    for first in range(0, n_columns, _STEP):
        for k in range(first, min(first + _STEP, n_columns)):
            value = point[k]
            for lane in range(FAN_OUT):
                below, above = boxes[group, k, 0, lane] - value, value - boxes[group, k, 1, lane]
                gap = below if below > above else above
                gap = gap if gap > np.float32(0) else np.float32(0)
                near[lane] += gap * gap
        n_near = 0
        for lane in range(FAN_OUT):
            n_near += near[lane] <= reach
        if n_near == 0:
            return False
    return True


@njit(inline="always", cache=True)
def _scan_block(
    blocks, block, rows, vectors, asked, point, reach, limit, squares, found_rows, found_squares, n_found, counts
):
    _, n_columns, n_lanes = blocks.shape
    counts[0] += min(n_lanes, len(rows) - block * n_lanes)
    for lane in range(n_lanes):
        squares[lane] = np.float32(0)
    for first in range(0, n_columns, _STEP):
        for k in range(first, min(first + _STEP, n_columns)):
            value = point[k]
            for lane in range(n_lanes):
                gap = blocks[block, k, lane] - value
                squares[lane] += gap * gap
        n_near = 0
        for lane in range(n_lanes):
            n_near += squares[lane] <= reach
        if n_near == 0:
            return n_found
    for lane in range(n_lanes):
        if squares[lane] <= reach:
            counts[1] += 1
            row = rows[block * n_lanes + lane]
            square = _square_distance(vectors, row, asked)
            if square <= limit:
                counts[2] += 1
                found_rows[n_found] = row
                found_squares[n_found] = square
                n_found += 1
    return n_found


@njit(inline="always", cache=True)
def _square_distance(vectors, row, asked):
    square = np.int64(0)
    for j in range(len(asked)):
        gap = np.int64(vectors[row, j]) - asked[j]
        square += gap * gap
    return square
