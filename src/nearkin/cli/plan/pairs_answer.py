"""The answer of ``nearkin plan pairs``: the methods beside each other, and why one was chosen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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
    from nearkin.cli.plan.cluster import summary_of
    from nearkin.cli.printing import tell
    from nearkin.planning.pairs.search import PairForecast
    from nearkin.workflows.pairing.forecast import plan_as_stored
    from nearkin.workflows.pairing.on_spark.forecast import cluster_needs
    from nearkin.workflows.pairing.planning import plan_without_documents

    sampled = asked if isinstance(asked, PairForecast) else None
    question = asked.question if isinstance(asked, PairForecast) else asked
    planned = asked.plan if isinstance(asked, PairForecast) else plan_without_documents(asked, options)
    if figure is not None:
        from nearkin.cli.plan.figure import write_figure

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
    from nearkin.cli.plan.cluster import show_needs
    from nearkin.cli.printing import say_place
    from nearkin.reports.sentences.plan.pairs import plan_sentences, question_sentence
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
    from nearkin.reports.quantities import size_text
    from nearkin.reports.sentences.plan.pairs import predicted_recall_text
    from nearkin.reports.sentences.rough_quantities import many_text, rough_share_text, time_text

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
