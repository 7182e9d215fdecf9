"""Deduplication of files: from command line arguments to a directory of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from nearkin.engines.local import LOCAL, Engine
from nearkin.errors import ParameterError
from nearkin.manifests.dedup import DedupManifest, FamilyCounts, KeptFile
from nearkin.nouns import agreeing, counted
from nearkin.paths import STDIN
from nearkin.runs.directory import RunDirectory
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.spool import SPOOL, Spool
from nearkin.wording import WarningMessage
from nearkin.workflows.dedup import job, manifest
from nearkin.workflows.dedup.carrying import carried_columns, check_carry
from nearkin.workflows.dedup.engines import DedupEngine, DedupFound, check_sources, dedup_engine
from nearkin.workflows.dedup.inputs import AS_THE_INPUT, OtherColumns, Sourced
from nearkin.workflows.dedup.kept_corpus import check_can_be_written, write_kept_corpus
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.overlays import write_overlay_of_run
from nearkin.workflows.dedup.reading import BeginningRead
from nearkin.workflows.dedup.tables import write_exceptions_of
from nearkin.workflows.overlay import check_tool
from nearkin.workflows.reading.collection_exceptions import exceptions_of_collections
from nearkin.workflows.reading.input_digests import DescribedInputs
from nearkin.workflows.reading.inputs import Input, LooseFilesInput, StoredSource, file_inputs, sides_apart
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.rereading import not_read_files
from nearkin.workflows.resources import Resources

_MUCH_LONGER = 4
__all__ = ["Delivery", "Ending", "RunResult", "Written", "dedup_files"]


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
    result : job.Result
    options : DedupOptions
    sourced : Sourced
    inputs : sequence of Input
        Documents for a second reading, in the same order.
    directory : RunDirectory
    resources : Resources
    meter : Meter
    """

    result: job.Result
    options: DedupOptions
    sourced: Sourced
    inputs: Sequence[Input]
    directory: RunDirectory
    resources: Resources
    meter: Meter


@dataclass(frozen=True, slots=True)
class Written:
    """Files that a command wrote beside the tables, as the manifest lists them."""

    kept: tuple[KeptFile, ...] | None = None
    families: FamilyCounts | None = None


