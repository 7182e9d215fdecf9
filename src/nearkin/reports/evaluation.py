"""Evaluation of a result: its numbers, the table of its curve, and its page."""

from __future__ import annotations

from collections.abc import Iterator

from nearkin._version import __version__
from nearkin.planning.evaluation import DISTANCE, CurvePoint, Evaluated, Evaluation, thinned
from nearkin.reports.facts.fact import Fact, Table
from nearkin.reports.figures import Figure, at_both_widths
from nearkin.reports.pages import render_page
from nearkin.reports.plots import Series, line_chart
from nearkin.wording import share_text

_SHOWN = 12
_TRUTHS = {"pairs": "all other pairs are false", "judged pairs": "only these are judged", "groups": "pairs of groups"}


def evaluation_facts(evaluated: Evaluated) -> Iterator[Fact]:
    """Give the true pairs, and what is unknown."""
    n_true = max((evaluation.n_true for evaluation in evaluated.evaluations), default=0)
    yield Fact("true pairs", n_true, _TRUTHS[evaluated.truth_kind])
    for result in evaluated.evaluations:
        if result.score and result.total.n_reported:
            most = "distance at most" if result.score == DISTANCE else f"{result.score} at least"
            yield Fact(
                f"best F1 of pairs {result.pairs}",
                share_text(result.best.f1, 4),
                f"{most} {_threshold(result, result.best)}",
            )
    if evaluated.n_unknown:
        yield Fact("unknown ids in the truth", evaluated.n_unknown, "their pairs count as missed", "warning")


def totals_table(evaluated: Evaluated) -> Table:
    """Return a row for each kind of pairs."""
    rows = [(*_cells(evaluation.total), evaluation.pairs) for evaluation in evaluated.evaluations]
    return Table(("precision", "recall", "F1", "pairs", "true", "which"), rows, 5)


def curve_table(evaluation: Evaluation) -> Table:
    """Return some thresholds, the best one among them."""
    rows = [
        (_threshold(evaluation, point), *_cells(point), "best F1" if point == evaluation.best else "")
        for point in thinned(evaluation.curve, _SHOWN)
    ]
    head = evaluation.score or "threshold"
    return Table((head, "precision", "recall", "F1", "pairs", "true", ""), rows, 6)


def _cells(point: CurvePoint) -> tuple[str, ...]:
    shares = (share_text(value, 4) for value in (point.precision, point.recall, point.f1))
    return *shares, f"{point.n_reported:,}", f"{point.n_true:,}"


def _threshold(evaluation: Evaluation, point: CurvePoint) -> str:
    return f"{point.threshold:.0f}" if evaluation.score == DISTANCE else share_text(point.threshold, 4)


def _figure(evaluation: Evaluation, name: str) -> Figure:
    curve = evaluation.curve
    x = [point.threshold for point in curve]
    shares = ("precision", "recall", "F1")
    lines = [Series(label, x, [getattr(point, label.lower()) for point in curve]) for label in shares]

    def draw(name: str, width: int) -> str:
        return line_chart(
            lines, name=name, title="Precision, recall and F1", description=f"By {evaluation.score}",
            x_title=evaluation.score, y_title="share", y_domain=(0, 1), width=width,
            x_domain=(min(x), max(x)) if min(x) < max(x) else (min(x) - 0.5, max(x) + 0.5),
            mark=(evaluation.best.threshold, f"best F1, {_threshold(evaluation, evaluation.best)}"),
        )  # fmt: skip

    caption = f"Precision, recall and F1 of pairs {evaluation.pairs}, if the threshold is {evaluation.score}."
    return Figure(*at_both_widths(name, draw), caption)


def render_evaluation(evaluated: Evaluated) -> str:
    """Render the page."""
    listed = [evaluation for evaluation in evaluated.evaluations if evaluation.score and evaluation.curve]
    return render_page(
        "evaluation.html.j2", facts={"nearkin": __version__, "command": "evaluate"}, evaluated=evaluated,
        summary=tuple(evaluation_facts(evaluated)), totals=totals_table(evaluated),
        curves=[(result, _figure(result, f"curve-{i}"), curve_table(result)) for i, result in enumerate(listed)],
    )  # fmt: skip
