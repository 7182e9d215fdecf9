"""The results in a directory: tables, figures, page, and the summary last."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from nearkin.lab.delivery import Delivered, Experiment, Page
from nearkin.lab.delivery import deliver as deliver_experiment
from nearkin.lab.minhash.corpus import TitledRequest
from nearkin.lab.minhash.experiment import Results, run
from nearkin.lab.minhash.tables import summary, tables
from nearkin.runs.progress import Progress


def deliver(
    files: TitledRequest,
    n_documents: int,
    out: Path,
    *,
    threads: int,
    report: bool,
    overwrite: bool,
    progress: Progress,
) -> Delivered[Results]:
    """Run the experiment and write all of it into a directory.

    Raises
    ------
    OutputExistsError
        The directory holds results and ``overwrite`` is off, or holds something else.
    InputError, ParameterError, MissingExtraError
        See `experiment.run` and `page.draw`.
    """
    corpus: dict[str, object] = {"inputs": files.shown_inputs, "text": files.text, "title": files.title}
    experiment = Experiment(
        run=partial(run, files, n_documents, threads=threads, progress=progress),
        tables=tables,
        summary=partial(summary, corpus=corpus),
        page=partial(_page, ", ".join(files.shown_inputs)) if report else None,
    )
    return deliver_experiment(experiment, out, overwrite=overwrite, progress=progress)


def _page(corpus: str) -> Page[Results]:
    from nearkin.lab.minhash import figures  # noqa: F401  (a missing extra is missed before the work)
    from nearkin.lab.minhash.page import draw, render

    return Page(draw, partial(render, corpus=corpus))
