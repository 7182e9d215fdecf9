"""The experiment as `nearkin.lab.delivery` runs and writes it."""

from __future__ import annotations

from functools import partial

from nearkin.lab.cross_lingual.experiment import CrossLingualPlan, CrossLingualResults, run
from nearkin.lab.cross_lingual.summary import summary
from nearkin.lab.cross_lingual.tables import tables
from nearkin.lab.delivery import Experiment
from nearkin.lab.page import LabPage


def experiment(plan: CrossLingualPlan) -> Experiment[CrossLingualResults]:
    """The article's experiments on documents and their translations; see `experiment.run`."""
    return Experiment(
        name="cross-lingual", run=partial(run, plan), tables=tables, summary=partial(summary, plan), page=_page
    )


def _page() -> LabPage[CrossLingualResults]:
    from nearkin.lab.cross_lingual.page import PAGE

    return PAGE
