"""Twin of ``compiled.mixing``."""

from __future__ import annotations

MASK = 0xFFFFFFFFFFFFFFFF
GOLDEN = 0x9E3779B97F4A7C15


def mix(x: int) -> int:
    """Apply a pseudo-random bijection to 64 bits.

    Examples
    --------
    >>> hex(mix(1))
    '0x5692161d100b05e5'
    """
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)
