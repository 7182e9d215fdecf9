"""`nearkin.evaluate`: precision, recall and F1 of a result."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from nearkin.errors import ParameterError
from nearkin.jobs.places import file_for
from nearkin.options.declared import taking_two
from nearkin.options.measuring import EvaluateJob
from nearkin.paths import path_of
from nearkin.planning.evaluation import DISTANCE, Evaluated
from nearkin.runs.files import published
from nearkin.tabular import Histogram, Tabular
from nearkin.wording import share_text
from nearkin.workflows.auditing.evaluating import evaluate as compared


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EvaluationResult(Tabular):
    """Result of `nearkin.evaluate`: of the reported pairs, or of all pairs inside groups if there are only groups.

    Parameters
    ----------
    precision, recall, f1
        Of all pairs, in [0, 1].
    threshold, best_f1
        The threshold with the largest F1, and that F1.
    curve
        At most 100 thresholds: threshold, n_reported, n_true, precision, recall, f1.
    manifest
        All figures, as `nearkin evaluate --json` prints them.
    """

    tables: ClassVar[tuple[str, ...]] = ("curve",)
    precision: float
    recall: float
    f1: float
    threshold: float
    best_f1: float
    curve: pa.Table
    manifest: Mapping[str, Any]

    def _bars(self) -> Histogram:
        return Histogram("all pairs", {"precision": self.precision, "recall": self.recall, "F1": self.f1})

    def __repr__(self) -> str:
        shares = (f"{name} {share_text(getattr(self, name), 4)}" for name in ("precision", "recall", "f1"))
        return f"EvaluationResult({', '.join(shares)})"


@taking_two(EvaluateJob)
def evaluate(result: Any, truth: Any, job: EvaluateJob) -> EvaluationResult:
    """Compare a result with pairs or groups that are known to be true.

    Parameters
    ----------
    result
        Directory of a run of `nearkin.dedup`, `nearkin.families` or `nearkin.pairs`, the result with its ``out``, or a
        file with a table of pairs or groups.
    truth : path, table, data frame or mapping of columns
        Two columns of ids: all true pairs; with a third column, ``match``, only these pairs are judged. Columns ``id``
        and ``group``: documents of one group are true pairs.
    out, overwrite
        As on the command line.

    Raises
    ------
    RunError, SourceError, ParameterError
        The result or the truth cannot be read, or has no columns of pairs or groups; or the result has no directory.

    Examples
    --------
    >>> import nearkin, tempfile
    >>> lease = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord."
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     texts = [("a", lease), ("b", lease.replace("first", "third")), ("c", "Soup and bread in the hall at noon.")]
    ...     run = nearkin.dedup(texts, threshold=0.2, out=f"{folder}/run")
    ...     found = nearkin.evaluate(run, {"id_a": ["a", "a"], "id_b": ["b", "c"]})
    >>> found
    EvaluationResult(precision 1.0000, recall 0.5000, f1 0.6666)
    """
    place = getattr(result, "out", result)
    if place is None:
        raise ParameterError("This result has no directory to evaluate: run the job with 'out'.")
    place = path_of(place, "result")
    known = path_of(truth, "truth") if isinstance(truth, str | os.PathLike) else pa.table(truth)
    if job.out is None:
        evaluated = evaluated_at(place, known, None)
    else:
        inputs = [path for path in (place, known) if isinstance(path, Path)]
        with file_for(job.out, "evaluation", overwrite=job.overwrite, inputs=inputs) as out:
            evaluated = evaluated_at(place, known, out)
    first = evaluated.evaluations[0]
    points = pa.Table.from_pylist([asdict(one) for one in first.curve])
    if first.score == DISTANCE and first.curve:
        points = points.set_column(0, "threshold", points["threshold"].cast(pa.int64()))
    return EvaluationResult(
        precision=first.total.precision, recall=first.total.recall, f1=first.total.f1, threshold=first.best.threshold,
        best_f1=first.best.f1, curve=points, manifest=evaluated.to_dict(),
    )  # fmt: skip


def evaluated_at(place: Path, truth: Path | pa.Table, out: Path | None) -> Evaluated:
    """Compare a result with the truth, and write a page if a place for it is given."""
    evaluated = compared(place, truth)
    if out is not None:
        from nearkin.reports.evaluation import render_evaluation  # it needs an extra

        with published(out) as aside:
            aside.write_text(render_evaluation(evaluated), encoding="utf-8")
    return evaluated
