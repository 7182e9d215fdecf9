"""The results of an experiment in a directory: tables, figures, page, and the summary last."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from nearkin._version import __version__
from nearkin.errors import MissingExtraError, OutputExistsError
from nearkin.lab.page import LabPage
from nearkin.lab.tables import Table
from nearkin.paths import check_output
from nearkin.reports.page_file import write_page
from nearkin.runs.files import published, write_json, writing
from nearkin.runs.progress import Progress
from nearkin.workflows.resources import Resources

SUMMARY, PAGE = "summary.json", "report.html"
_TABLES, _FIGURES = "tables", "figures"


class LabResults(Protocol):
    """The results of an experiment; how long it took is all that is common to them."""

    @property
    def elapsed_s(self) -> float:
        """Seconds of the whole experiment."""


R = TypeVar("R", bound=LabResults)


@dataclass(frozen=True, slots=True)
class Delivered(Generic[R]):
    """What was measured, and the summary as ``summary.json`` has it."""

    results: R
    summary: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment(Generic[R]):
    """What can be run and delivered.

    Parameters
    ----------
    name : str
        Its command.
    inputs : sequence of str
        The corpus, as the head of a page names it.
    run : function
        Measures; takes ``resources`` and ``progress``.
    tables : function
        The results as tables, a CSV file each.
    summary : function
        What the summary holds besides the version, the experiment's name, tables and the time.
    page : function
        Imports what draws, so that an extra that is missing is missed before the work.
    lists_tables : bool
        Whether the summary has the tables as well.
    """

    name: str
    inputs: Sequence[str] = ()
    run: Callable[..., R]
    tables: Callable[[R], Sequence[Table]]
    summary: Callable[[R], dict[str, object]]
    page: Callable[[], LabPage[R]]
    lists_tables: bool = True


def deliver(
    experiment: Experiment[R],
    out: Path,
    *,
    resources: Resources,
    report: bool,
    overwrite: bool,
    progress: Progress,
) -> Delivered[R]:
    """Run an experiment and write all of it into a directory.

    Raises
    ------
    OutputExistsError
        The directory holds results and ``overwrite`` is off, or holds something else.
    OutputError
        The disk is full or cannot be written to.
    MissingExtraError
        A page is wanted, and the ``report`` extra is not installed.
    """
    make_room(out, overwrite=overwrite)
    page = _page(experiment) if report else None
    results = experiment.run(resources=resources, progress=progress)
    with writing(out):
        (out / _TABLES).mkdir(exist_ok=True)
    tables = experiment.tables(results)
    for table in tables:
        _write(out / _TABLES / f"{table.name}.csv", table.as_csv())
    summary = _summary(experiment, results, tables)
    if page is not None:
        progress.start("draw", 0, "steps")
        summary |= _write_page(page, results, ", ".join(experiment.inputs), out, progress)
        progress.finish()
    write_json(out / SUMMARY, summary)
    return Delivered(results, summary)


def _page(experiment: Experiment[R]) -> LabPage[R]:
    try:
        return experiment.page()
    except ImportError as error:
        raise MissingExtraError.of("Drawing a figure", "report") from error


def _summary(experiment: Experiment[R], results: R, tables: Sequence[Table]) -> dict[str, object]:
    summary: dict[str, object] = {"nearkin": __version__, "experiment": experiment.name, **experiment.summary(results)}
    if experiment.lists_tables:
        summary["tables"] = {table.name: table.records() for table in tables if table.in_summary}
    return summary | {"elapsed_s": round(results.elapsed_s, 3)}


def make_room(out: Path, *, overwrite: bool) -> None:
    """An empty directory, or one of an earlier experiment that may be replaced.

    Raises
    ------
    OutputExistsError
        It holds results and ``overwrite`` is off, or holds something else.
    OutputError
        It cannot be made.
    """
    check_output(out)
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        is_ours = (out / SUMMARY).exists()
        if not is_ours and any(out.iterdir()):
            raise OutputExistsError(
                f"{out} is not empty and holds no finished experiment. Choose a new directory for --out."
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


def _write_page(page: LabPage[R], results: R, corpus: str, out: Path, progress: Progress) -> dict[str, str]:
    """The figures, each in a file of its own, and the page; see `nearkin.reports.page_file.write_page`."""

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
