"""Twin of ``compiled.ones``."""

from __future__ import annotations


def n_ones(x: int) -> int:
    """Count the ones; see ``compiled.ones.n_ones``.

    Examples
    --------
    >>> n_ones(0b1011)
    3
    """
    return x.bit_count()
