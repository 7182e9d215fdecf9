"""Overlays of a run that was grouped again: its load files are read once more, for their control numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nearkin.errors import ParameterError
from nearkin.manifests.dedup import DedupManifest
from nearkin.paths import STDIN, on_disk
from nearkin.runs.meter import Meter
from nearkin.stages.documents.formats.load_file import NAME as LOAD_FILE
from nearkin.stages.documents.load_files.vendors import Vendor
from nearkin.stages.documents.source import Source
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.outcome import Outcome
from nearkin.workflows.dedup.overlays import check_controls, write_overlays
from nearkin.workflows.dedup.regrouped_kept import InputAgain
from nearkin.workflows.dedup.row_places import Places
from nearkin.workflows.reading.kept_documents import stored_source
from nearkin.workflows.reading.rereading import sources_again
from nearkin.workflows.resources import Resources


@dataclass(frozen=True, slots=True)
class OverlaysAgain:
    """Overlays to write for a review tool, from the load files of a finished run.

    Parameters
    ----------
    vendor : Vendor
    sources : sequence of Source
        Sources in the order of the run, the load files among them unchanged.
    encoding : str
        Encoding with which the run read them.
    """

    vendor: Vendor
    sources: Sequence[Source]
    encoding: str

    @classmethod
    def of(cls, vendor: Vendor, manifest: DedupManifest, again: InputAgain | None, meter: Meter) -> OverlaysAgain:
        """Check the load files of a run; ``again`` is its input, if that was found unchanged already.

        Raises
        ------
        SourceError
            A load file is missing or has changed; or no overlay can be made of it.
        ParameterError
            A load file came through standard input.
        """
        encoding = manifest.encoding or "utf-8"
        sources = _load_files_again(manifest, meter) if again is None else again.sources
        check_controls(sources, encoding)
        return cls(vendor, sources, encoding)

    def write(self, out: Path, outcome: Outcome, places: Places, options: DedupOptions, meter: Meter) -> None:
        """Write the overlays; the sources of ``places`` are numbers in `sources`."""
        with meter.stage("write overlay", 0, "documents") as progress:
            write_overlays(
                out,
                self.vendor,
                outcome,
                places,
                options,
                self.sources,
                encoding=self.encoding,
                progress=progress,
            )


def _load_files_again(manifest: DedupManifest, meter: Meter) -> list[Source]:
    """Return the sources of a run, its load files as they were."""
    again = list[Source]()
    for one in manifest.inputs:
        if one.format != LOAD_FILE:
            again.append(Source(path=on_disk(one.path), name=one.name or one.path, format=str(one.format)))
            continue
        if one.path == STDIN:
            raise ParameterError("--overlay: the load file came through standard input, and cannot be read again.")
        again += sources_again(
            [one], manifest.encoding, manifest.reading, stored=stored_source, threads=Resources().n_threads,
            progress=meter.progress,
        )  # fmt: skip
    return again
