"""The chart of ``nearkin plan pairs``: recall against cost, a line for each window."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.nouns import counted
from nearkin.runs.files import writing

if TYPE_CHECKING:
    from nearkin.planning.pairs.search import Plan, Question

_STEP = 1.25
_LINES = 4
_DRAWN = 1.02


def write_figure(question: Question, planned: Plan, out: Path) -> None:
    """Draw the windows around the best one, up to the cost of comparing every pair."""
    from nearkin.planning.pairs.prediction import PairSearch, predict
    from nearkin.reports.plots.charts import Series, line_chart
    from nearkin.reports.quantities import share_percent_text

    searches = [planned.search, *(search for search, _ in planned.alternatives)]
    best = next(search for search in searches if search.method == "window")
    series = []
    for width in sorted({max(1, best.window * 4**power // 8) for power in range(_LINES)}):
        predictions = [
            predict(PairSearch("window", best.bits, best.distance, n_orders, width), question)
            for n_orders in _orders_up_to(10 * best.permutations)
        ]
        drawn = [(one.relative_cost, one.recall) for one in predictions if one.relative_cost <= _DRAWN]
        if len(drawn) > 1:
            series.append(Series(f"window of {width:,}", [cost for cost, _ in drawn], [recall for _, recall in drawn]))
    bound = share_percent_text(predict(PairSearch("signatures", best.bits, best.distance), question).recall, 1)
    chart = line_chart(
        series,
        name="plan",
        title=f"What windows find and cost: {best.bits:,} bits, distance {best.distance:,}",
        description=f"Predicted recall of {counted(len(series), 'window')}. Comparing every pair of signatures finds "
        f"{bound}.",
        x_title="Cost, relative to comparing every pair of signatures",
        y_title=f"Predicted recall; {bound} with every pair",
        x_domain=(0.0, 1.0),
        y_domain=(0.0, 1.0),
    )
    with writing(out):
        out.write_text(chart + "\n", encoding="utf-8")


def _orders_up_to(most: int) -> list[int]:
    """Return numbers of orders for a smooth line: 1, 2, 3, 4, 5, 6, 8, 9, 12 and on up to the maximum."""
    made = [1]
    while made[-1] < most:
        made.append(max(made[-1] + 1, round(made[-1] * _STEP)))
    return made
