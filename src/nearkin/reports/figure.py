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
