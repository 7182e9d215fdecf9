"""The plain twins of the loops of `nearkin.kernels.ranges`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.ranges import FAN_OUT


def order_many(points, rows, block_size):
    order = _ordered(points, rows, np.arange(len(rows)), block_size)
    points[:], rows[:] = points[order], rows[order]


def _ordered(points, rows, chosen, block_size):
    n_blocks = -(-len(chosen) // block_size)
    if n_blocks <= 1:
        return chosen[np.argsort(rows[chosen])]
    middle = block_size << ((n_blocks - 1).bit_length() - 1)
    values = points[chosen]
    column = int(np.argmax(values.max(axis=0) - values.min(axis=0)))
    by_value = chosen[np.lexsort((rows[chosen], values[:, column]))]
    halves = by_value[:middle], by_value[middle:]
    return np.concatenate([_ordered(points, rows, half, block_size) for half in halves])


def fill_many(points, blocks, boxes, level_groups):
    n_blocks, n_columns, block_size = blocks.shape
    padded = np.full((n_blocks * block_size, n_columns), np.inf, np.float32)
    padded[: len(points)] = points
    blocks[:] = padded.reshape(n_blocks, block_size, n_columns).transpose(0, 2, 1)
    # padding of the last block must not widen its box
    low, high = blocks.min(axis=2), np.where(np.isinf(blocks), -np.inf, blocks).max(axis=2)
    for first in level_groups[:-1]:
        for i in range(len(low)):
            boxes[first + i // FAN_OUT, :, 0, i % FAN_OUT] = low[i]
            boxes[first + i // FAN_OUT, :, 1, i % FAN_OUT] = high[i]
        starts = np.arange(0, len(low), FAN_OUT)
        low, high = np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)


def scan_many(
    blocks, boxes, level_groups, rows, vectors, queries, points, reaches, limits,
    start, first, found_queries, found_rows, found_squares, counts,
):  # fmt: skip
    n_found, block_size = 0, blocks.shape[2]
    for query in range(start, len(queries)):
        near = _near_blocks(boxes, level_groups, points[query], reaches[query]) if limits[query] >= 0 else iter(())
        for block in near:
            if block < first:
                continue
            if n_found + block_size > len(found_rows):
                return n_found, query, block
            squares = _squares(blocks[block] - points[query][:, None])
            own = rows[block * block_size : (block + 1) * block_size]
            reached = own[squares[: len(own)] <= reaches[query]]
            gaps = vectors[reached].astype(np.int64) - queries[query].astype(np.int64)
            exact = (gaps * gaps).sum(axis=1)
            is_match = exact <= limits[query]
            end = n_found + int(is_match.sum())
            found_queries[n_found:end], found_rows[n_found:end] = query, reached[is_match]
            found_squares[n_found:end] = exact[is_match]
            counts[query] += (len(own), len(reached), end - n_found)
            n_found = end
        first = 0
    return n_found, len(queries), 0


def _near_blocks(
    boxes: NDArray[np.float32], level_groups: NDArray[np.int64], point: NDArray[np.float32], reach: np.float32
) -> Iterator[int]:
    nodes = [0] if len(boxes) else []
    for level in range(len(level_groups) - 2, -1, -1):
        children = []
        for node in nodes:
            low, high = boxes[level_groups[level] + node].transpose(1, 0, 2)
            gaps = np.maximum(np.maximum(low - point[:, None], point[:, None] - high), np.float32(0))
            children += [node * FAN_OUT + int(lane) for lane in np.flatnonzero(_squares(gaps) <= reach)]
        nodes = children
    return iter(nodes)


def _squares(gaps: NDArray[np.float32]) -> NDArray[np.float32]:
    squares = np.zeros(gaps.shape[1], np.float32)
    for gap in gaps:
        squares += gap * gap
    return squares
