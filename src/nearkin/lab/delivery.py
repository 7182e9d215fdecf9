"""Delivery of an experiment's results in a directory: tables, figures, page, and finally the summary."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Concatenate, Generic, Protocol, TypeVar

from nearkin._version import __version__
from nearkin.errors import MissingExtraError, OutputExistsError
from nearkin.lab.page import LabPage
from nearkin.lab.tables import Table
from nearkin.paths import check_output, check_outside_collections
from nearkin.reports.page_file import write_page
from nearkin.runs.files import published, write_json, writing
from nearkin.runs.progress import Progress
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources

SUMMARY, PAGE = "summary.json", "report.html"
_TABLES, _FIGURES = "tables", "figures"


class LabResults(Protocol):
    """Results of an experiment; only the elapsed time is common to all."""

    @property
    def elapsed_s(self) -> float:
        """Seconds of the whole experiment."""


R = TypeVar("R", bound=LabResults)
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Delivered(Generic[R]):
    """The results, the content of ``summary.json``, and the reason if there is no page."""

    results: R
    summary: dict[str, object]
    report_problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment(Generic[S, R]):
    """An experiment that can be run and delivered.

    Parameters
    ----------
    package : str
        Its package, whose module ``page`` contains the page as ``PAGE``.
    run : function
        Runs the experiment; takes the source, other parameters, ``resources`` and ``progress``.
    tables : function
        Returns the results as tables, each a CSV file.
    summary : function
        Returns the summary's content besides version, name of the experiment, tables and time, from the source and the
        results.
    lists_tables : bool
        Whether the summary also contains the tables.
    """

    package: str
    run: Callable[Concatenate[S, ...], R]
    tables: Callable[[R], Sequence[Table]]
    summary: Callable[[S, R], dict[str, object]]
    lists_tables: bool = True

    @property
    def name(self) -> str:
        """Name of its command."""
        return self.package.rpartition(".")[2].replace("_", "-")

    def page(self) -> LabPage[R]:
        """Return the page; a missing extra is reported here, before the work.

        Raises
        ------
        MissingExtraError
        """
        if find_spec("jinja2") is None:
            raise MissingExtraError.of("report.html", "report")
        page: LabPage[R] = import_module(f"{self.package}.page").PAGE
        return page


def deliver(
    experiment: Experiment[S, R],
    source: S,
    *asked: object,
    out: Path,
    resources: Resources,
    report: bool,
    overwrite: bool,
    progress: Progress,
) -> Delivered[R]:
    """Run an experiment and write its results to a directory.

    Parameters
    ----------
    experiment : Experiment
    source : object
        Input: a `ReadingRequest`, which the head of the page names, or a plan.
    *asked : object
        Other arguments of ``run``.
    out : Path
    resources : Resources
    report, overwrite : bool
    progress : Progress

    Raises
    ------
    OutputExistsError
        The directory holds results and ``overwrite`` is off, or holds something else.
    OutputError
        The disk is full or not writable.
    MissingExtraError
        The page is requested, but the ``report`` extra is not installed.
    """
    make_room(out, overwrite=overwrite)
    page = experiment.page() if report else None
    results = experiment.run(source, *asked, resources=resources, progress=progress)
    with writing(out):
        (out / _TABLES).mkdir(exist_ok=True)
    tables = experiment.tables(results)
    for table in tables:
        _write(out / _TABLES / f"{table.name}.csv", table.as_csv())
    summary: dict[str, object] = {
        "nearkin": __version__,
        "experiment": experiment.name,
        **experiment.summary(source, results),
    }
    if experiment.lists_tables:
        summary["tables"] = {table.name: table.records() for table in tables if table.in_summary}
    summary["elapsed_s"] = round(results.elapsed_s, 3)
    problem = None
    if page is not None:
        progress.start("draw", 0, "steps")
        corpus = ", ".join(source.shown_inputs) if isinstance(source, ReadingRequest) else ""
        problem = _write_page(page, results, corpus, out, progress)
        progress.finish()
    if problem:
        summary["report_problem"] = problem
    write_json(out / SUMMARY, summary)
    return Delivered(results, summary, problem)


def make_room(out: Path, *, overwrite: bool) -> None:
    """Make a directory, or clear that of an earlier experiment if it may be replaced.

    Raises
    ------
    OutputExistsError
        It holds results and ``overwrite`` is off, or holds something else.
    OutputError
        The directory cannot be created.
    """
    check_output(out)
    check_outside_collections(out)
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        is_ours = (out / SUMMARY).exists()
        if not is_ours and any(out.iterdir()):
            raise OutputExistsError(
                f"{out} is not empty and contains no finished experiment. Choose a new directory for --out."
            )
        if is_ours and not overwrite:
            raise OutputExistsError(
                f"{out} already holds the results of an experiment. Add --overwrite to replace them, "
                "or choose another --out."
            )
        for name in (SUMMARY, PAGE):
            (out / name).unlink(missing_ok=True)
        for name in (_TABLES, _FIGURES):
            shutil.rmtree(out / name, ignore_errors=True)


def _write_page(page: LabPage[R], results: R, corpus: str, out: Path, progress: Progress) -> str | None:
    """Write the figures, each to its own file, and the page; see `nearkin.reports.page_file.write_page`."""

    def render() -> str:
        drawn = tuple(page.draw(results))
        with writing(out):
            (out / _FIGURES).mkdir(exist_ok=True)
        for figure in drawn:
            _write(out / _FIGURES / f"{figure.name}.svg", figure.wide + "\n")
        return page.render(results, drawn, corpus)

    return write_page(out / PAGE, render, progress, instead="Run the command again with --overwrite to draw it.")


def _write(path: Path, text: str) -> None:
    with published(path, durable=False) as aside:
        aside.write_text(text, encoding="utf-8")
