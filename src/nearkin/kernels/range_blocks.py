"""Blocks of points that are close to one another, and boxes around blocks and around boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

FAN_OUT = 16
"""Number of boxes side by side: comparing all of them takes few vector instructions."""


def order_points(points: NDArray[np.float32], rows: NDArray[np.uint32], *, block_size: int) -> None:
    """Bring distinct rows and their finite points into the order of their blocks, in place.

    A range of several blocks is divided at a whole block, at the largest power of two below its number of blocks, by
    the column in which its points are farthest apart; ties are broken by row.
    """
    loops("range_blocks", points.nbytes).order_many(points, rows, block_size)


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
    loops("range_blocks", points.nbytes).fill_many(*frozen(points), blocks, boxes, *frozen(level_groups))
