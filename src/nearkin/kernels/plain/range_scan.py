"""The twin of ``compiled.range_scan``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.range_blocks import FAN_OUT


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
    """See ``compiled.range_scan.scan_blocks``."""
    n_found, block_size = 0, blocks.shape[2]
    first = start[1]
    for query in range(start[0], len(queries)):
        near = _near_blocks(boxes, level_groups, points[query], reaches[query]) if limits[query] >= 0 else iter(())
        for block in near:
            if block < first:
                continue
            if n_found + block_size > len(found[0]):
                return n_found, (query, block)
            squares = _squares(blocks[block] - points[query][:, None])
            own = rows[block * block_size : (block + 1) * block_size]
            reached = own[squares[: len(own)] <= reaches[query]]
            gaps = vectors[reached].astype(np.int64) - queries[query].astype(np.int64)
            exact = (gaps * gaps).sum(axis=1)
            is_match = exact <= limits[query]
            end = n_found + int(is_match.sum())
            found[0][n_found:end], found[1][n_found:end] = query, reached[is_match]
            found[2][n_found:end] = exact[is_match]
            counts[query] += (len(own), len(reached), end - n_found)
            n_found = end
        first = 0
    return n_found, (len(queries), 0)


def _near_blocks(
    boxes: NDArray[np.float32], level_groups: NDArray[np.int64], point: NDArray[np.float32], reach: np.float32
) -> Iterator[int]:
    """The blocks whose boxes are within reach, in order."""
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
    """Squared lengths, added up column by column, as float32."""
    squares = np.zeros(gaps.shape[1], np.float32)
    for gap in gaps:
        squares += gap * gap
    return squares
