"""Loops of `nearkin.kernels.ranges`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.basics import copy_into, njit
from nearkin.kernels.ranges import FAN_OUT

_STEP = 4


@njit(nogil=True, cache=True)
def order_many(points, rows, block_size):
    n_columns = points.shape[1]
    starts, ends = np.empty(128, np.int64), np.empty(128, np.int64)
    starts[0], ends[0], n_open = 0, len(points), 1
    low, high, pivot = np.empty(n_columns, np.float32), np.empty(n_columns, np.float32), np.empty(n_columns, np.float32)
    while n_open:
        n_open -= 1
        start, end = starts[n_open], ends[n_open]
        n_blocks = -(-(end - start) // block_size)
        if n_blocks <= 1:
            _sort_rows(points, rows, start, end, pivot)
            continue
        half = 1
        while 2 * half < n_blocks:
            half *= 2
        middle = start + half * block_size
        column = _widest(points, start, end, low, high)
        _select(points, rows, start, end, middle, column)
        starts[n_open], ends[n_open] = start, middle
        starts[n_open + 1], ends[n_open + 1] = middle, end
        n_open += 2


@njit(nogil=True, cache=True)
def _widest(points, start, end, low, high):
    copy_into(low, points[start])
    copy_into(high, points[start])
    for i in range(start, end):
        for k in range(points.shape[1]):
            value = points[i, k]
            low[k] = value if value < low[k] else low[k]
            high[k] = value if value > high[k] else high[k]
    widest, column = np.float32(-1), 0
    for k in range(points.shape[1]):
        if high[k] - low[k] > widest:
            widest, column = high[k] - low[k], k
    return column


@njit(inline="always", cache=True)
def _swap(points, rows, i, j):
    for k in range(points.shape[1]):
        points[i, k], points[j, k] = points[j, k], points[i, k]
    rows[i], rows[j] = rows[j], rows[i]


@njit(inline="always", cache=True)
def _is_before(points, rows, i, column, value, row):
    return points[i, column] < value or (points[i, column] == value and rows[i] < row)


@njit(inline="always", cache=True)
def _is_after(points, rows, i, column, value, row):
    return points[i, column] > value or (points[i, column] == value and rows[i] > row)


@njit(nogil=True, cache=True)
def _select(points, rows, start, end, middle, column):
    """Move the smallest values before ``middle``: quickselect with the median of three as pivot."""
    left, right = start, end - 1
    while left < right:
        centre = left + (right - left) // 2
        for i, j in ((left, centre), (centre, right), (left, centre)):
            if _is_after(points, rows, i, column, points[j, column], rows[j]):
                _swap(points, rows, i, j)
        value, row = points[centre, column], rows[centre]
        i, j = left, right
        while i <= j:
            while _is_before(points, rows, i, column, value, row):
                i += 1
            while _is_after(points, rows, j, column, value, row):
                j -= 1
            if i <= j:
                if i < j:
                    _swap(points, rows, i, j)
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@njit(nogil=True, cache=True)
def _sort_rows(points, rows, start, end, held):
    for i in range(start + 1, end):
        row = rows[i]
        copy_into(held, points[i])
        j = i - 1
        while j >= start and rows[j] > row:
            rows[j + 1] = rows[j]
            copy_into(points[j + 1], points[j])
            j -= 1
        rows[j + 1] = row
        copy_into(points[j + 1], held)


@njit(nogil=True, cache=True)
def fill_many(points, blocks, boxes, level_groups):
    _fill(points, blocks)
    _bound_blocks(blocks, len(points), boxes)
    for level in range(1, len(level_groups) - 1):
        _bound_groups(boxes, level_groups[level - 1], level_groups[level], level_groups[level])


@njit(nogil=True, cache=True)
def _fill(points, blocks):
    n_blocks, n_columns, block_size = blocks.shape
    for block in range(n_blocks):
        for lane in range(block_size):
            i = block * block_size + lane
            for k in range(n_columns):
                blocks[block, k, lane] = points[i, k] if i < len(points) else np.float32(np.inf)


@njit(nogil=True, cache=True)
def _bound_blocks(blocks, n_points, boxes):
    n_blocks, n_columns, block_size = blocks.shape
    for block in range(n_blocks):
        n_lanes = min(block_size, n_points - block * block_size)
        for k in range(n_columns):
            low = high = blocks[block, k, 0]
            for lane in range(1, n_lanes):
                low, high = min(low, blocks[block, k, lane]), max(high, blocks[block, k, lane])
            boxes[block // FAN_OUT, k, 0, block % FAN_OUT] = low
            boxes[block // FAN_OUT, k, 1, block % FAN_OUT] = high


@njit(nogil=True, cache=True)
def _bound_groups(boxes, first, end, out):
    for group in range(first, end):
        at = group - first
        for k in range(boxes.shape[1]):
            low, high = np.float32(np.inf), np.float32(-np.inf)
            for lane in range(FAN_OUT):
                if boxes[group, k, 0, lane] < np.inf:
                    low, high = min(low, boxes[group, k, 0, lane]), max(high, boxes[group, k, 1, lane])
            boxes[out + at // FAN_OUT, k, 0, at % FAN_OUT] = low
            boxes[out + at // FAN_OUT, k, 1, at % FAN_OUT] = high


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