class Ending(Protocol):
    """Command's use of a result, beyond its tables."""

    @property
    def command(self) -> str:
        """Name of the command, for the manifest."""

    @property
    def twice(self) -> str | None:
        """Parameter or command that needs a second reading of the input, for messages; None if none does."""

    def check(self, sourced: Sourced) -> None:
        """Refuse input for which the requested files cannot be written."""

    def write(self, found: RunResult) -> Written:
        """Write the requested files from the input."""

    def report(self, found: RunResult, manifest: DedupManifest, written: Written) -> str | None:
        """Write the page from the manifest so far; return the reason if it could not be drawn."""


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

    A cluster must see the files and the directory under the same paths. The default ``ending`` is that of
    ``nearkin dedup``.

    Returns
    -------
    DedupManifest

    Raises
    ------
    InputError, RunError, ParameterError
        See `nearkin.errors`.
    """
    progress, ending = progress or Silent(), ending or DedupEnding(delivery)
    options.check_fits(is_against=bool(against))
    against_columns.check_fits(is_against=bool(against))
    directory = RunDirectory(out)
    sourced = Sourced.of(
        asked, out, options, progress, against=against, against_columns=against_columns, twice=ending.twice
    )
    if any(source.path == STDIN for source in sourced.sources + sourced.others):
        if delivery.resume:
            raise ParameterError("needs files: standard input (-) can be read only once.", parameter="resume")
        directory = replace(directory, is_resumable=False)
    ending.check(sourced)
    meter = Meter(progress)
    check_sources(engine, sourced.sources + sourced.others)
    identity = {**sourced.identity(ending.command, options), "engine": engine.name}
    with directory.claimed(
        identity,
        resume=delivery.resume,
        overwrite=delivery.overwrite,
        has_kept=lambda: has_kept(directory, _all_inputs(sourced)),
    ) as is_resumed:
        if delivery.resume:
            progress.say(resumed_in_words(directory, _all_inputs(sourced), is_resumed=is_resumed))
        described = DescribedInputs.of(sourced.sides(), directory, resources=resources, meter=meter)
        worker = dedup_engine(engine, described, resources, meter)
        searched = _find(sourced, directory, options, worker)
        result = _with_exceptions_beside(searched.result, sourced)
        inputs = file_inputs(sourced.sources, encoding=asked.encoding)
        if delivery.carry:
            carried = carried_columns(delivery.carry, inputs, meter)
            result = replace(result, places=replace(result.places, carried=carried))
        sourced.check_unchanged()
        _say_much_shorter(result, options, progress)
        directory.begin_results()
        job.write(result, out, meter)
        found = RunResult(
            result=result,
            options=options,
            sourced=sourced,
            inputs=inputs,
            directory=directory,
            resources=resources,
            meter=meter,
        )
        more = ending.write(found)
        record = _record(found, described, searched.engine, more, command=ending.command, preset=preset)
        sourced.check_unchanged()  # so the digests are those of the bytes that were searched
        described.check_unchanged()
        if delivery.report:
            problem = ending.report(found, record, more)
            record = replace(record, report_problem=problem, stages=tuple(meter.costs))
        record = replace(record, memory=worker.memory(result))
        directory.finish(record.as_stored(), kept=delivery.kept)
    return record


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


def _record(
    found: RunResult,
    described: DescribedInputs,
    engine: Mapping[str, object] | None,
    written: Written,
    *,
    command: str,
    preset: str | None,
) -> DedupManifest:
    """Write the exceptions with the digests of the files, and return the manifest without the report and the memory."""
    sourced, meter = found.sourced, found.meter
    told, others = described.sides["inputs"], described.sides["against"]
    write_exceptions_of(found.directory.path, found.result.places, dict(enumerate([*told, *others])))
    record = manifest.build(found.result, found.options, told, others, meter.costs, preset=preset, command=command)
    return replace(
        record, encoding=sourced.asked.encoding, reading=sourced.asked.as_read(), engine=engine, kept=written.kept,
        carried=tuple(found.result.places.carried) or None,
        families=written.families, not_read=not_read_files(sourced.not_read),
    )  # fmt: skip


def _find(
    sourced: Sourced,
    directory: RunDirectory,
    options: DedupOptions,
    engine: DedupEngine,
) -> DedupFound:
    asked = sourced.asked
    inputs = file_inputs(sourced.sources, keep_column=options.keep.column, encoding=asked.encoding, stdin=asked.stdin)
    others = file_inputs(sourced.others, encoding=asked.encoding, stdin=asked.stdin)
    if sourced.is_against:
        inputs, others = sides_apart(inputs, others)
    return engine.find(
        inputs, others if sourced.is_against else None, options, directory.work, rules=asked.rules,
    )  # fmt: skip


def _all_inputs(sourced: Sourced) -> list[Input]:
    """Return the inputs in the order of their numbers in the spool."""
    sides = (sourced.sources, sourced.others)
    return [one for side in sides for one in file_inputs(side, encoding=sourced.asked.encoding)]


def overlay(found: RunResult, delivery: Delivery) -> None:
    """Write the requested overlay."""
    if delivery.overlay is None:
        return
    formats = [source.format for source in found.sourced.sources]
    with found.meter.stage("write overlay", 0, "documents") as progress:
        outcome, places = found.result.judged.outcome, found.result.places
        path = write_overlay_of_run(found.directory.path, delivery.overlay, outcome, places, found.options, formats)
        progress.say(f"overlay: {path}")


@dataclass(frozen=True, slots=True)
class DedupEnding:
    """Cleaned corpus and report of ``nearkin dedup``."""

    delivery: Delivery
    command: str = "dedup"

    @property
    def twice(self) -> str | None:
        """The cleaned corpus, which is written from the input, and carried columns."""
        given = {"write_kept": self.delivery.kept, "carry": self.delivery.carry}
        return next((name for name, value in given.items() if value), None)

    def check(self, sourced: Sourced) -> None:
        """Refuse results of a run for the cleaned corpus, and sources without a column that is needed."""
        if self.delivery.kept:
            check_can_be_written(sourced.sources)
        if self.delivery.carry:
            asked = sourced.asked
            check_carry(self.delivery.carry, sourced.sources, encoding=asked.encoding, stdin=asked.stdin)

    def write(self, found: RunResult) -> Written:
        """Write the overlay, and the cleaned corpus."""
        overlay(found, self.delivery)
        if not self.delivery.kept:
            return Written()
        written = write_kept_corpus(
            found.sourced.sources,
            found.result.places,
            found.result.judged.outcome.keep,
            found.directory.begin_kept(),
            encoding=found.sourced.asked.encoding,
            meter=found.meter,
        )
        return Written(kept=written)

    def report(self, found: RunResult, manifest: DedupManifest, written: Written) -> str | None:
        """Write ``report.html``."""
        from nearkin.workflows.dedup.reporting import page_data, write_report  # a run without a page needs none of it

        with found.meter.stage("report", 0, "steps") as progress:
            data = page_data(found.result, found.options, found.meter, manifest.inputs)
            return write_report(found.directory.path / "report.html", manifest, data, found.options, progress)


_STAGES = (
    ("sketch", "search/sizes.npz"),
    ("link", "search/runs.json"),
    ("shingle pairs", "verification/shingle pairs.npz"),
    ("verify", "verification/matches.npz"),
)
"""File that each finished stage leaves in the work folder; later stages take seconds and leave none."""
_LAST = "group"


def resumed_in_words(directory: RunDirectory, inputs: Sequence[Input], *, is_resumed: bool) -> str:
    """Return what ``--resume`` found, and where the run continues.

    Parameters
    ----------
    directory : RunDirectory
    inputs : sequence of Input
        All inputs of the run, those of the other set last.
    is_resumed : bool
        Whether there was an unfinished run.
    """
    if not is_resumed:
        return f"--resume: {directory.path} holds no unfinished run, so this run starts from the beginning"
    from nearkin.engines.spark.stages import stages_kept

    if kept := stages_kept(directory.work):
        n_stages = counted(len(kept), "finished stage")
        return f"--resume: found {n_stages} of the cluster ({', '.join(kept)}); continuing with the next one"
    n_read, following = files_read(Spool(directory.work / SPOOL), inputs)
    n_files = sum(len(one.names) for one in inputs)
    if following is not None:
        read = f"{n_read:,} of {counted(n_files, 'file')} {agreeing(n_read, 'was', 'were')} read completely"
        if not n_read:
            none = f"none of {counted(n_files, 'file')} was read completely"
            read = "the file was not read completely" if n_files == 1 else none
        return f"--resume: {read}; {following}"
    done = [name for name, mark in _STAGES if (directory.work / mark).exists()]
    stages = [name for name, _ in _STAGES] + [_LAST]
    return (
        f"--resume: {counted(n_files, 'file')} {agreeing(n_files, 'was', 'were')} read"
        + (f"; done: {', '.join(done)}" if done else "")
        + f"; continuing with: {stages[len(done)]}"
    )


def has_kept(directory: RunDirectory, inputs: Sequence[Input]) -> bool:
    """Whether an interrupted run read a file completely, or finished a stage on a cluster."""
    from nearkin.engines.spark.stages import stages_kept

    return bool(stages_kept(directory.work)) or files_read(Spool(directory.work / SPOOL), inputs)[0] > 0


def files_read(spool: Spool, inputs: Sequence[Input]) -> tuple[int, str | None]:
    """Return the number of files read completely, and what happens to the first other one.

    Documents in files of their own are not read again; any other file is read from its beginning.
    """
    n_read, first_source, following = 0, 0, None
    for index, one in enumerate(inputs):
        if spool.mark(index).exists():
            n_read += len(one.names)
        else:
            n_files = BeginningRead.of(index, first_source, one, spool).n_files
            n_read += n_files
            if following is None:
                name, is_loose = one.names[n_files], isinstance(one, LooseFilesInput)
                following = f"continuing with {name}" if is_loose else f"reading {name} from its start"
        first_source += len(one.names)
    return n_read, following
