"""Deduplicate files: from arguments on a command line to a directory of results."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from nearkin._version import __version__
from nearkin.engines.local import map_ordered
from nearkin.errors import OutputExistsError, ParameterError, SourceError
from nearkin.records import Bool
from nearkin.runs.directory import RunDirectory
from nearkin.runs.files import printable, writing
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.documents.checking import check_columns
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.kept import write_kept
from nearkin.stages.documents.sources import STDIN, Source, SourceSet, resolve_sources
from nearkin.workflows.dedup import job, manifest
from nearkin.workflows.dedup.inputs import file_inputs
from nearkin.workflows.dedup.manifest import InputFile
from nearkin.workflows.dedup.options import DedupOptions, OnError, Resources
from nearkin.workflows.dedup.reporting import told_of, write_report
from nearkin.workflows.dedup.standard_input import is_pipe, save_stdin, stdin_of_run


@dataclass(frozen=True, slots=True)
class Files:
    """What is read, and how.

    Parameters
    ----------
    inputs : sequence of str
        Files, folders, globs, "-" for standard input.
    against : sequence of str
        The other collection: what of ``inputs`` is already in it.
    file_format, text, doc_id : str or None
        The format and the columns, where they are not to be guessed.
    encoding : str
        Of text files, lines, CSV and TSV.
    stdin : binary file or None
        Instead of the process's own standard input.
    """

    inputs: Sequence[str]
    against: Sequence[str] = ()
    file_format: str | None = None
    text: str | None = None
    doc_id: str | None = None
    encoding: str = "utf-8"
    stdin: BinaryIO | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Delivery:
    """What is written, and what happens to what is there.

    Parameters
    ----------
    on_error : {"skip", "stop"}
        What a document that cannot be read does to the run.
    resume, overwrite : bool
        Go on with an unfinished run; replace the results of an earlier one.
    kept : bool
        Write the cleaned corpus too.
    report : bool
        Write ``report.html``.
    """

    on_error: OnError = "skip"
    resume: bool = False
    overwrite: bool = False
    kept: bool = False
    report: bool = True

    def __post_init__(self) -> None:
        if self.on_error not in ("skip", "stop"):
            raise ParameterError.of("on_error", "dedup", "skip or stop", self.on_error)
        if self.resume and self.overwrite:
            raise ParameterError("The 'resume' and 'overwrite' parameters of dedup exclude each other. Got both.")


def dedup_files(
    files: Files,
    out: Path,
    options: DedupOptions,
    *,
    delivery: Delivery,
    resources: Resources,
    progress: Progress | None = None,
    preset: str | None = None,
) -> Mapping[str, object]:
    """Deduplicate files into a directory.

    Returns
    -------
    mapping
        The manifest, as ``manifest.json`` has it.

    Raises
    ------
    InputError, RunError, ParameterError
        See `nearkin.errors`.
    """
    progress = progress or Silent()
    directory = RunDirectory(out)
    with stdin_of_run(files.stdin, directory.work, resume=delivery.resume) as stdin:
        files = replace(files, stdin=stdin)
        found, others = _sources(files, out, options, delivery, progress)
        identity, before = _identity(files, found, others, options), _state(found, others)
        with directory.claimed(identity, resume=delivery.resume, overwrite=delivery.overwrite):
            meter = Meter(progress)
            saved = save_stdin(found.sources, files.stdin, directory.work) if delivery.kept else None
            with open(saved, "rb") if saved else contextlib.nullcontext(files.stdin) as stdin:
                inputs = file_inputs(
                    found.sources, keep_column=options.keep.column, encoding=files.encoding, stdin=stdin
                )
                other_inputs = file_inputs(others.sources, keep_column=None, encoding=files.encoding, stdin=stdin)
                result = job.find(
                    inputs,
                    other_inputs if files.against else None,
                    options,
                    directory.work,
                    on_error=delivery.on_error,
                    resources=resources,
                    meter=meter,
                )
            _check_unchanged(before, found, others)
            job.write(result, out, meter)
            if delivery.kept:
                _write_kept(files, found.sources, result, directory.kept_aside, saved, meter)
                _check_unchanged(before, found, others)
            described, described_others = (_describe(s.sources, resources, meter) for s in (found, others))
            written = manifest.build(result, options, described, described_others, meter.costs, preset=preset)
            if delivery.report:
                with meter.stage("report", 0, "steps") as progress:
                    told = told_of(result, options)
                    write_report(out / "report.html", written, told, options, progress)
                written["stages"] = manifest.stages(meter.costs)
            directory.finish(written, kept=delivery.kept)
    return written


def _sources(
    files: Files, out: Path, options: DedupOptions, delivery: Delivery, progress: Progress
) -> tuple[SourceSet, SourceSet]:
    """What is to be read, of the input and of the other collection, once it is seen that it can be."""
    found = _resolve(files, files.inputs, out, progress)
    others = _resolve(files, files.against, out, progress, is_against=True) if files.against else SourceSet((), ())
    check_columns(found.sources, keep_column=options.keep.column, encoding=files.encoding, stdin=files.stdin)
    check_columns(others.sources, encoding=files.encoding, stdin=files.stdin)
    if sum(source.path == STDIN for source in found.sources + others.sources) > 1:
        raise ParameterError("Standard input ('-') can be read once only. Got it twice.")
    if delivery.kept and (pipes := [s.path for s in found.sources if s.path != STDIN and is_pipe(s)]):
        raise ParameterError(
            f"--write-kept reads its input twice, and {pipes[0]} is a pipe. Save it to a file, or use '-'."
        )
    return found, others


def _resolve(
    files: Files, arguments: Sequence[str], out: Path, progress: Progress, *, is_against: bool = False
) -> SourceSet:
    """The sources, without those that lie in the output directory: a run replaces what is there.

    The columns are named for the input; the other collection may have them under other names.
    """
    found = resolve_sources(
        arguments,
        file_format=files.file_format,
        text=files.text,
        doc_id=files.doc_id,
        text_optional=is_against,
        encoding=files.encoding,
        stdin=files.stdin,
    )
    for guess in found.guesses:
        progress.say(guess)
    place = out.resolve()
    inside = {s.path for s in found.sources if s.path != STDIN and Path(s.path).resolve().is_relative_to(place)}
    if named := sorted(inside & set(arguments)):
        raise OutputExistsError(f"{named[0]} lies in {out}, whose files the run replaces. Choose another --out.")
    if inside:
        progress.say(f"{len(inside):,} files in {out} are not read: they are results of an earlier run")
    return replace(found, sources=tuple(s for s in found.sources if s.path not in inside))


def _identity(files: Files, found: SourceSet, others: SourceSet, options: DedupOptions) -> dict[str, object]:
    """All that decides the result: what a resumed run must share with the one it goes on with."""
    return {
        "nearkin": __version__,
        "parameters": options.in_words(),
        "encoding": files.encoding,
        "inputs": _listed(found.sources),
        "against": _listed(others.sources),
    }


def _state(found: SourceSet, others: SourceSet) -> dict[str, object]:
    """Of the files of many documents: when they were changed, and how large they are."""
    return _listed([source for source in (*found.sources, *others.sources) if source.format != "file"])


def _check_unchanged(before: Mapping[str, object], found: SourceSet, others: SourceSet) -> None:
    """Lines are kept by their numbers: a file that changed since it was read would be cleaned by another's lines."""
    if _state(found, others) != before:
        raise SourceError(
            "A file of the input changed while it was read. Run again when nothing writes to it, or on a copy."
        )


