"""Deduplication of files: from command line arguments to a directory of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from nearkin.engines.local import LOCAL, Engine
from nearkin.errors import ParameterError
from nearkin.manifests.dedup import DedupManifest, FamilyCounts, KeptFile
from nearkin.nouns import counted
from nearkin.paths import STDIN
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.run import JobRun
from nearkin.runs.spool import SPOOL, Spool
from nearkin.wording import WarningMessage
from nearkin.workflows.dedup import job, manifest
from nearkin.workflows.dedup.carrying import carried_columns, check_carry
from nearkin.workflows.dedup.inputs import AS_THE_INPUT, OtherColumns, Sourced
from nearkin.workflows.dedup.kept_corpus import write_kept_corpus
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.overlays import write_overlay_of_run
from nearkin.workflows.dedup.reading import BeginningRead
from nearkin.workflows.dedup.tables import write_exceptions_of
from nearkin.workflows.overlay import check_tool
from nearkin.workflows.reading.collection_exceptions import exceptions_of_collections
from nearkin.workflows.reading.identity import SourceRecords, by_path, check_unchanged, digested_sides
from nearkin.workflows.reading.inputs import Input, StoredSource, file_inputs, sides_apart
from nearkin.workflows.reading.on_spark.tasks import check_can_be_shared
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.rereading import not_read_files
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from nearkin.engines.spark.session import Cluster

_MUCH_LONGER = 4
__all__ = ["Delivery", "Ending", "RunResult", "dedup_files"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Files to write, and what to do with existing results.

    Parameters
    ----------
    resume, overwrite : bool
        Continue an unfinished run; replace the results of an earlier run.
    kept : bool
        Whether to write the cleaned corpus.
    report : bool
        Whether to write ``report.html``.
    carry : tuple of str
        Columns of the input that are copied into ``documents.parquet``; the report counts by their values.
    overlay : str, optional
        Review tool for which an overlay is written: one of `overlay.TOOLS`.
    """

    resume: bool = False
    overwrite: bool = False
    kept: bool = False
    report: bool = True
    carry: tuple[str, ...] = ()
    overlay: str | None = None

    def __post_init__(self) -> None:
        if self.resume and self.overwrite:
            raise ParameterError("excludes overwrite; give one of them.", parameter="resume")
        if self.overlay is not None:
            check_tool(self.overlay)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Result with its tables written, and the input it was made from.

    Parameters
    ----------
    run : JobRun
    result : job.Result
    options : DedupOptions
    sourced : Sourced
    inputs : sequence of Input
        Documents for a second reading, in the same order.
    """

    run: JobRun
    result: job.Result
    options: DedupOptions
    sourced: Sourced
    inputs: Sequence[Input]


class Ending(Protocol):
    """Another command's tables and page of a result."""

    @property
    def command(self) -> str:
        """Name of the command; it reads the input a second time."""

    def write(self, found: RunResult) -> FamilyCounts:
        """Write the tables from the input."""

    def render(self, found: RunResult, manifest: DedupManifest) -> str:
        """Return the page, which replaces that of ``nearkin dedup``."""


