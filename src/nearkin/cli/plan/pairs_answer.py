"""The answer of ``nearkin plan pairs``: the methods beside each other, and why one was chosen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.nouns import counted
from nearkin.runs.files import writing

if TYPE_CHECKING:
    from nearkin.cli.plan.arguments import Machine
    from nearkin.cli.printing import Printer
    from nearkin.planning.cluster_needs import ClusterNeeds
    from nearkin.planning.pairs.search import PairForecast, Plan, Question
    from nearkin.workflows.pairing.options import PairOptions


def answer(
    asked: Question | PairForecast,
    options: PairOptions,
    machine: Machine,
    figure: Path | None,
    engine: str,
    *,
    as_json: bool,
) -> None:
    """Choose the method as nearkin pairs does, by the default costs, and print it with those of the machine."""
    from nearkin.cli.plan.arguments import summary_of
    from nearkin.cli.printing import tell
    from nearkin.planning.pairs.search import PairForecast
    from nearkin.workflows.pairing.forecast import plan_as_stored
    from nearkin.workflows.pairing.on_spark.forecast import cluster_needs
    from nearkin.workflows.pairing.planning import plan_without_documents

    sampled = asked if isinstance(asked, PairForecast) else None
    question = asked.question if isinstance(asked, PairForecast) else asked
    planned = asked.plan if isinstance(asked, PairForecast) else plan_without_documents(asked, options)
    if figure is not None:
        write_figure(question, planned, figure)
    needs = cluster_needs(question, planned.search, planned.prediction) if engine == "spark" else None
    tell(
        lambda: plan_as_stored(question, planned, sampled) | summary_of(needs),
        lambda console: _show(console, question, planned, options, machine, figure, sampled, needs),
        as_json=as_json,
    )


def _show(
    console: Printer,
    question: Question,
    planned: Plan,
    options: PairOptions,
    machine: Machine,
    figure: Path | None,
    sampled: PairForecast | None,
    needs: ClusterNeeds | None,
) -> None:
    """Print the question, the methods side by side, then the reason for the choice."""
    from nearkin.cli.plan.arguments import show_needs
    from nearkin.cli.printing import say_place
    from nearkin.reports.sentences.plan import plan_sentences, question_sentence
    from nearkin.workflows.pairing.planning import MIN_PAIRS
    from nearkin.workflows.pairing.verifying import MAX_PAIRS

    console.say([question_sentence(question)])
    console.print(_ways(question, planned))
    console.print()
    said = plan_sentences(
        question,
        planned,
        sampled,
        speed=None if machine.is_this else machine.speed,
        is_fixed=options.method != "auto" or bool(options.fixed),
        min_pairs=MIN_PAIRS,
        max_pairs=MAX_PAIRS,
    )
    console.say(said)
    if figure is not None:
        say_place(console, "Recall against cost is drawn", figure)
    show_needs(console, needs, question.cores, question.n_documents)


def _ways(question: Question, planned: Plan) -> object:
    """Tabulate the methods, one column each, the chosen one first."""
    from nearkin.cli.printing import table
    from nearkin.reports.quantities import many_text, rough_share_text, size_text, time_text
    from nearkin.reports.sentences.plan import predicted_recall_text

    ways = ((planned.search, planned.prediction), *planned.alternatives)
    rows = table("", *(search.method for search, _ in ways))
    for column in rows.columns[1:]:
        column.justify = "right"
    rows.columns[1].style = "bold"

    def row(name: str, cells: list[str]) -> None:
        rows.add_row(name, *cells)

    row("recall", [predicted_recall_text(told) for _, told in ways])
    row("bits, distance", [f"{way.bits:,}, {way.distance:,}" if way.bits else "–" for way, _ in ways])
    row("orders × window", [f"{way.permutations:,} × {way.window:,}" if way.window else "–" for way, _ in ways])
    row("comparisons", [many_text(told.n_comparisons) for _, told in ways])
    row("relative cost", [rough_share_text(told.relative_cost) for _, told in ways])
    row("candidates", [many_text(told.n_candidates) if way.bits else "–" for way, told in ways])
    row("pairs found", [many_text(told.n_pairs) for _, told in ways])
    row("memory", [size_text(told.memory_bytes) for _, told in ways])
    if question.cores > 1:
        row("time on one core", [time_text(told.core_s) for _, told in ways])
    row("time", [time_text(told.elapsed_s) for _, told in ways])
    return rows


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