def _listed(sources: Sequence[Source]) -> dict[str, object]:
    """The files, named while they are few.

    How they are read, how large they are and when they were changed is told as one digest.
    """
    told = hashlib.sha256()
    for source in sources:
        changed = (0, 0)
        with contextlib.suppress(OSError):
            found = os.stat(source.path)
            changed = (0, 0) if is_pipe(source) else (found.st_mtime_ns, found.st_size)
        read_as = (source.format, source.text, source.id, source.delimiter)
        told.update(repr((source.path, read_as, changed)).encode())
    return {
        "n_files": len(sources),
        "first": [printable(source.path) for source in sources[:5]],
        "state": told.hexdigest()[:16],
    }


def _describe(sources: Sequence[Source], resources: Resources, meter: Meter) -> list[InputFile]:
    """The sources with the digests of their bytes."""
    if not sources:
        return []
    with meter.stage("digest inputs", sum(source.size_bytes for source in sources), "bytes") as progress:

        def digest(source: Source) -> str | None:
            try:
                return None if is_pipe(source) else file_sha256(source.path)
            except (OSError, SourceError):
                return None  # it was told as a problem when it was read

        digests = []
        for source, value in zip(sources, map_ordered(digest, sources, threads=resources.n_threads), strict=True):
            digests.append(value)
            progress.advance(source.size_bytes)
    return [
        InputFile(printable(s.path), s.size_bytes, value, s.format, s.text, s.id)
        for s, value in zip(sources, digests, strict=True)
    ]


def _write_kept(
    files: Files, sources: Sequence[Source], result: job.Result, out: Path, saved: Path | None, meter: Meter
) -> None:
    """The cleaned corpus, in the format it came in."""
    places, keep = result.places, result.judged.outcome.keep
    # sources were read one after another
    starts = np.searchsorted(places.source[: len(keep)], np.arange(len(sources) + 1))

    def kept_lines(source: int) -> Bool:
        rows = slice(starts[source], starts[source + 1])
        mask = np.zeros(int(places.line[rows].max(initial=0)) + 1, np.bool_)
        mask[places.line[rows][keep[rows]]] = True
        return mask

    with meter.stage("write kept", sum(source.size_bytes for source in sources), "bytes") as progress, writing(out):
        write_kept(sources, kept_lines, out, progress=progress.advance, stdin_copy=saved, encoding=files.encoding)
