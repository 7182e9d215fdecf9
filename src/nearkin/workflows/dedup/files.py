"""Deduplication of files: from command line arguments to a directory of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from nearkin.engines.local import LOCAL, Engine
from nearkin.errors import OutputExistsError, ParameterError
from nearkin.manifests.dedup import DedupManifest, FamilyCounts
from nearkin.manifests.stored import KeptFile
from nearkin.nouns import counted
from nearkin.options.dedup import DedupOptions, Delivery
from nearkin.paths import STDIN
from nearkin.runs.progress import LabelledProgress, Meter, Progress, Silent
from nearkin.runs.run import JobRun
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import Source, SourceSet, check_keep_column
from nearkin.wording import WarningMessage
from nearkin.workflows.dedup import job, manifest
from nearkin.workflows.dedup.kept_corpus import annotation_columns, carried_columns, check_carry, write_kept_corpus
from nearkin.workflows.dedup.tables import write_overlay_of_run
from nearkin.workflows.overlay import check_tool
from nearkin.workflows.reading.inputs import IN_MEMORY, Input, inputs_of, sides_apart
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.rereading import check_unchanged, digested_sides, fingerprint_of, input_file
from nearkin.workflows.reading.texts import (
    EXCEPTIONS_FILE,
    exception_lines,
    exceptions_of_collections,
    write_exceptions,
)
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from nearkin.engines.spark.session import Cluster

OTHER_SET = "other set"
"""Label of messages about the files of ``--against``."""
_MUCH_LONGER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Result, and the input it was made from."""

    run: JobRun
    result: job.Result
    options: DedupOptions
    sources: Sequence[Source]

    @property
    def inputs(self) -> Sequence[Input]:
        """Documents for a second reading, in the same order."""
        return inputs_of(self.sources)


class Ending(Protocol):
    """Another command's tables and page of a result."""

    @property
    def command(self) -> str:
        """Name of the command; it reads the input a second time."""

    def write(self, ended: RunResult) -> FamilyCounts:
        """Write the tables from the input."""

    def render(self, ended: RunResult, manifest: DedupManifest) -> str:
        """Return the page, which replaces that of ``nearkin dedup``."""


def dedup_files(
    request: ReadingRequest,
    out: Path,
    options: DedupOptions,
    *,
    against: ReadingRequest | None = None,
    delivery: Delivery,
    ending: Ending | None = None,
    resources: Resources,
    progress: Progress | None = None,
    engine: Engine = LOCAL,
) -> DedupManifest:
    """Find near-duplicates in files, write the tables into a directory, and finish as the command requires."""
    run = JobRun(out, Meter(progress or Silent()))
    found, others = find_sources(request, against, out, options, run.progress)
    sources, other_sources = found.sources, others.sources
    if any(source.path == STDIN for source in sources + other_sources):
        again = {"write_kept": delivery.write_kept, "annotate": delivery.annotate}
        again = again if ending is None else {f"nearkin {ending.command}": True}
        check_read_once(sources, other_sources, again, resume=delivery.resume)
        run = replace(run, is_resumable=False)
    if delivery.overlay is not None:
        check_tool(delivery.overlay)
    if delivery.carry:
        check_carry(delivery.carry, sources)
    if engine.name != "local":
        from nearkin.workflows.reading.on_spark.tasks import check_can_be_shared

        check_can_be_shared(sources + other_sources)
    command = "dedup" if ending is None else ending.command
    fingerprint = {**identity(command, options, request, sources, against, other_sources), "engine": engine.name}
    fingerprint |= {"carry": list(delivery.carry)} if delivery.carry else {}
    with run.claimed(fingerprint, resume=delivery.resume, overwrite=delivery.overwrite):
        records = digested_sides({"inputs": sources, "against": other_sources}, run, resources)
        sources, other_sources = records.values()
        inputs = inputs_of(sources, keep_column=options.keep.column, carry=delivery.carry)
        other_inputs = inputs_of(other_sources)
        if against is not None:
            inputs, other_inputs = sides_apart(inputs, other_inputs)
        sides = inputs, None if against is None else other_inputs
        result, cluster = _find(engine, sides, run, options, request.rules, resources)
        result = _completed(result, sources + other_sources, delivery.carry)
        _say_much_shorter(result, options, run.progress)
        ended = RunResult(run=run, result=result, options=options, sources=sources)
        kept = _write_again(ended, "kept") if delivery.write_kept else None
        if delivery.annotate:
            columns = annotation_columns(result.judged.outcome, is_against=against is not None)
            _write_again(ended, "annotated", columns)
        job.write(result, run.results, run.meter)
        if delivery.overlay is not None:
            _write_overlay(ended, delivery.overlay)
        families = None if ending is None else ending.write(ended)
        files, other_files = ([*map(input_file, side)] for side in records.values())
        of_sources = dict(enumerate([*files, *other_files]))
        lines = exception_lines(result.places.exceptions, result.places.source_names, of_sources)
        write_exceptions(run.results / EXCEPTIONS_FILE, lines)
        record = replace(
            manifest.build(result, options, files, other_files, command=command),
            encoding=request.encoding, reading=request.as_read(), engine=cluster, kept=kept, families=families,
            carried=tuple(result.places.carried) or None,
            not_read=tuple(dict.fromkeys((*found.not_read, *others.not_read))) or None,
        )  # fmt: skip
        # so the digests are those of the bytes that were searched and copied
        check_unchanged(sources + other_sources)
        if delivery.report:
            record = _report(ended, record, ending)
        if engine.name == "local":  # the tasks of a cluster use most of the memory
            longest = int(result.corpus.n_characters.max(initial=0))
            record = replace(record, memory=manifest.memory(resources, run.meter, longest))
        return run.finish(record)


