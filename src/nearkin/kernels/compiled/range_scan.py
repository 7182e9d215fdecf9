"""Loops of `nearkin.kernels.range_scan`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.copying import copy_into
from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.range_blocks import FAN_OUT

_STEP = 4


@njit(nogil=True, cache=True)
def scan_many(
    blocks, boxes, level_groups, rows, vectors, queries, points, reaches, limits,
    query, block, found_queries, found_rows, found_squares, counts,
):  # fmt: skip
    n_found = np.int64(0)
    asked = np.empty(queries.shape[1], np.int64)
    nodes = np.empty(FAN_OUT * len(level_groups), np.int64)
    levels = np.empty(FAN_OUT * len(level_groups), np.int64)
    squares = np.empty(blocks.shape[2], np.float32)
    while query < len(queries):
        if limits[query] >= 0 and len(blocks):
            copy_into(asked, queries[query])
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
    """Descend to the blocks from ``start`` on; stop before one for which room may be lacking, and return it."""
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
