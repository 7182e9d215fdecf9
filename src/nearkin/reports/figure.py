"""Figure of a page: drawn at two widths, with its caption and its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nearkin.reports.quantities import parameter_text

_WIDTHS = (("w", 684), ("n", 262))
"""Suffix of a figure's name, and width of its plot in pixels: on a screen with a margin of text, and on a phone."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Figure at two widths, with its caption and its numbers as a table."""

    wide: str
    narrow: str
    caption: str
    columns: tuple[str, str] = ("", "")
    rows: tuple[tuple[str, str], ...] = ()


def at_both_widths(name: str, draw: Callable[[str, int], str]) -> tuple[str, str]:
    """Draw a figure for a screen and for a phone; ``draw`` takes a unique name and the width of the plot in pixels."""
    wide, narrow = (draw(f"{name}-{tag}", width) for tag, width in _WIDTHS)
    return wide, narrow


def bins_from(
    threshold: float | None, bin_edges: Sequence[float], counts: Sequence[int]
) -> tuple[list[float], Sequence[int]]:
    """Omit the empty bins below a threshold and let the first bin begin at it: no pair below it was counted.

    Examples
    --------
    >>> bins_from(0.6, [0.0, 0.25, 0.5, 0.75, 1.0], [0, 0, 3, 4])
    ([0.6, 0.75, 1.0], [3, 4])
    """
    if threshold is None:
        return list(bin_edges), counts
    last = len(counts) - 1
    first = next((i for i, n in enumerate(counts) if n or bin_edges[i + 1] > threshold), last)
    start = bin_edges[first]
    if start < threshold < bin_edges[first + 1]:
        start = threshold
    return [start, *bin_edges[first + 1 :]], counts[first:]


def bins_in_words(bin_edges: Sequence[float]) -> Iterator[str]:
    """Yield the bins of a histogram in words; the last one holds its upper end.

    Examples
    --------
    >>> list(bins_in_words([0.5, 0.75, 1.0]))
    ['0.50 to under 0.75', '0.75 to 1.00']
    """
    last = len(bin_edges) - 2
    for i, (low, high) in enumerate(pairwise(bin_edges)):
        yield f"{parameter_text(low)} {'to' if i == last else 'to under'} {parameter_text(high)}"