def dedup_files(
    asked: ReadingRequest,
    out: Path,
    options: DedupOptions,
    *,
    against: Sequence[str | StoredSource] = (),
    against_columns: OtherColumns = AS_THE_INPUT,
    delivery: Delivery,
    ending: Ending | None = None,
    resources: Resources,
    progress: Progress | None = None,
    preset: str | None = None,
    engine: Engine = LOCAL,
) -> DedupManifest:
    """Find near-duplicates in files, write the tables into a directory, and finish as the command requires.

    A cluster must see the files and the directory under the same paths. Without an ``ending`` it is ``nearkin dedup``.

    Returns
    -------
    DedupManifest

    Raises
    ------
    InputError, RunError, ParameterError
        See `nearkin.errors`.
    """
    options.check_fits(is_against=bool(against))
    against_columns.check_fits(is_against=bool(against))
    run = JobRun(out, Meter(progress or Silent()))
    sourced = Sourced.of(
        asked, out, options, run.progress, against=against, against_columns=against_columns,
        twice=_twice(delivery, ending),
    )  # fmt: skip
    if any(source.path == STDIN for source in sourced.sources + sourced.others):
        if delivery.resume:
            raise ParameterError("needs files: standard input (-) can be read only once.", parameter="resume")
        run = replace(run, is_resumable=False)
    if delivery.carry:
        check_carry(delivery.carry, sourced.sources, encoding=asked.encoding, stdin=asked.stdin)
    engine.choose(local=lambda: None, cluster=lambda _: check_can_be_shared(sourced.sources + sourced.others))
    command = "dedup" if ending is None else ending.command
    fingerprint = {**sourced.identity(command, options), "engine": engine.name}
    with run.claimed(
        fingerprint, resume=delivery.resume, overwrite=delivery.overwrite, done=lambda: _done(run, sourced)
    ):
        records = digested_sides(sourced.records, run, resources)
        result, cluster = _find(engine, sourced, run, options, records, resources)
        result = _with_exceptions_beside(result, sourced)
        inputs = file_inputs(sourced.sources, encoding=asked.encoding)
        if delivery.carry:
            carried = carried_columns(delivery.carry, inputs, result.corpus.n_inputs, run.meter)
            result = replace(result, places=replace(result.places, carried=carried))
        _say_much_shorter(result, options, run.progress)
        run.begin_results()
        job.write(result, out, run.meter)
        found = RunResult(run=run, result=result, options=options, sourced=sourced, inputs=inputs)
        if delivery.overlay is not None:
            _write_overlay(found, delivery.overlay)
        families = None if ending is None else ending.write(found)
        kept = _write_kept(found) if delivery.kept else None
        files, others = ([one.file for one in records[side]] for side in ("inputs", "against"))
        write_exceptions_of(out, result.places, dict(enumerate([*files, *others])))
        record = replace(
            manifest.build(result, options, files, others, preset=preset, command=command),
            encoding=asked.encoding, reading=asked.as_read(), engine=cluster, kept=kept, families=families,
            carried=tuple(result.places.carried) or None, not_read=not_read_files(sourced.not_read),
        )  # fmt: skip
        # so the digests are those of the bytes that were searched and copied
        check_unchanged([one for side in records.values() for one in side if one.has_many_documents])
        if delivery.report:
            record = _report(found, record, ending)
        if engine.name == "local":  # the tasks of a cluster use most of the memory
            longest = int(result.corpus.n_characters.max(initial=0))
            record = replace(record, memory=manifest.memory(resources, run.meter, longest))
        return run.finish(record, kept=delivery.kept)


def _twice(delivery: Delivery, ending: Ending | None) -> str | None:
    """Return the parameter or command that needs a second reading of the input; None if none does."""
    if ending is not None:
        return f"nearkin {ending.command}"
    return "write_kept" if delivery.kept else "carry" if delivery.carry else None


def _report(found: RunResult, record: DedupManifest, ending: Ending | None) -> DedupManifest:
    """Write ``report.html``."""
    from nearkin.workflows.dedup.reporting import other_page, render_new_page  # a run without a page needs none of it

    if ending is not None:
        return found.run.report(record, lambda manifest: ending.render(found, manifest))
    return found.run.report(
        record,
        lambda manifest: render_new_page(found.run, manifest, found.result, found.options),
        instead=other_page(found.run.path, record),
    )


def _say_much_shorter(result: job.Result, options: DedupOptions, progress: Progress) -> None:
    """Report if documents of the other set are so short that Jaccard similarity does not find them in longer ones."""
    corpus = result.corpus
    if not corpus.is_against or options.measure.is_directed:
        return
    lengths, others = corpus.n_characters[: corpus.n_inputs], corpus.n_characters[corpus.n_inputs :]
    lengths, others = lengths[lengths > 0], others[others > 0]
    if len(lengths) and len(others) and others.mean() < lengths.mean() / _MUCH_LONGER:
        told = (
            f"The documents of the other set have {counted(round(others.mean()), 'character')} on average, those of "
            f"INPUT {round(lengths.mean()):,}. Jaccard similarity does not find such short texts inside longer ones. "
            "To find them inside documents of INPUT: --drop containing"
        )
        progress.say(WarningMessage(told))


