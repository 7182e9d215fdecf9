"""Times, large numbers and shares of a plan, which are known only approximately."""

from __future__ import annotations

import math


def time_text(seconds: float) -> str:
    """Write an approximate time.

    Examples
    --------
    >>> [time_text(s) for s in (0.004, 0.34, 12.2, 200, 18360, 400_000, 6.3e9)]
    ['under 0.01 s', '0.34 s', '12 s', '3 min 20 s', '5.1 h', '4.6 days', '200 years']
    """
    if seconds < 0.01:
        return "under 0.01 s"
    if seconds < 59.5:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    if seconds < 3600:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    for unit, size, most in (("h", 3600, 48), ("days", 86_400, 1000)):
        if seconds / size < most:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds / 86_400 / 365.25:,.0f} years"


def many_text(n: float) -> str:
    """Write a large estimated number in words.

    Examples
    --------
    >>> [many_text(n) for n in (0.02, 12.3, 64_000, 2.19e9, 5.06e12, 3e16)]
    ['under 1', '12', '64,000', '2.19 billion', '5.06 trillion', '30,000 trillion']
    """
    if n < 0.5:
        return "under 1" if n > 0 else "0"
    if n < 10_000:
        return f"{n:,.0f}"
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if n >= size:
            return f"{n / size:,.0f} {word}" if n >= 1000 * size else f"{n / size:.3g} {word}"
    return f"{float(f'{n:.3g}'):,.0f}"


def rough_share_text(value: float) -> str:
    """Write a share in per cent, with more digits near 0 and 100, never rounded up to 100.

    Examples
    --------
    >>> [rough_share_text(value) for value in (0.9021, 1.0, 0.99996, 0.0001, 2.5)]
    ['90.2%', '100%', '99.99%', '0.01%', '250%']
    """
    if value == 1 or value >= 1.995:
        return f"{value:.0%}"
    if 0.995 <= value < 1 or 0 < value < 0.005:
        return f"{math.floor(value * 10_000) / 100 or 0.01:.2f}%"
    return f"{100 * value:.1f}%"
