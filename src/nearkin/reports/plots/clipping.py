"""Lines cut at the edges of a plot, so that no SVG clip path and no id is needed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

Point = tuple[float, float]


def pieces_inside(points: Sequence[Point], width: float, height: float) -> Iterator[list[Point]]:
    """Cut a line into the pieces that lie between (0, 0) and (width, height).

    A point with a NaN is a gap. A point between two gaps is a piece of one point.

    Examples
    --------
    >>> list(pieces_inside([(0, 5), (10, 15), (20, 5)], 20, 10))
    [[(0, 5), (5.0, 10.0)], [(15.0, 10.0), (20, 5)]]
    """
    for line in _without_gaps(points):
        piece: list[Point] = []
        if len(line) == 1 and _segment_inside(line[0], line[0], width, height):
            yield line
        for start, end in pairwise(line):
            inside = _segment_inside(start, end, width, height)
            if inside is None:
                continue
            if piece and piece[-1] != inside[0]:
                yield piece
                piece = []
            piece += inside[1:] if piece else inside
        if piece:
            yield piece


def _without_gaps(points: Sequence[Point]) -> Iterator[list[Point]]:
    """Cut a line at its gaps."""
    line: list[Point] = []
    for point in points:
        if not any(map(math.isnan, point)):
            line.append(point)
        elif line:
            yield line
            line = []
    if line:
        yield line


def _segment_inside(start: Point, end: Point, width: float, height: float) -> list[Point] | None:
    """Return the part of a segment that lies inside, by the algorithm of Liang and Barsky (1984)."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    first, last = 0.0, 1.0
    for towards, room in ((-dx, start[0]), (dx, width - start[0]), (-dy, start[1]), (dy, height - start[1])):
        if towards == 0 and room < 0:
            return None
        if towards < 0:
            first = max(first, room / towards)
        elif towards > 0:
            last = min(last, room / towards)
    if first > last:
        return None
    return [
        start if first == 0 else (start[0] + first * dx, start[1] + first * dy),
        end if last == 1 else (start[0] + last * dx, start[1] + last * dy),
    ]
