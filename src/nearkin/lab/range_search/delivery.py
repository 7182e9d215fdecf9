"""The experiment as `nearkin.lab.delivery` runs and writes it."""

from __future__ import annotations

from functools import partial

from nearkin.lab.delivery import Experiment
from nearkin.lab.page import LabPage
from nearkin.lab.range_search.experiment import RangeSearchPlan, RangeSearchResults, run
from nearkin.lab.range_search.summary import summary
from nearkin.lab.range_search.tables import tables
from nearkin.workflows.reading.request import ReadingRequest


def experiment(files: ReadingRequest, plan: RangeSearchPlan) -> Experiment[RangeSearchResults]:
    """The paper's measurements on the first documents of a corpus; see `experiment.run`."""
    return Experiment(
        name="range-search",
        inputs=files.shown_inputs,
        run=partial(run, files, plan),
        tables=tables,
        summary=partial(summary, files),
        page=_page,
    )


def _page() -> LabPage[RangeSearchResults]:
    from nearkin.lab.range_search.page import PAGE

    return PAGE
