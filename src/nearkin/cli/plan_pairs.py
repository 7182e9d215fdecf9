"""``nearkin plan`` of a search for pairs: the ways beside each other, and why one was chosen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.cli.plan_words import Machine
    from nearkin.planning.cluster_needs import ClusterNeeds
    from nearkin.planning.pair_search import PairSearch, Plan, Prediction, Question
    from nearkin.workflows.pairing.forecast import Forecast
    from nearkin.workflows.pairing.options import PairOptions

_NAMES = {"vectors": "every pair of vectors", "signatures": "every pair of signatures", "window": "a window"}


def plan_pairs(
    asked: Question | Forecast,
    options: PairOptions,
    machine: Machine,
    figure: Path | None,
    engine: str,
    *,
    as_json: bool,
) -> None:
    """Choose the way as nearkin pairs does, by the default costs, and tell it with those of the machine."""
    from nearkin.cli.plan_cluster import summary_of
    from nearkin.cli.printing import tell
    from nearkin.workflows.pairing.forecast import Forecast
    from nearkin.workflows.pairing.on_spark.forecast import cluster_needs
    from nearkin.workflows.pairing.planning import plan_without_documents

    sampled = asked if isinstance(asked, Forecast) else None
    question = asked.question if isinstance(asked, Forecast) else asked
    planned = asked.plan if isinstance(asked, Forecast) else plan_without_documents(asked, options)
    if figure is not None:
        from nearkin.cli.plan_figure import write_figure

        write_figure(question, planned, figure)
    needs = cluster_needs(question, planned.search, planned.prediction) if engine == "spark" else None
    tell(
        lambda: _summary(question, planned, sampled) | summary_of(needs),
        lambda console: _show(console, question, planned, options, machine, figure, sampled, needs),
        as_json=as_json,
    )


def _summary(question: Question, planned: Plan, sampled: Forecast | None) -> dict[str, object]:
    from dataclasses import asdict

    def of(search: PairSearch, prediction: Prediction) -> dict[str, object]:
        return {**asdict(search), **asdict(prediction), "core_s": prediction.core_s, "in_words": search.describe()}

    return {
        "left": question.n_left,
        "right": question.n_right,
        "threshold": question.threshold,
        "recall": question.recall,
        "cores": question.cores,
        "pairs_sought": question.n_sought,
        "reaches_recall": planned.reaches,
        "is_exact_search_quick": planned.is_quick,
        "chosen": of(planned.search, planned.prediction),
        "alternatives": [of(*other) for other in planned.alternatives],
        "costs_ns": asdict(question.costs),
        "sample": None
        if sampled is None
        else {
            "left": sampled.n_left,
            "right": sampled.n_right,
            "compared": sampled.n_compared,
            "pairs": sampled.n_pairs,
            "is_calibrated": question.prefix.is_measured,
        },
    }


def _show(
    console: Console,
    question: Question,
    planned: Plan,
    options: PairOptions,
    machine: Machine,
    figure: Path | None,
    sampled: Forecast | None,
    needs: ClusterNeeds | None,
) -> None:
    """The question, the ways side by side, then why."""
    from nearkin.cli.plan_cluster import show_needs
    from nearkin.cli.plan_words import many_text, share_text
    from nearkin.cli.printing import shown
    from nearkin.workflows.pairing.verifying import MOST_PAIRS

    def say(text: str) -> None:
        console.print(text, highlight=False, soft_wrap=True)

    pairs, sought = f"{many_text(question.n_pairs)} pairs", many_text(question.n_sought)
    say(
        f"[bold]{question.n_left:,} × {counted(question.n_right, 'document')}[/]: {pairs}, {sought} of them expected "
        f"to have a cosine of at least {question.threshold:g}"
    )
    console.print(_ways(question, planned))
    console.print()
    say(f"[bold]{planned.search.method}[/]: {planned.search.describe()}.")
    say(_why(question, planned, is_fixed=options.method != "auto" or bool(options.fixed)))
    faster = "" if machine.speed == 1 else f", {machine.speed:g} times as fast"
    measured = "as measured here" if machine.is_this else f"of an AMD EPYC of 2.6 GHz{faster}"
    say(f"[dim]Costs {measured}, on {counted(question.cores, 'core')}. {_told_by(question, sampled)}[/]")
    if not planned.reaches:
        low = share_text(planned.prediction.recall_low)
        say(f"[yellow]With what is fixed, {question.recall:.3g} is not reached: {low} is as near as can be.[/]")
    if planned.prediction.n_pairs > MOST_PAIRS:
        say(
            f"[yellow]More than {MOST_PAIRS:,} pairs are not reported: raise --threshold, or keep the best of each "
            "document, with --top of nearkin pairs.[/]"
        )
    if figure is not None:
        say(f"Recall against cost is drawn in [bold]{shown(figure)}[/]")
    show_needs(console, needs, question.cores, question.n_documents)


def _told_by(question: Question, sampled: Forecast | None) -> str:
    """Where the spread of cosines comes from."""
    from nearkin.workflows.pairing.planning import LEAST_PAIRS

    if sampled is None:
        return (
            "Without documents the spread of cosines is assumed, and so are uniformly spread signatures; real ones "
            "cluster, so windows find fewer pairs than predicted."
        )
    crowding = "The clustering of signatures is measured too."
    if not question.prefix.is_measured:
        crowding = (
            "They are too few to measure the clustering of signatures; none is assumed."
            if sampled.n_pairs < LEAST_PAIRS
            else "The clustering of signatures is not measured: even without any, a window is not the quickest."
        )
    grows = ""
    if question.n_left > sampled.n_left or question.n_right > sampled.n_right:
        grows = (
            " The number of pairs is assumed to grow with both collections. Samples that are translations of each "
            "other make it far too high: draw each sample independently."
        )
    return (
        f"The spread of cosines is that of {counted(sampled.n_compared, 'document')}, each compared with "
        f"{sampled.n_right:,}: {counted(sampled.n_pairs, 'pair')}. {crowding}{grows}"
    )


def _ways(question: Question, planned: Plan) -> object:
    """A column a way, the chosen one first."""
    from nearkin.cli.plan_words import many_text, share_text, time_text
    from nearkin.cli.printing import table
    from nearkin.reports.quantities import size_text

    ways = ((planned.search, planned.prediction), *planned.alternatives)
    rows = table("", *(search.method for search, _ in ways))
    for column in rows.columns[1:]:
        column.justify = "right"
    rows.columns[1].style = "bold"

    def row(name: str, cells: list[str]) -> None:
        rows.add_row(name, *cells)

    row("recall", [_band(told) for _, told in ways])
    row("bits, distance", [f"{way.bits:,}, {way.distance:,}" if way.bits else "–" for way, _ in ways])
    row("orders × window", [f"{way.permutations:,} × {way.window:,}" if way.window else "–" for way, _ in ways])
    row("comparisons", [many_text(told.n_comparisons) for _, told in ways])
    row("relative cost", [share_text(told.relative_cost) for _, told in ways])
    row("candidates", [many_text(told.n_candidates) if way.bits else "–" for way, told in ways])
    row("pairs found", [many_text(told.n_pairs) for _, told in ways])
    row("memory", [size_text(told.memory_bytes) for _, told in ways])
    if question.cores > 1:
        row("time on one core", [time_text(told.core_s) for _, told in ways])
    row("time", [time_text(told.elapsed_s) for _, told in ways])
    return rows


def _band(told: Prediction) -> str:
    from nearkin.cli.plan_words import share_text

    low, high = share_text(told.recall_low), share_text(told.recall_high)
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def _why(question: Question, planned: Plan, *, is_fixed: bool) -> str:
    """Why this way, against the others."""
    from nearkin.planning.pair_search import QUICK_S

    chosen = planned.prediction
    beside = []
    for search, told in planned.alternatives:
        times = told.core_s / max(chosen.core_s, 1e-12)
        if times >= 1.05:
            beside.append(f"{_NAMES[search.method]} would take {_times(times)} times as long")
        elif times > 0.95:
            beside.append(f"{_NAMES[search.method]} would take about as long")
        elif told.recall_low < question.recall:
            beside.append(f"{_NAMES[search.method]} would be quicker, but reach {_band(told)} only")
        elif not planned.is_quick:
            why = ", but --method was given" if is_fixed else f" on this machine: --method {search.method}"
            beside.append(f"{_NAMES[search.method]} would be quicker{why}")
    if planned.is_quick:
        return (
            f"Exact search, which misses nothing, is chosen where it takes less than {QUICK_S:g} s of one core, by the "
            "costs of one fixed machine."
        )
    part = _costliest(chosen)
    said = "; ".join(beside)
    return f"{said[0].upper()}{said[1:]}. Most of its time is {part}."


def _times(times: float) -> str:
    return f"{times:,.0f}" if times >= 10 else f"{times:.1f}"


def _costliest(told: Prediction) -> str:
    parts = {
        "signing": told.signing_s,
        "sorting": told.sorting_s,
        "comparing": told.comparing_s,
        "the cosines of candidates": told.checking_s,
    }
    name = max(parts, key=lambda part: parts[part])
    return f"{name} ({100 * parts[name] / max(told.core_s, 1e-12):.0f} %)"
