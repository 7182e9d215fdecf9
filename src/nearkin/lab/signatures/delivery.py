"""The experiment as `nearkin.lab.delivery` runs and writes it."""

from __future__ import annotations

from functools import partial

from nearkin.lab.delivery import Experiment
from nearkin.lab.page import LabPage
from nearkin.lab.signatures.experiment import SignatureResults, run
from nearkin.lab.signatures.summary import summary
from nearkin.lab.signatures.tables import tables
from nearkin.workflows.reading.request import ReadingRequest


def experiment(files: ReadingRequest, n_documents: int) -> Experiment[SignatureResults]:
    """The article's measurements on the first documents of a corpus; see `experiment.run`."""
    return Experiment(
        name="signatures",
        inputs=files.shown_inputs,
        run=partial(run, files, n_documents),
        tables=tables,
        summary=partial(summary, files),
        page=_page,
    )


def _page() -> LabPage[SignatureResults]:
    from nearkin.lab.signatures.page import PAGE

    return PAGE
