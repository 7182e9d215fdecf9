"""The results of an experiment in a directory: tables, figures, page, and the summary last."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from nearkin.errors import OutputExistsError
from nearkin.lab.page import Drawn
from nearkin.lab.tables import Table
from nearkin.paths import check_output
from nearkin.reports.page_file import write_page
from nearkin.runs.files import published, write_json, writing
from nearkin.runs.progress import Progress

SUMMARY, PAGE = "summary.json", "report.html"
_TABLES, _FIGURES = "tables", "figures"
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Delivered(Generic[R]):
    """What was measured, and the summary as ``summary.json`` has it."""

    results: R
    summary: dict[str, object]


@dataclass(frozen=True, slots=True)
class Page(Generic[R]):
    """How results become figures, and results with figures a page."""

    draw: Callable[[R], tuple[Drawn, ...]]
    render: Callable[[R, tuple[Drawn, ...]], str]


@dataclass(frozen=True, slots=True)
class Experiment(Generic[R]):
    """What can be run and delivered.

    Parameters
    ----------
    run : function
        Measures.
    tables : function
        The results as tables, a CSV file each.
    summary : function
        The results as JSON.
    page : function, optional
        Imports what draws, so that an extra that is missing is missed before the work. None: no page is wanted.
    """

    run: Callable[[], R]
    tables: Callable[[R], Sequence[Table]]
    summary: Callable[[R], dict[str, object]]
    page: Callable[[], Page[R]] | None


def deliver(experiment: Experiment[R], out: Path, *, overwrite: bool, progress: Progress) -> Delivered[R]:
    """Run an experiment and write all of it into a directory.

    Raises
    ------
    OutputExistsError
        The directory holds results and ``overwrite`` is off, or holds something else.
    OutputError
        The disk is full or cannot be written to.
    """
    make_room(out, overwrite=overwrite)
    page = experiment.page() if experiment.page is not None else None
    results = experiment.run()
    with writing(out):
        (out / _TABLES).mkdir(exist_ok=True)
    for table in experiment.tables(results):
        _write(out / _TABLES / f"{table.name}.csv", table.as_csv())
    summary = experiment.summary(results)
    if page is not None:
        progress.start("draw", 0, "steps")
        summary |= _write_page(page, results, out, progress)
        progress.finish()
    write_json(out / SUMMARY, summary)
    return Delivered(results, summary)


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


def _write_page(page: Page[R], results: R, out: Path, progress: Progress) -> dict[str, str]:
    """The figures, each in a file of its own, and the page; see `nearkin.reports.page_file.write_page`."""

    def render() -> str:
        drawn = page.draw(results)
        with writing(out):
            (out / _FIGURES).mkdir(exist_ok=True)
        for figure in drawn:
            _write(out / _FIGURES / f"{figure.name}.svg", figure.wide + "\n")
        return page.render(results, drawn)

    return write_page(out / PAGE, render, progress, instead="Run the command again with --overwrite to draw it.")


def _write(path: Path, text: str) -> None:
    with published(path, durable=False) as aside:
        aside.write_text(text, encoding="utf-8")
