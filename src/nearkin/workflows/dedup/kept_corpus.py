"""Cleaned corpus: files in the format of the input, a collection as JSON Lines of ids and texts.

The kept documents of an archive or a mail are JSON Lines too, because such a file cannot be cut.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import get_args

import numpy as np

from nearkin.errors import InputError, OutputExistsError, ParameterError, SourceError
from nearkin.manifests.dedup import DedupManifest, KeptFile
from nearkin.manifests.stored import InputFile
from nearkin.paths import on_disk
from nearkin.records import Bool
from nearkin.runs.directory import RunDirectory
from nearkin.runs.files import published, writing
from nearkin.runs.finished import damage_of
from nearkin.runs.progress import Meter, Progress
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.formats import StoredFormat, is_of_documents
from nearkin.stages.documents.kept import relative_names, write_kept
from nearkin.stages.documents.packing import json_line
from nearkin.stages.documents.source import Source
from nearkin.workflows.dedup.row_places import Places
from nearkin.workflows.reading.input_digests import DescribedInputs
from nearkin.workflows.reading.inputs import StoredSource
from nearkin.workflows.reading.kept_documents import KeptDocuments, stored_source
from nearkin.workflows.reading.memory_documents import IN_MEMORY
from nearkin.workflows.reading.rereading import sources_again
from nearkin.workflows.reading.snapshots import Snapshots, check_unchanged, snapshots_of
from nearkin.workflows.resources import Resources


def check_can_be_written(sources: Sequence[Source]) -> None:
    """Refuse results of another run as input: the columns of their files are no longer known.

    Raises
    ------
    ParameterError
    """
    for source in sources:
        if isinstance(source, StoredSource) and source.format == "results":
            raise ParameterError(
                f"writes files in the format of the input, and {source.name} holds results of a run. "
                f"{_with_files(source)}",
                parameter="write_kept",
            )


def _with_files(source: StoredSource) -> str:
    """Say which files to name instead of the results of a run, and how to make them if the run wrote none."""
    run = source.documents
    if isinstance(run, KeptDocuments) and run.is_in_kept:
        folder = f"{source.name}/kept"
        if len({is_of_documents(one.format) for one in run.files}) > 1:  # a folder of both is refused
            from nearkin.stages.documents.folders import patterns_for  # only for this sentence

            folder = patterns_for(folder, [str(one.path) for one in run.files])
        return f"Name the files in its folder kept instead: {folder}"
    if isinstance(run, KeptDocuments) and run.regrouped_at is not None:
        write = f"nearkin regroup {shlex.quote(source.name)} --threshold {run.regrouped_at:.15g} --write-kept"
    else:
        write = "nearkin dedup on the first input again with --write-kept"
    return f"It has no folder kept: run {write}, and name the files in the folder kept of that run."


def write_kept_corpus(
    sources: Sequence[Source],
    places: Places,
    keep: Bool,
    out: Path,
    *,
    encoding: str,
    meter: Meter,
) -> tuple[KeptFile, ...]:
    """Write the kept documents of each source into a folder named ``kept``.

    Parameters
    ----------
    sources : sequence of Source
        In the order in which they were read.
    places : Places
    keep : bool array, shape (n_inputs,)
    out : Path
        The folder.
    encoding : str
    meter : Meter
    """
    starts = np.searchsorted(places.source[: len(keep)], np.arange(len(sources) + 1))

    def kept_lines(source: int) -> Bool:
        rows = slice(starts[source], starts[source + 1])
        mask = np.zeros(int(places.line[rows].max(initial=0)) + 1, np.bool_)
        mask[places.line[rows][keep[rows]]] = True
        return mask

    files = [i for i, source in enumerate(sources) if not isinstance(source, StoredSource)]
    with meter.stage("write kept", sum(source.size_bytes for source in sources), "bytes") as progress, writing(out):
        names = relative_names([sources[i] for i in files])
        write_kept(
            [sources[i] for i in files],
            lambda place: kept_lines(files[place]),
            out,
            progress=progress.advance,
            encoding=encoding,
        )
        named = dict(zip(files, names, strict=True))
        for i, source in enumerate(sources):
            if isinstance(source, StoredSource):
                named[i] = _free_name(source, set(named.values()))
                _write_collection(source, kept_lines(i), out / named[i], progress)
        written = [(i, name) for i, name in sorted(named.items()) if (out / name).is_file()]
        return tuple(
            KeptFile(f"{out.name}/{name}", i, (out / name).stat().st_size, file_sha256(str(out / name)))
            for i, name in written
        )


def _free_name(source: StoredSource, taken: set[PurePosixPath]) -> PurePosixPath:
    """Name the file after the directory or the schema of a collection, different from all other files."""
    stem = Path(source.path.rpartition("schema=")[2]).resolve().name or "collection"
    name, number = PurePosixPath(f"{stem}.jsonl"), 1
    while name in taken:
        number += 1
        name = PurePosixPath(f"{number}-{stem}.jsonl")
    return name


def _write_collection(source: StoredSource, is_kept: Bool, target: Path, progress: Progress) -> None:
    """Write one object with ``id`` and ``text`` per line."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with published(target) as aside, open(aside, "wb") as file:
        for batch, _ in source.documents.input(source.name, keep_column=None).batches(progress):
            kept = batch.filter(is_kept[batch["line"].to_numpy()])
            for doc_id, text in zip(kept["doc_id"].to_pylist(), kept["text"].to_pylist(), strict=True):
                file.write(json_line(doc_id, text))