def find_sources(
    request: ReadingRequest, against: ReadingRequest | None, out: Path, options: DedupOptions, progress: Progress
) -> tuple[SourceSet, SourceSet]:
    """Find the sources of the input and of the other set, and check that they have their columns."""
    mine = LabelledProgress("INPUT", progress) if against is not None else progress
    found = _found_outside(request, out, mine, in_order=options.keep.rule == "first")
    others = SourceSet()
    if against is not None:
        others = _found_outside(against, out, LabelledProgress(OTHER_SET, progress))
        progress.say(f"INPUT: {len(found.sources):,}; {OTHER_SET}: {len(others.sources):,}")
    if options.keep.column is not None:
        check_keep_column(found.sources, options.keep.column)
    return found, others


def _found_outside(request: ReadingRequest, out: Path, progress: Progress, *, in_order: bool = False) -> SourceSet:
    """Return the sources; none may lie in the output directory, which a run replaces."""
    found, place = request.found(progress, in_order=in_order, without=out), out.resolve()
    for source in found.sources:
        is_on_disk = source.path != STDIN and "://" not in source.path and source.format != IN_MEMORY
        if is_on_disk and Path(source.path).resolve().is_relative_to(place):
            where = "is also " if Path(source.path).resolve() == place else f"lies in {out}, which is "
            raise OutputExistsError(
                f"The input {source.path} {where}--out: the run would replace it. Choose another --out."
            )
    return found


def identity(
    command: str,
    options: DedupOptions,
    request: ReadingRequest,
    sources: Sequence[Source],
    against: ReadingRequest | None,
    others: Sequence[Source],
) -> dict[str, object]:
    """Return everything that decides the result: a resumed run must share it."""
    rules, columns = request.rules, dict[str, str | None]()
    if against is not None:
        columns = {"against_text": against.text, "against_id": against.doc_id}
    usual = request.text, request.doc_id
    given = {
        "extraction_limits": rules.limits.given or None, "ocr": rules.ocr, "text_root": rules.text_root,
        **{name: column for (name, column), common in zip(columns.items(), usual) if column != common},
    }  # fmt: skip
    return {
        "command": command,
        "parameters": options.in_words(),
        "encoding": request.encoding,
        "max_document_bytes": rules.max_document_bytes,
        **{name: value for name, value in given.items() if value is not None},
        "inputs": fingerprint_of(sources),
        "against": fingerprint_of(others),
    }


