"""Delivery of an experiment's results in a directory: tables, figures, page, and finally the summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Concatenate, Generic, Protocol, TypeVar

from labs.page import LabPage
from labs.tables import Table
from nearkin._version import __version__
from nearkin.errors import OutputExistsError
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
    """The results, and the content of ``summary.json``."""

    results: R
    summary: dict[str, object]


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
        """Return the page."""
        page: LabPage[R] = import_module(f"{self.package}.page").PAGE
        return page


def deliver(
    experiment: Experiment[S, R],
    source: S,
    *asked: object,
    out: Path,
    resources: Resources,
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
    progress : Progress

    Raises
    ------
    OutputExistsError
        The directory is not empty.
    OutputError
        The disk is full or not writable.
    """
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise OutputExistsError(f"{out} is not empty. Choose a new directory for --out.")
    page = experiment.page()
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
    progress.start("draw", 0, "steps")
    corpus = ", ".join(source.shown_inputs) if isinstance(source, ReadingRequest) else ""
    _write_page(page, results, corpus, out)
    progress.finish()
    write_json(out / SUMMARY, summary)
    return Delivered(results, summary)


def _write_page(page: LabPage[R], results: R, corpus: str, out: Path) -> None:
    """Write the figures, each to its own file, and the page."""
    drawn = tuple(page.draw(results))
    with writing(out):
        (out / _FIGURES).mkdir(exist_ok=True)
    for figure in drawn:
        _write(out / _FIGURES / f"{figure.name}.svg", figure.wide + "\n")
    _write(out / PAGE, page.render(results, drawn, corpus))


def _write(path: Path, text: str) -> None:
    with published(path, durable=False) as aside:
        aside.write_text(text, encoding="utf-8")