def _with_exceptions_beside(result: job.Result, sourced: Sourced) -> job.Result:
    """Add the exceptions of collections that are none of their documents; tables and numbers stay as they are."""
    known = result.places.exceptions()
    beside = exceptions_of_collections([*sourced.sources, *sourced.others], known)
    return replace(result, places=replace(result.places, beside=beside)) if beside else result


def _find(
    engine: Engine,
    sourced: Sourced,
    run: JobRun,
    options: DedupOptions,
    records: Mapping[str, SourceRecords],
    resources: Resources,
) -> tuple[job.Result, Mapping[str, object] | None]:
    """Find the near-duplicates by threads of this process or on a cluster; also return the record of the cluster."""
    asked = sourced.asked
    inputs = file_inputs(sourced.sources, keep_column=options.keep.column, encoding=asked.encoding, stdin=asked.stdin)
    others = file_inputs(sourced.others, encoding=asked.encoding, stdin=asked.stdin)
    if sourced.is_against:
        inputs, others = sides_apart(inputs, others)
    given = inputs, others if sourced.is_against else None, options, run.work

    def here() -> tuple[job.Result, None]:
        return job.find(*given, rules=asked.rules, resources=resources, meter=run.meter), None

    def on_cluster(cluster: Cluster) -> tuple[job.Result, Mapping[str, object]]:
        from nearkin.engines.spark.stages import stages_on
        from nearkin.workflows.dedup.on_spark.job import find

        known = by_path(records["inputs"]), by_path(records["against"])
        with stages_on(cluster, run.work, run.meter) as stages:
            found = find(*given, stages, rules=asked.rules, resources=resources, meter=run.meter, known=known)
            return found, stages.about

    return engine.choose(local=here, cluster=on_cluster)


def _write_overlay(found: RunResult, tool: str) -> None:
    formats = [source.format for source in found.sourced.sources]
    with found.run.stage("write overlay", 0, "documents") as progress:
        outcome, places = found.result.judged.outcome, found.result.places
        path = write_overlay_of_run(found.run.path, tool, outcome, places, found.options, formats)
        progress.say(f"overlay: {path}")


def _write_kept(found: RunResult) -> tuple[KeptFile, ...]:
    return write_kept_corpus(
        found.sourced.sources,
        found.result.places,
        found.result.judged.outcome.keep,
        found.run.begin_kept(),
        encoding=found.sourced.asked.encoding,
        meter=found.run.meter,
    )


_STAGES = (
    ("sketch", "search/sizes.arrow"),
    ("link", "search/runs.json"),
    ("shingle pairs", "verification/shingle pairs.arrow"),
    ("verify", "verification/matches.arrow"),
)
"""File that each finished stage leaves in the work folder; later stages take seconds and leave none."""


def _done(run: JobRun, sourced: Sourced) -> list[str]:
    """Return what an interrupted run finished: files that were read, and stages."""
    from nearkin.engines.spark.stages import stages_kept

    if kept := stages_kept(run.work):
        return kept
    sides = (sourced.sources, sourced.others)
    inputs = [one for side in sides for one in file_inputs(side, encoding=sourced.asked.encoding)]
    n_read, n_files = files_read(Spool(run.work / SPOOL), inputs), sum(len(one.names) for one in inputs)
    read = [f"read {n_read:,} of {counted(n_files, 'file')}"] if n_read else []
    return read + [name for name, mark in _STAGES if (run.work / mark).exists()]


def files_read(spool: Spool, inputs: Sequence[Input]) -> int:
    """Return the number of files that were read completely; the others are read from their beginning."""
    n_read, first_source = 0, 0
    for index, one in enumerate(inputs):
        is_read = spool.mark(index).exists()
        n_read += len(one.names) if is_read else BeginningRead.of(index, first_source, one, spool).n_files
        first_source += len(one.names)
    return n_read
