"""The experiment as `nearkin.lab.delivery` runs and writes it."""

from __future__ import annotations

from functools import partial

from nearkin.lab.delivery import Experiment
from nearkin.lab.page import LabPage
from nearkin.lab.similarity_index.experiment import IndexPlan, IndexResults, run
from nearkin.lab.similarity_index.summary import summary
from nearkin.lab.similarity_index.tables import tables


def experiment(plan: IndexPlan) -> Experiment[IndexResults]:
    """The paper's experiment on a folder; see `experiment.run`."""
    return Experiment(name="similarity-index", run=partial(run, plan), tables=tables, summary=summary, page=_page)


def _page() -> LabPage[IndexResults]:
    from nearkin.lab.similarity_index.page import PAGE

    return PAGE
