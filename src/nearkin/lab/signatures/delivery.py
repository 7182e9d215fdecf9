"""The results in a directory: tables, figures, page, and the summary last."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from nearkin.errors import OutputExistsError
from nearkin.lab.signatures.corpus import RawFiles
from nearkin.lab.signatures.experiment import Results, run
from nearkin.lab.signatures.summary import summary
from nearkin.lab.signatures.tables import tables
from nearkin.runs.files import published, write_json, writing
from nearkin.runs.progress import Progress

SUMMARY, PAGE = "summary.json", "report.html"
_TABLES, _FIGURES = "tables", "figures"


@dataclass(frozen=True, slots=True)
class Delivered:
    """What was measured, and the summary as ``summary.json`` has it."""

    results: Results
    summary: dict[str, object]


def deliver(
    files: RawFiles,
    n_documents: int,
    out: Path,
    *,
    threads: int,
    report: bool,
    overwrite: bool,
    progress: Progress,
) -> Delivered:
    """Run the experiment and write all of it into a directory.

    Raises
    ------
    OutputExistsError
        The directory holds results and ``overwrite`` is off, or holds something else.
    InputError, ParameterError, MissingExtraError
        See `experiment.run` and `page.draw`.
    """
    _make_room(out, overwrite=overwrite)
    if report:
        from nearkin.lab.signatures import figures, page  # noqa: F401  (a missing extra is missed before the work)
    results = run(files, n_documents, threads=threads, progress=progress)
    with writing(out):
        (out / _TABLES).mkdir(exist_ok=True)
    for table in tables(results):
        _write(out / _TABLES / f"{table.name}.csv", table.as_csv())
    if report:
        progress.start("draw", 0, "steps")
        _write_page(results, out, ", ".join(files.inputs))
        progress.finish()
    written = summary(results, {"inputs": list(files.inputs), "text": files.text})
    write_json(out / SUMMARY, written)
    return Delivered(results, written)


def _write_page(results: Results, out: Path, corpus: str) -> None:
    from nearkin.lab.signatures.page import draw, render

    drawn = draw(results)
    with writing(out):
        (out / _FIGURES).mkdir(exist_ok=True)
    for figure in drawn:
        _write(out / _FIGURES / f"{figure.name}.svg", figure.wide + "\n")
    _write(out / PAGE, render(results, drawn, corpus))


def _write(path: Path, text: str) -> None:
    with published(path, durable=False) as aside:
        aside.write_text(text, encoding="utf-8")


def _make_room(out: Path, *, overwrite: bool) -> None:
    """An empty directory, or one of an earlier experiment that may be replaced."""
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
