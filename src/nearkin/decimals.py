"""Similarities, shares and distances as decimals that are never rounded towards equality."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal


def share_text(value: float | None, digits: int = 3) -> str:
    """Write a similarity or a probability, never rounded up: only 1 itself is written as 1.

    Examples
    --------
    >>> share_text(0.79999), share_text(0.9999), share_text(1.0), share_text(0.29, 2), share_text(None)
    ('0.799', '0.999', '1.000', '0.29', '–')
    """
    return "–" if value is None else _decimal_text(value, digits, ROUND_FLOOR)


def distance_text(value: float | None, digits: int = 4) -> str:
    """Write a distance, never rounded down: only 0 itself is written as 0.

    Examples
    --------
    >>> distance_text(0.02341), distance_text(0.0000001), distance_text(0.0)
    ('0.0235', '0.0001', '0.0000')
    """
    return "–" if value is None else _decimal_text(value, digits, ROUND_CEILING)


def rounded_down(value: float, digits: int) -> float:
    """Round a share down; a value within 1e-12 of a decimal is that decimal: sums of shares are off by some 1e-16.

    Examples
    --------
    >>> rounded_down(0.99999, 4), rounded_down(1 - 1e-15, 4), rounded_down(1 - 0.1 - 0.1, 2), rounded_down(0.29, 2)
    (0.9999, 1.0, 0.8, 0.29)
    """
    return float(_decimal_text(round(float(value), 12), digits, ROUND_FLOOR))


def _decimal_text(value: float | Decimal, digits: int, rounding: str) -> str:
    """Write a float with a fixed number of digits, rounded from its shortest decimal form."""
    exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
    return str(exact.quantize(Decimal(1).scaleb(-digits), rounding))
