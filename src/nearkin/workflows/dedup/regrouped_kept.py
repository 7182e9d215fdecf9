"""Cleaned corpus of a run that was grouped again: the input of the run is read once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from nearkin.errors import InputError, OutputExistsError, SourceError
from nearkin.manifests.dedup import DedupManifest, KeptFile
from nearkin.manifests.inputs import InputFile
from nearkin.paths import on_disk
from nearkin.records import Bool
from nearkin.runs.damage import damage_of
from nearkin.runs.directory import RunDirectory
from nearkin.runs.meter import Meter
from nearkin.stages.documents.formats import StoredFormat
from nearkin.stages.documents.source import Source
from nearkin.workflows.dedup.kept_corpus import check_can_be_written, write_kept_corpus
from nearkin.workflows.dedup.row_places import Places
from nearkin.workflows.reading.input_digests import DescribedInputs
from nearkin.workflows.reading.inputs import StoredSource
from nearkin.workflows.reading.kept_documents import stored_source
from nearkin.workflows.reading.memory_documents import IN_MEMORY
from nearkin.workflows.reading.rereading import sources_again
from nearkin.workflows.reading.snapshots import Snapshots, check_unchanged, snapshots_of
from nearkin.workflows.resources import Resources


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
