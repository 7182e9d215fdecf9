"""The results in a directory: tables, figures, page, and the summary last."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from nearkin.lab.cross_lingual.experiment import Plan, Results, run
from nearkin.lab.cross_lingual.summary import summary
from nearkin.lab.cross_lingual.tables import tables
from nearkin.lab.delivery import Delivered, Experiment, Page
from nearkin.lab.delivery import deliver as deliver_experiment
from nearkin.runs.progress import Progress
from nearkin.workflows.resources import Resources


def deliver(
    plan: Plan, out: Path, *, resources: Resources, report: bool, overwrite: bool, progress: Progress
) -> Delivered[Results]:
    """Run the experiment and write all of it into a directory.

    Raises
    ------
    OutputExistsError
        The directory holds results and ``overwrite`` is off, or holds something else.
    InputError, ParameterError, FingerprintError, MissingExtraError
        See `experiment.run` and `page.draw`.
    """
    experiment = Experiment(
        run=partial(run, plan, resources=resources, progress=progress),
        tables=tables,
        summary=partial(summary, plan),
        page=_page if report else None,
    )
    return deliver_experiment(experiment, out, overwrite=overwrite, progress=progress)


def _page() -> Page[Results]:
    from nearkin.lab.cross_lingual import figures  # noqa: F401  (a missing extra is missed before the work)
    from nearkin.lab.cross_lingual.page import draw, render

    return Page(draw, render)
