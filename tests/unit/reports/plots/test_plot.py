from __future__ import annotations

import re
from itertools import groupby, pairwise
from math import dist, isfinite, nan
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from nearkin.reports.plots.axes import Labels, Numbers
from nearkin.reports.plots.plot import Plot, pieces_inside
from nearkin.reports.theme import ACCENT

WIDTH, HEIGHT = 262, 200
PLOT = Plot(x=Numbers(low=0, high=10), y=Numbers(low=-1, high=1), width=WIDTH, height=HEIGHT)
LOG_PLOT = Plot(
    x=Numbers(low=0.1, high=1000, kind="log"), y=Numbers(low=0, high=1e6, kind="symlog"), width=WIDTH, height=HEIGHT
)
COLUMNS = Plot(x=Labels(["a", "b", "c"]), y=Numbers(low=0, high=1), width=WIDTH, height=HEIGHT)
inside = st.tuples(st.floats(0, 10), st.floats(-1, 1) | st.just(nan))
anywhere = st.tuples(st.floats(-50, 50), st.floats(-5, 5) | st.just(nan))
COMMAND = re.compile(r"([MLh])(-?[\d.]+)(?:,(-?[\d.]+))?")


def lines_of(svg: str) -> list[list[tuple[float, float]]]:
    """The points of each line of some paths."""
    d = "".join(path.get("d", "") for path in ElementTree.fromstring(f"<g>{svg}</g>"))
    assert re.fullmatch(r"(?:[MLh]-?[\d.]+(?:,-?[\d.]+)?)*Z?", d)
    lines: list[list[tuple[float, float]]] = []
    for command, x, y in COMMAND.findall(d):
        if command == "M":
            lines.append([])
        if command != "h":
            lines[-1].append((float(x), float(y)))
    return lines


def is_inside(x: float, y: float) -> bool:
    return isfinite(x) and isfinite(y) and 0 <= x <= WIDTH and 0 <= y <= HEIGHT


@given(st.lists(inside, max_size=20))
def test_a_line_goes_through_all_points_but_gaps(points: list[tuple[float, float]]) -> None:
    drawn = lines_of(PLOT.line([x for x, _ in points], [y for _, y in points]))
    runs = [list(run) for is_gap, run in groupby(points, lambda point: point[1] != point[1]) if not is_gap]
    assert len(drawn) == len(runs)
    assert sum(map(len, drawn)) == sum(map(len, runs))
    assert all(is_inside(*point) for line in drawn for point in line)
    for run in runs:
        places = [(PLOT.across(x), PLOT.down(y)) for x, y in run]
        assert any(
            len(line) == len(places) and all(dist(*both) < 0.01 for both in zip(line, places, strict=True))
            for line in drawn
        )


@given(st.lists(anywhere, max_size=20))
def test_what_lies_outside_is_cut(points: list[tuple[float, float]]) -> None:
    drawn = lines_of(PLOT.line([x for x, _ in points], [y for _, y in points]))
    assert all(is_inside(*point) for line in drawn for point in line)
    vertices = [point for line in drawn for point in line]
    for x, y in points:
        if 0 < x < 10 and -1 < y < 1:
            assert min(dist((PLOT.across(x), PLOT.down(y)), point) for point in vertices) < 0.01


@given(st.lists(st.tuples(st.floats(-20, 40), st.floats(-20, 40)), min_size=2, max_size=8))
def test_every_place_of_a_line_that_is_inside_is_drawn(points: list[tuple[float, float]]) -> None:
    pieces = list(pieces_inside(points, 20, 20))
    for one, other in pairwise(points):
        for step in range(11):
            x, y = (a + step / 10 * (b - a) for a, b in zip(one, other, strict=True))
            if 0.01 < x < 19.99 and 0.01 < y < 19.99:
                assert any(off(start, (x, y), end) < 1e-6 for piece in pieces for start, end in pairwise(piece))


def off(start: tuple[float, float], point: tuple[float, float], end: tuple[float, float]) -> float:
    """How far a point lies from a segment: 0 on it."""
    return dist(start, point) + dist(point, end) - dist(start, end)


@given(st.floats(0.1, 1000), st.floats(0, 1e6))
def test_marks_on_log_scales_stay_inside(x: float, y: float) -> None:
    (circle,) = ElementTree.fromstring(f"<g>{LOG_PLOT.dots([(x, y)])}</g>")
    assert is_inside(float(circle.get("cx", "")), float(circle.get("cy", "")))
    assert is_inside(LOG_PLOT.across(x), LOG_PLOT.down(y))


@given(st.lists(st.floats(0, 1) | st.just(nan), min_size=3, max_size=3))
def test_columns_stand_on_the_floor(heights: list[float]) -> None:
    drawn = list(ElementTree.fromstring(f"<g>{COLUMNS.columns(heights)}</g>"))
    assert len(drawn) == sum(height > 0 for height in heights)
    for column in drawn:
        x, y, width, height = (float(column.get(name, "")) for name in ("x", "y", "width", "height"))
        assert is_inside(x, y)
        assert is_inside(x + width, y + height - 0.01)
        assert abs(y + height - HEIGHT) <= 0.011


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(-5, 5), st.floats(-5, 5)), min_size=1, max_size=10))
def test_an_area_stays_inside(rows: list[tuple[float, float, float]]) -> None:
    xs, lows, highs = zip(*rows, strict=True)
    (line,) = lines_of(PLOT.area(xs, lows, highs, ACCENT))
    assert len(line) == 2 * len(rows)
    assert all(is_inside(*point) for point in line)


def test_a_single_point_is_a_dot() -> None:
    assert 'd="M131,100h0"' in PLOT.line([5], [0], dash=(2, 2))
    assert PLOT.line([5], [nan]) == PLOT.line([], []) == PLOT.line([50], [0]) == ""


def test_a_legend_is_not_wider_than_the_figure() -> None:
    legend = PLOT.legend([("short", ACCENT, ()), ("the long name of a file " * 9, ACCENT, (2, 2))])
    short, long = (text.text or "" for text in ElementTree.fromstring(f"<g>{legend}</g>").iter("text"))
    assert (short, len(long), long[:8], long[-1]) == ("short", 44, "the long", "…")


def test_a_gap_divides_a_line() -> None:
    assert lines_of(PLOT.line([0, 5, 10], [0, nan, 0])) == [[(0, 100)], [(262, 100)]]
