"""Groups built from matches: principals and their members, or connected components."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

_ROW_BYTES = 16


def principals(
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    similarity: NDArray[np.float64],
    order: NDArray[np.uint32],
) -> NDArray[np.uint32]:
    """Return the principal of each row: in order of preference, a row becomes one if it matches no principal.

    Each other row then belongs to the most similar principal, in a tie to the more preferred one.

    Examples
    --------
    >>> left, right = np.array([0, 1], np.uint32), np.array([1, 2], np.uint32)
    >>> principals(left, right, np.array([0.9, 0.8]), np.array([0, 1, 2], np.uint32)).tolist()  # 2 is not like 0
    [0, 0, 2]
    """
    principal = np.arange(len(order), dtype=np.uint32)
    kernel = loops("grouping", _ROW_BYTES * len(order))
    kernel.assign_principals(*frozen(left, right, similarity, order), principal)
    return principal


def components(
    left: NDArray[np.uint32], right: NDArray[np.uint32], n_rows: int, *, work_bytes: int | None = None
) -> NDArray[np.uint32]:
    """Return the lowest row of each row's connected component.

    Parameters
    ----------
    work_bytes
        Basis for choosing the loops if few rows have matches: a byte is about a microsecond of the plain loops.
    """
    least = np.arange(n_rows, dtype=np.uint32)
    kernel = loops("grouping", _ROW_BYTES * n_rows if work_bytes is None else work_bytes)
    kernel.unite(*frozen(left, right), least)
    return least