def check_read_once(
    sources: Sequence[Source], others: Sequence[Source], again: Mapping[str, object], *, resume: bool
) -> None:
    """Refuse standard input where it would be read twice: ``again`` says which parameters read the input again."""
    if sum(source.path == STDIN for source in (*sources, *others)) > 1:
        raise ParameterError("Standard input ('-') can be read only once. Got it twice.")
    is_input = any(source.path == STDIN for source in sources)
    for parameter, is_given in {**(again if is_input else {}), "resume": resume}.items():
        if is_given is not None and is_given is not False:  # a share of 0 is given
            raise ParameterError(
                "needs files: standard input (-) can be read only once. Save it to a file first.", parameter=parameter
            )


def _report(ended: RunResult, record: DedupManifest, ending: Ending | None) -> DedupManifest:
    from nearkin.workflows.dedup.reporting import other_page, render_new_page  # a run without a page needs none of it

    if ending is not None:
        return ended.run.report(record, lambda manifest: ending.render(ended, manifest))
    return ended.run.report(
        record,
        lambda manifest: render_new_page(ended.run, manifest, ended.result, ended.options),
        instead=other_page(ended.run.path, record),
    )


def _say_much_shorter(result: job.Result, options: DedupOptions, progress: Progress) -> None:
    """Report documents of the other set that Jaccard similarity does not find in longer ones."""
    corpus = result.corpus
    if not corpus.is_against or options.measure.is_directed:
        return
    lengths, others = corpus.n_characters[: corpus.n_inputs], corpus.n_characters[corpus.n_inputs :]
    lengths, others = lengths[lengths > 0], others[others > 0]
    if len(lengths) and len(others) and others.mean() < lengths.mean() / _MUCH_LONGER:
        sentence = (
            f"The documents of the other set have {counted(round(others.mean()), 'character')} on average, those of "
            f"INPUT {round(lengths.mean()):,}. Jaccard similarity does not find such short texts inside longer ones. "
            "To find them inside documents of INPUT: --drop containing"
        )
        progress.say(WarningMessage(sentence))


def _completed(result: job.Result, sources: Sequence[Source], carry: Sequence[str]) -> job.Result:
    exceptions = result.places.exceptions
    exceptions = [*exceptions, *exceptions_of_collections(sources, exceptions)]
    carried = carried_columns(carry, result.corpus.chunks, result.corpus.n_inputs) if carry else {}
    return replace(result, places=replace(result.places, exceptions=exceptions, carried=carried))


def _find(
    engine: Engine,
    sides: tuple[Sequence[Input], Sequence[Input] | None],
    run: JobRun,
    options: DedupOptions,
    rules: ReadingRules,
    resources: Resources,
) -> tuple[job.Result, Mapping[str, object] | None]:
    def here() -> tuple[job.Result, None]:
        return job.find(*sides, options, run.work, rules=rules, resources=resources, meter=run.meter), None

    def on_cluster(cluster: Cluster) -> tuple[job.Result, Mapping[str, object]]:
        from nearkin.engines.spark.stages import stages_on
        from nearkin.workflows.dedup.on_spark.job import find

        with stages_on(cluster, run.work, run.meter) as stages:
            result = find(*sides, options, run.work, stages, rules=rules, resources=resources, meter=run.meter)
            return result, stages.about

    return engine.choose(local=here, cluster=on_cluster)


def _write_overlay(ended: RunResult, tool: str) -> None:
    formats = [source.format for source in ended.sources]
    with ended.run.stage("write overlay", 0, "documents") as progress:
        outcome, places = ended.result.judged.outcome, ended.result.places
        path = write_overlay_of_run(ended.run.results, tool, outcome, places, ended.options, formats)
        progress.say(f"overlay: {ended.run.path / path.name}")


def _write_again(ended: RunResult, folder: str, columns: pa.Table | None = None) -> tuple[KeptFile, ...]:
    return write_kept_corpus(
        ended.sources, ended.result.places, ended.result.judged.outcome.keep, ended.run.results / folder,
        meter=ended.run.meter, columns=columns,
    )  # fmt: skip
