"""Loops of `nearkin.kernels.range_blocks`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.copying import copy_into
from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.range_blocks import FAN_OUT


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
