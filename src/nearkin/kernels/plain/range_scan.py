"""The plain loops of `nearkin.kernels.range_scan`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.range_blocks import FAN_OUT


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
