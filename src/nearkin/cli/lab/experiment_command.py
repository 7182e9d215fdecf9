"""Common part of the experiment commands: their last options, the run, and where the results are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearkin.cli.options.definitions import JsonSummary, Overwrite, Quiet, ReportAndFigures, Threads

if TYPE_CHECKING:
    from rich.table import Table

    from nearkin.cli.printing import Printer
    from nearkin.lab.delivery import Experiment


@dataclass(frozen=True, slots=True)
class PlannedExperiment:
    """Experiment with its inputs and directory, and the function that prints its results."""

    experiment: Experiment[Any, Any]
    asked: Sequence[object]
    out: Path
    show: Callable[[Printer, Any], None]


def experiment_command(plan: Callable[..., PlannedExperiment]) -> Callable[..., None]:
    """Make the command that runs what a function plans; options of the function come first, then the common ones."""
    shared = [one for one in _signature(_conduct).parameters.values() if one.kind is Parameter.KEYWORD_ONLY]
    names = {one.name for one in shared}

    @wraps(plan)
    def command(**given: Any) -> None:
        own = {name: value for name, value in given.items() if name not in names}
        _conduct(plan(**own), **{name: given[name] for name in names})

    command.__signature__ = Signature([*_signature(plan).parameters.values(), *shared])  # type: ignore[attr-defined]
    return command


def _signature(function: Callable[..., object]) -> Signature:
    return signature(function, eval_str=True)


def _conduct(
    planned: PlannedExperiment,
    *,
    report: ReportAndFigures = True,
    as_json: JsonSummary = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    threads: Threads = 0,
) -> None:
    """Run the experiment, write its results, and print a summary."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import say_results, tell, warn_of_report
    from nearkin.lab.delivery import SUMMARY, deliver
    from nearkin.workflows.resources import Resources

    resources, out = Resources(threads), planned.out
    with bars_shown(is_quiet=quiet or as_json) as bars:
        delivered = deliver(
            planned.experiment, *planned.asked, out=out, resources=resources, report=report, overwrite=overwrite,
            progress=bars,
        )  # fmt: skip
    warn_of_report(delivered.report_problem, is_silent=quiet or as_json)

    def show(console: Printer) -> None:
        planned.show(console, delivered.results)
        say_results(console, out, SUMMARY, before=f"{delivered.results.elapsed_s:.1f} s. ")

    tell(lambda: delivered.summary, show, as_json=as_json, quiet=quiet)


def result_table(headings: Sequence[str], *, left: Sequence[str] = (), is_narrow: bool = True) -> Table:
    """Make a table of numbers without lines; some columns hold words, and numbers of a paper are dim.

    Parameters
    ----------
    headings : sequence of str
    left : sequence of str
        Headings of the columns with words.
    is_narrow : bool
        Whether columns stand close together and are never folded.
    """
    from rich.table import Table

    table = Table(box=None, pad_edge=False, collapse_padding=is_narrow, header_style="bold")
    for heading in headings:
        style, justify = "dim" if heading in ("(paper)", "article") else None, "left" if heading in left else "right"
        table.add_column(heading, justify=justify, style=style, no_wrap=is_narrow)  # type: ignore[arg-type]
    return table
