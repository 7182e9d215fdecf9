"""``nearkin plan paper``: the model at the parameters of the published experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.options.definitions import JsonSummary, Overwrite
from nearkin.cli.plan.options import Figure, check_figure

if TYPE_CHECKING:
    from rich.table import Table

    from nearkin.cli.printing import Printer
    from nearkin.planning.pairs.tradeoff import Point


HELP = """
Compare the model of nearkin plan pairs with a published experiment: the estimates of its figure 6, then the costs \
that its text gives (Ture, Elsayed, Lin, "No free lunch", SIGIR 2011).

[bold]Examples[/]

  nearkin plan paper

  nearkin plan paper --figure figure-6.svg
"""


def plan_paper(figure: Figure = None, as_json: JsonSummary = False, overwrite: Overwrite = False) -> None:
    """Print the estimates of figure 6, then the four relative costs of the text."""
    from nearkin.cli.printing import tell
    from nearkin.planning.pairs.tradeoff import PUBLISHED_BITS, PUBLISHED_DISTANCE, published_question, tradeoff

    check_figure(figure, overwrite=overwrite)
    points = tradeoff(published_question(), PUBLISHED_BITS, PUBLISHED_DISTANCE)
    if figure is not None:
        from nearkin.cli.plan.figure import orders_up_to, write_orders_chart

        orders, widths = (
            [one for one in orders_up_to(1000) if one <= 1000] + [1000],
            sorted({point.search.window for point in points}),
        )
        many = tradeoff(published_question(), PUBLISHED_BITS, PUBLISHED_DISTANCE, orders, widths)
        write_orders_chart(many, "Figure 6 of the article by the model: 1,000 bits, distance 400", figure)
    tell(lambda: _summary(points), lambda console: _show(console, points), as_json=as_json)


def _summary(points: tuple[Point, ...]) -> dict[str, object]:
    from nearkin.planning.pairs.tradeoff import PUBLISHED_BOUND, article_band, published_points, published_question

    question = published_question()
    return {
        "bound": points[0].bound,
        "published_bound": PUBLISHED_BOUND,
        "figure_6": [
            {
                "window": point.search.window,
                "permutations": point.search.permutations,
                "article_recall": article_band(question, point.search),
                "recall": (point.prediction.recall_low, point.prediction.recall, point.prediction.recall_high),
                "article_cost": point.article_cost,
                "relative_cost": point.prediction.relative_cost,
            }
            for point in points
        ],
        "text": [
            {
                "cost": cost,
                "published": effectiveness,
                "article_cost": {"window": one.search.window, "effectiveness": one.effectiveness},
                "relative_cost": {"window": other.search.window, "effectiveness": other.effectiveness},
            }
            for cost, effectiveness, one, other in published_points()
        ],
    }


def _show(console: Printer, points: tuple[Point, ...]) -> None:
    from nearkin.reports.sentences.plan.paper import COST_SENTENCE, EFFECTIVENESS_SENTENCE, experiment_sentences

    console.say(experiment_sentences(points[0].bound))
    console.print(_figure_6(points))
    console.say([COST_SENTENCE])
    console.print()
    console.say([EFFECTIVENESS_SENTENCE])
    console.print(_text())


def _figure_6(points: tuple[Point, ...]) -> Table:
    from nearkin.cli.printing import table
    from nearkin.planning.pairs.tradeoff import article_band, published_question

    question = published_question()
    rows = table(
        "window", "orders", "recall, article's formula", "recall, here", "cost as in the article", "here", numbers=6
    )
    for point in points:
        low, high = article_band(question, point.search)
        told = point.prediction
        rows.add_row(
            f"{point.search.window:,}",
            f"{point.search.permutations:,}",
            f"{low:.2f} to {high:.2f}",
            f"{told.recall:.2f} ({told.recall_low:.2f} to {told.recall_high:.2f})",
            f"{point.article_cost:.1%}",
            f"{told.relative_cost:.1%}",
        )
    return rows


def _text() -> Table:
    from nearkin.cli.printing import table
    from nearkin.planning.pairs.tradeoff import published_points

    rows = table("cost", "article", "model, cost as in the article", "model, cost as here", numbers=4)
    for cost, effectiveness, *both in published_points():
        off = [100 * (point.effectiveness - effectiveness) for point in both]
        cells = [
            f"{point.effectiveness:.1%} ({by:+.1f}), window {point.search.window:,}" for point, by in zip(both, off)
        ]
        rows.add_row(f"{cost:.0%}", f"{effectiveness:.1%}", *cells)
    return rows
