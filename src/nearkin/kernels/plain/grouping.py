"""The twin of ``compiled.grouping``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def principals(
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    similarity: NDArray[np.float64],
    order: NDArray[np.uint32],
) -> NDArray[np.uint32]:
    """See ``compiled.grouping.principals``.

    Examples
    --------
    >>> left, right = np.array([0, 1], np.uint32), np.array([1, 2], np.uint32)
    >>> principals(left, right, np.array([0.9, 0.8]), np.array([0, 1, 2], np.uint32)).tolist()  # 2 is not like 0
    [0, 0, 2]
    """
    likeness: list[dict[int, float]] = [{} for _ in order]
    for a, b, value in zip(left.tolist(), right.tolist(), similarity.tolist(), strict=True):
        likeness[a][b] = likeness[b][a] = value
    rank = {row: i for i, row in enumerate(order.tolist())}
    chosen: set[int] = set()
    for row in order.tolist():
        if not chosen & likeness[row].keys():
            chosen.add(row)
    principal = list(range(len(order)))
    for row in set(principal) - chosen:
        principal[row] = min(chosen & likeness[row].keys(), key=lambda other: (-likeness[row][other], rank[other]))
    return np.array(principal, np.uint32)


def components(left: NDArray[np.uint32], right: NDArray[np.uint32], n_rows: int) -> NDArray[np.uint32]:
    """See ``compiled.grouping.components``.

    Examples
    --------
    >>> components(np.array([0, 1], np.uint32), np.array([1, 2], np.uint32), 4).tolist()
    [0, 0, 0, 3]
    """
    least = np.arange(n_rows, dtype=np.uint32)
    while True:
        before = least.copy()
        for a, b in zip(left, right, strict=True):
            least[a] = least[b] = min(least[a], least[b])
        if (least == before).all():
            return least