@dataclass(frozen=True, slots=True)
class InputAgain:
    """Input of a finished run, found unchanged.

    Parameters
    ----------
    sources : sequence of Source
        Sources in the order of the run.
    encoding : str
        Encoding with which the run read them.
    watched : DescribedInputs
        Files among them, as they were before they were compared with the digests of the run.
    stored : Snapshots
        Collections among them.
    """

    sources: Sequence[Source]
    encoding: str
    watched: DescribedInputs
    stored: Snapshots

    @classmethod
    def of(cls, directory: Path, manifest: DedupManifest, out: Path, meter: Meter) -> InputAgain:
        """Find the input of the run in ``directory`` again, to write its cleaned corpus below ``out``.

        Raises
        ------
        SourceError
            A file is missing or has changed; or the input was a pipe, or in the memory of a program.
        ParameterError
            The input holds results of a run.
        OutputExistsError
            A file lies in ``out``.
        """
        _check_outside(manifest.inputs, out)
        watched = DescribedInputs.of_finished(manifest.inputs)
        with damage_of(directory):
            try:
                sources = sources_again(
                    manifest.inputs, manifest.encoding, manifest.reading, stored=_stored_again,
                    threads=Resources().n_threads, progress=meter.progress,
                )  # fmt: skip
            except InputError as error:
                error.args = (f"the input of {directory} cannot be read again. {error}",)
                error.parameter = "write_kept"
                raise
        check_can_be_written(sources)
        if manifest.reading is not None:  # copied as by the run, to which damage may have been an error
            takes_damaged = manifest.reading.on_error == "skip"
            sources = [replace(source, takes_damaged=takes_damaged) for source in sources]
        return cls(sources, manifest.encoding or "utf-8", watched, snapshots_of(_stored(sources)))

    def write_kept(self, directory: RunDirectory, places: Places, keep: Bool, meter: Meter) -> tuple[KeptFile, ...]:
        """Write the cleaned corpus into the work of ``directory``; the sources of ``places`` are numbers in `sources`.

        Raises
        ------
        OutputError
            A file cannot be written.
        SourceError
            A source cannot be read, or changed meanwhile.
        """
        written = write_kept_corpus(
            self.sources,
            places,
            keep,
            directory.begin_kept(),
            encoding=self.encoding,
            meter=meter,
        )
        self.watched.check_unchanged()
        check_unchanged(_stored(self.sources), self.stored)
        return written


def _stored(sources: Sequence[Source]) -> list[Source]:
    return [source for source in sources if isinstance(source, StoredSource)]


def _stored_again(entry: InputFile) -> StoredSource:
    """Return the source of an entry; see `stored_source`."""
    if entry.format == IN_MEMORY:
        raise SourceError(
            "Its documents were in the memory of a program. Pass them to nearkin.dedup again, with this threshold and "
            "write_kept=True."
        )
    return stored_source(entry)


def _check_outside(files: Sequence[InputFile], out: Path) -> None:
    """Refuse a directory for results in which a file of the input lies, and could be replaced."""
    place = out.resolve()
    for one in files:
        if one.format not in get_args(StoredFormat) and Path(on_disk(one.path)).resolve().is_relative_to(place):
            raise OutputExistsError(
                f"The input {one.path} lies in {out}, which is --out: it could be replaced. Choose another --out."
            )
