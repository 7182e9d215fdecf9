"""The chart of ``nearkin plan pairs``: recall against cost, a line for each window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.nouns import counted
from nearkin.runs.files import writing

if TYPE_CHECKING:
    from nearkin.planning.pairs.search import Plan, Question
    from nearkin.planning.pairs.tradeoff import Point

_STEP = 1.25
_LINES = 4
_DRAWN = 1.02


def write_figure(question: Question, planned: Plan, out: Path) -> None:
    """Draw the windows around the best one."""
    from nearkin.planning.pairs.tradeoff import tradeoff

    searches = [planned.search, *(search for search, _ in planned.alternatives)]
    best = next(search for search in searches if search.method == "window")
    widths = sorted({max(1, best.window * 4**power // 8) for power in range(_LINES)})
    orders = orders_up_to(10 * best.permutations)
    points = tradeoff(question, best.bits, best.distance, orders, widths)
    title = f"What windows find and cost: {best.bits:,} bits, distance {best.distance:,}"
    write_cost_chart(points, title, out)


def write_orders_chart(points: Sequence[Point], title: str, out: Path) -> None:
    """Draw recall against the number of orders, as in figure 6 of the article."""
    most = float(max(point.search.permutations for point in points))
    _write(points, [float(point.search.permutations) for point in points], most, "Sorted orders", title, out)


def write_cost_chart(points: Sequence[Point], title: str, out: Path) -> None:
    """Draw recall against relative cost, up to that of comparing every pair, as in figure 8 of the article."""
    costs = [point.prediction.relative_cost for point in points]
    _write(points, costs, 1.0, "Cost, relative to comparing every pair of signatures", title, out)


def _write(points: Sequence[Point], xs: Sequence[float], most: float, x_title: str, title: str, out: Path) -> None:
    """Draw a line for each window."""
    from nearkin.reports.plots.charts import Series, line_chart
    from nearkin.reports.quantities import share_percent_text

    series = []
    for width in sorted({point.search.window for point in points}):
        own = [
            (x, point.prediction.recall)
            for point, x in zip(points, xs)
            if point.search.window == width and x <= _DRAWN * most
        ]
        if len(own) > 1:
            series.append(Series(f"window of {width:,}", [x for x, _ in own], [recall for _, recall in own]))
    bound = share_percent_text(points[0].bound, 1)
    drawn = line_chart(
        series,
        name="plan",
        title=title,
        description=f"Predicted recall of {counted(len(series), 'window')}. Comparing every pair of signatures finds "
        f"{bound}.",
        x_title=x_title,
        y_title=f"Predicted recall; {bound} with every pair",
        x_domain=(0.0, most),
        y_domain=(0.0, 1.0),
    )
    with writing(out):
        out.write_text(drawn + "\n", encoding="utf-8")


def orders_up_to(most: int) -> list[int]:
    """Return numbers of orders for a smooth line: 1, 2, 3, 4, 5, 6, 8, 9, 12 and on up to the maximum."""
    made = [1]
    while made[-1] < most:
        made.append(max(made[-1] + 1, round(made[-1] * _STEP)))
    return made
