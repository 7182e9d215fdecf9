"""The plain twins of the loops of `nearkin.kernels.range_blocks`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.range_blocks import FAN_OUT


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
