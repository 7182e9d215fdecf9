"""The results in a directory: tables, figures, page, and the summary last."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from nearkin.lab.delivery import Delivered, Experiment, Page
from nearkin.lab.delivery import deliver as deliver_experiment
from nearkin.lab.similarity_index.experiment import Plan, Results, run
from nearkin.lab.similarity_index.summary import summary
from nearkin.lab.similarity_index.tables import tables
from nearkin.runs.progress import Progress


def deliver(
    plan: Plan, out: Path, *, threads: int, report: bool, overwrite: bool, progress: Progress
) -> Delivered[Results]:
    """Run the experiment and write all of it into a directory.

    Raises
    ------
    OutputExistsError
        The directory holds results and ``overwrite`` is off, or holds something else.
    InputError, MissingExtraError
        See `experiment.run` and `page.draw`.
    """
    experiment = Experiment(
        run=partial(run, plan, threads=threads, progress=progress),
        tables=tables,
        summary=summary,
        page=_page if report else None,
    )
    return deliver_experiment(experiment, out, overwrite=overwrite, progress=progress)


def _page() -> Page[Results]:
    from nearkin.lab.similarity_index import figures  # noqa: F401  (a missing extra is missed before the work)
    from nearkin.lab.similarity_index.page import draw, render

    return Page(draw, render)
