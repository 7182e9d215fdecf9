"""`nearkin.audit`: the recall of a finished run, or of the searches of a collection."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearkin.errors import MissingExtraError, ParameterError
from nearkin.jobs.deduplicating import DedupResult
from nearkin.jobs.documents import Documents, inputs_of, paths_of, readable_twice
from nearkin.jobs.families import FamiliesResult
from nearkin.jobs.pairing import PairsResult
from nearkin.jobs.places import Where, file_for, manifest_in, progress_of
from nearkin.manifests.pairs import SIDES
from nearkin.nouns import counted
from nearkin.options.collection import ToleranceOptions
from nearkin.options.declared import taking, taking_two
from nearkin.options.measuring import AuditJob, EvaluateJob
from nearkin.paths import is_like_a_server, path_of
from nearkin.planning.evaluation import DISTANCE, Evaluated
from nearkin.runs.files import published
from nearkin.runs.progress import Progress
from nearkin.tabular import Tabular, as_json
from nearkin.wording import share_text
from nearkin.workflows.auditing.evaluating import evaluate as compared
from nearkin.workflows.reading.inputs import IN_MEMORY, StoredSource
from nearkin.workflows.reading.rereading import GivenAgain
from nearkin.workflows.resources import Resources

try:
    from nearkin.collection.collection import Collection
    from nearkin.collection.tolerance import Tolerance
    from nearkin.workflows.auditing.audit import AUDITED, is_collection
    from nearkin.workflows.auditing.audit import audit as audited_place
    from nearkin.workflows.auditing.audited import AuditOptions
except ImportError as error:
    raise MissingExtraError.of("nearkin.audit", "collection") from error

Run = DedupResult | FamiliesResult | PairsResult


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditResult(Tabular):
    """Result of `nearkin.audit`.

    Parameters
    ----------
    recall
        Share of the true pairs of the sample that were found, in [0, 1]; None if there are none.
    low, high
        Its interval, at a confidence of 95%.
    is_exact
        Whether all documents were sampled.
    predicted_recall
        Recall, or its lower end, that the search predicted, or that a run of `nearkin.dedup` estimated.
        ``manifest["below_predicted"]`` says by how much ``recall`` is below it.
    missed
        True pairs that were not found, the most similar first: id_a, id_b, similarity.
    definition
        Of a true pair, such as "different texts with Jaccard ≥ 0.80 on word 5-grams".
    manifest
        All figures, as `nearkin audit --json` prints them.
    """

    recall: float | None
    low: float | None
    high: float | None
    is_exact: bool
    n_sampled: int
    n_true: int
    n_found: int
    predicted_recall: float | None
    missed: pa.Table
    definition: str
    manifest: Mapping[str, Any]

    def __repr__(self) -> str:
        count = f"{self.n_found:,} of {counted(self.n_true, 'true pair')} found"
        if self.recall is None or self.low is None or self.high is None:
            return f"AuditResult({count})"
        interval = "exact" if self.is_exact else f"95% interval {share_text(self.low, 4)} to {share_text(self.high, 4)}"
        return f"AuditResult(recall {share_text(self.recall, 4)}, {interval}; {count})"


@taking(AuditJob)
def audit(place: Where | Run | Collection, job: AuditJob) -> AuditResult:
    """Measure the recall of a finished run, or of the searches of a collection, by comparing a sample with everything.

    A run is audited in its directory, and its input is read again: files must be unchanged.

    Parameters
    ----------
    place : path, result or Collection
        Directory of a run of `nearkin.dedup`, `nearkin.families` or `nearkin.pairs`, or the result with its ``out``; or
        a collection, its directory or URL.
    documents, other : table, data frame, data set or list, optional
        Documents that the run read from memory: ``documents`` and ``against``, or ``left`` and ``right``.
    sample, seed, measure, gamma, threshold, tolerance, threads, progress
        As on the command line.

    Raises
    ------
    RunError
        The place holds neither a run nor a collection; or the run is unfinished, damaged, or cannot be audited.
    SourceError
        Input of the run is missing or changed.
    ParameterError
        A parameter is invalid or is for collections; or the result has no directory.
    CollectionError
        The collection cannot be used.

    Examples
    --------
    >>> import nearkin, tempfile
    >>> lease = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord."
    >>> with tempfile.TemporaryDirectory() as folder, nearkin.Collection.open(f"{folder}/m", create=True) as matter:
    ...     added = matter.add([("a", lease), ("b", lease.replace("900", "950")), ("c", "Soup and bread.")])
    ...     found = nearkin.audit(matter, gamma=0.1)
    >>> found
    AuditResult(recall 1.0000, exact; 2 of 2 true pairs found)
    """
    progress, in_memory = progress_of(job.progress), (job.documents, job.other)
    options = AuditOptions(
        sample=job.sample,
        seed=job.seed,
        tolerance=Tolerance.if_given(**job.part(ToleranceOptions).given()),
        threads=Resources(job.threads).n_threads,
        is_read_only=isinstance(place, Collection) and place.opened.store.access.is_read_only,
    )
    where = _place(place)
    if any(value is not None for value in in_memory) and is_collection(where):  # before a message shows its password
        raise ParameterError("Omit 'documents' and 'other': a collection has its documents.")
    audited = audited_place(where, options, progress, _given_again(where, in_memory, progress))
    names = ("recall", "low", "high", "is_exact", "n_sampled", "n_true", "n_found")
    return AuditResult(
        **{name: getattr(audited.estimate, name) for name in names}, predicted_recall=audited.predicted_recall,
        missed=audited.missed, definition=audited.pairs, manifest=audited.to_dict(),
    )  # fmt: skip


def _given_again(
    place: str | Path, documents: tuple[Documents | None, Documents | None], progress: Progress
) -> GivenAgain:
    if all(document is None for document in documents):
        return {}
    stored = manifest_in(path_of(place, "place"), tuple(AUDITED))
    is_paired = stored["command"] == "pairs"
    sides = [stored[side]["inputs"] for side in SIDES] if is_paired else [stored["inputs"], stored["against"]]
    sources = dict[str, StoredSource]()
    for given, entries, name in zip(documents, sides, ("documents", "other")):
        if given is None:
            continue
        given = readable_twice(given, name)
        entry = next((entry for entry in entries if entry["format"] == IN_MEMORY), None)
        if entry is None:
            raise ParameterError(
                f"The run did not read '{name}' from memory. Omit '{name}'; audit reads files again by itself."
            )
        if paths_of(given) is not None:
            raise ParameterError.of(name, "the documents that the run read from memory", given)
        columns = {"text": entry["text"], "id": entry["id"]}
        for source in inputs_of(given, name=entry["path"], progress=progress, **columns):
            if isinstance(source, StoredSource):
                sources[source.path] = source
    return sources


def _place(given: Where | Run | Collection) -> str | Path:
    if isinstance(given, Collection):
        return given.place.address
    if isinstance(given, Run):
        if given.out is None:
            raise ParameterError("This result has no directory to audit: run the job with 'out'.")
        return given.out
    if isinstance(given, str) and ("://" in given or is_like_a_server(given)):
        return given
    path = path_of(given, "place")
    return given if isinstance(given, str) else path


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

    precision: float
    recall: float
    f1: float
    threshold: float
    best_f1: float
    curve: pa.Table
    manifest: Mapping[str, Any]

    def __repr__(self) -> str:
        shares = (f"{name} {share_text(getattr(self, name), 4)}" for name in ("precision", "recall", "f1"))
        return f"EvaluationResult({', '.join(shares)})"


@taking_two(EvaluateJob)
def evaluate(result: Any, truth: Any, job: EvaluateJob) -> EvaluationResult:
    """Compare a result with pairs or groups that are known to be true.

    Parameters
    ----------
    result : path or result
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
    points = pa.Table.from_pylist([asdict(point) for point in first.curve])
    if first.score == DISTANCE and first.curve:
        points = points.set_column(0, "threshold", points["threshold"].cast(pa.int64()))
    return EvaluationResult(
        precision=first.total.precision, recall=first.total.recall, f1=first.total.f1, threshold=first.best.threshold,
        best_f1=first.best.f1, curve=points, manifest=as_json(evaluated),
    )  # fmt: skip


def evaluated_at(place: Path, truth: Path | pa.Table, out: Path | None) -> Evaluated:
    """Compare a result with the truth, and write a page if a place for it is given."""
    evaluated = compared(place, truth)
    if out is not None:
        from nearkin.reports.evaluation import render_evaluation  # it needs an extra

        with published(out) as aside:
            aside.write_text(render_evaluation(evaluated), encoding="utf-8")
    return evaluated
