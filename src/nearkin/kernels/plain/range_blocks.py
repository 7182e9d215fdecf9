"""The twin of ``compiled.range_blocks``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FAN_OUT = 16


def order_points(points: NDArray[np.float32], rows: NDArray[np.uint32], *, block_size: int) -> None:
    """See ``compiled.range_blocks.order_points``.

    Examples
    --------
    >>> points, rows = np.array([[1, 9], [2, 0], [1, 1], [1, 8]], np.float32), np.array([0, 1, 2, 3], np.uint32)
    >>> order_points(points, rows, block_size=2)
    >>> rows.tolist(), points[:, 1].tolist()
    ([1, 2, 0, 3], [0.0, 1.0, 9.0, 8.0])
    """
    order = _ordered(points, rows, np.arange(len(rows)), block_size)
    points[:], rows[:] = points[order], rows[order]


def _ordered(
    points: NDArray[np.float32], rows: NDArray[np.uint32], chosen: NDArray[np.int64], block_size: int
) -> NDArray[np.int64]:
    n_blocks = -(-len(chosen) // block_size)
    if n_blocks <= 1:
        return chosen[np.argsort(rows[chosen])]
    middle = block_size << ((n_blocks - 1).bit_length() - 1)
    values = points[chosen]
    column = int(np.argmax(values.max(axis=0) - values.min(axis=0)))
    by_value = chosen[np.lexsort((rows[chosen], values[:, column]))]
    halves = by_value[:middle], by_value[middle:]
    return np.concatenate([_ordered(points, rows, half, block_size) for half in halves])


def fill_blocks(
    points: NDArray[np.float32],
    blocks: NDArray[np.float32],
    boxes: NDArray[np.float32],
    level_groups: NDArray[np.int64],
) -> None:
    """See ``compiled.range_blocks.fill_blocks``.

    Examples
    --------
    >>> blocks, boxes = np.zeros((2, 1, 2), np.float32), np.zeros((1, 1, 2, 16), np.float32)
    >>> fill_blocks(np.array([[3], [1], [4]], np.float32), blocks, boxes, np.array([0, 1]))
    >>> blocks[:, 0].tolist(), boxes[0, 0, :, :3].tolist()
    ([[3.0, 1.0], [4.0, inf]], [[1.0, 4.0, inf], [3.0, 4.0, inf]])
    """
    n_blocks, n_columns, block_size = blocks.shape
    padded = np.full((n_blocks * block_size, n_columns), np.inf, np.float32)
    padded[: len(points)] = points
    blocks[:] = padded.reshape(n_blocks, block_size, n_columns).transpose(0, 2, 1)
    boxes[:] = np.inf
    # what fills the last block must not widen its box
    low, high = blocks.min(axis=2), np.where(np.isinf(blocks), -np.inf, blocks).max(axis=2)
    for first in level_groups[:-1]:
        for i in range(len(low)):
            boxes[first + i // FAN_OUT, :, 0, i % FAN_OUT] = low[i]
            boxes[first + i // FAN_OUT, :, 1, i % FAN_OUT] = high[i]
        starts = np.arange(0, len(low), FAN_OUT)
        low, high = np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)
