"""The experiment as `nearkin.lab.delivery` runs and writes it."""

from __future__ import annotations

from functools import partial

from nearkin.lab.delivery import Experiment
from nearkin.lab.minhash.corpus import TitledRequest
from nearkin.lab.minhash.experiment import MinhashResults, run
from nearkin.lab.minhash.tables import summary, tables
from nearkin.lab.page import LabPage


def experiment(files: TitledRequest, n_documents: int) -> Experiment[MinhashResults]:
    """The article's measurements on the first documents of a corpus; see `experiment.run`."""
    return Experiment(
        name="minhash",
        inputs=files.shown_inputs,
        run=partial(run, files, n_documents),
        tables=tables,
        summary=partial(summary, files),
        page=_page,
        lists_tables=False,
    )


def _page() -> LabPage[MinhashResults]:
    from nearkin.lab.minhash.page import PAGE

    return PAGE
