"""Axes for numbers and for labels: positions of values between the ends, and ticks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Tick = tuple[float, str]
"""Position of a tick, as a fraction of the axis, with its label."""

_TRANSFORMS: Mapping[str, Callable[[float], float]] = {"linear": float, "log": math.log, "symlog": math.log1p}
_SKEWED = 60  # a maximum this many times the median count leaves the others no height on a linear scale


def short_number(value: float) -> str:
    """Return a number without trailing zeros.

    Examples
    --------
    >>> short_number(0.30000000000000004), short_number(1000.0)
    ('0.3', '1000')
    """
    return f"{value:.6g}" if value < 1e6 else f"{value:.0f}"


def grouped(value: float) -> str:
    """Return a count with thousands separators."""
    return f"{value:,.0f}"


def with_prefix(value: float) -> str:
    """Return a count with an SI prefix.

    Examples
    --------
    >>> with_prefix(20_000), with_prefix(1_500_000), with_prefix(0)
    ('20k', '1.5M', '0')
    """
    for size, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.4g}{prefix}"
    return f"{value:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Axis for numbers."""

    low: float
    high: float
    title: str = ""
    kind: Literal["linear", "log", "symlog"] = "linear"
    values: Sequence[float] | None = None
    n_ticks: int = 5
    words: Callable[[float], str] = short_number

    def fraction(self, value: float) -> float:
        """Return the position of a value: 0 at the low end, 1 at the high one."""
        transform = _TRANSFORMS[self.kind]
        low, high = transform(self.low), transform(self.high)
        return (transform(value) - low) / (high - low)

    def ticks(self, n_pixels: float) -> list[Tick]:
        """Return the ticks inside the ends."""
        values = round_numbers(self.low, self.high, self.n_ticks) if self.values is None else self.values
        return [(self.fraction(v), self.words(v)) for v in values if self.low <= v <= self.high]


@dataclass(frozen=True, slots=True)
class Labels:
    """Axis for labels at equal distances."""

    labels: Sequence[str]
    title: str = ""
    gap: float = 0.2
    label_pixels: float = 0.0

    @property
    def step(self) -> float:
        """Distance between two labels, as a fraction of the axis."""
        margin = 0.3 if self.gap == 1 else self.gap
        return 1 / max(len(self.labels) - self.gap + 2 * margin, 1e-9) if self.labels else 1.0

    @property
    def column(self) -> float:
        """Width of a column, as a fraction of the axis."""
        return self.step * (1 - self.gap)

    def fraction(self, position: float) -> float:
        """Return the centre of a label by its position in the sequence."""
        margin = 0.3 if self.gap == 1 else self.gap
        return self.step * (margin + position) + self.column / 2

    def ticks(self, n_pixels: float) -> list[Tick]:
        """Return the labels that have room."""
        every = max(1, math.ceil(len(self.labels) * self.label_pixels / n_pixels))
        return [(self.fraction(i), label) for i, label in enumerate(self.labels) if i % every == 0]


def round_numbers(low: float, high: float, n: int) -> list[float]:
    """Return about ``n`` round numbers from low to high: multiples of 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> round_numbers(0.8, 1.0, 5)
    [0.8, 0.85, 0.9, 0.95, 1.0]
    >>> round_numbers(0, 36, 5)
    [0.0, 10.0, 20.0, 30.0]
    """
    rough = (high - low) / max(n, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    excess = rough / power
    step = power * (10 if excess >= 50**0.5 else 5 if excess >= 10**0.5 else 2 if excess >= 2**0.5 else 1)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    decimals = max(0, -math.floor(math.log10(step)) + 1)
    return [round(i * step, decimals) for i in range(first, last + 1)]


def count_axis(counts: Sequence[float], title: str) -> Numbers:
    """Return an axis of counts from 0; logarithmic where they differ by orders of magnitude, which its title says."""
    seen = sorted(count for count in counts if count > 0)
    top = seen[-1] if seen else 1.0
    words = grouped if top < 10_000 else with_prefix
    if not seen or top <= _SKEWED * seen[len(seen) // 2]:
        values = list(range(int(top) + 1)) if top <= 4 else None
        return Numbers(low=0, high=top * 1.05, title=title, values=values, words=words)
    powers = [10**exponent for exponent in range(len(str(int(top))))]
    values = [0, *powers[:: 1 + len(powers) // 5]]
    return Numbers(low=0, high=top * 1.3, title=f"{title}, log scale", kind="symlog", values=values, words=words)
