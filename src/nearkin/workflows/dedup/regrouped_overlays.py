"""Overlays of a run that was grouped again: its load files are read once more, for their control numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

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
from nearkin.workflows.dedup.row_places import Places
from nearkin.workflows.reading.inputs import FileInput
from nearkin.workflows.reading.kept_documents import stored_source
from nearkin.workflows.reading.rereading import reread
from nearkin.workflows.resources import Resources


def sources_again(manifest: DedupManifest, meter: Meter) -> list[Source]:
    """Return the sources of a run, its load files as they were.

    Raises
    ------
    SourceError
        A load file is missing or has changed; or no overlay can be made of it.
    ParameterError
        A load file came through standard input.
    """
    again = list[Source]()
    for one in manifest.inputs:
        if one.format != LOAD_FILE:
            again.append(Source(path=on_disk(one.path), name=one.name or one.path, format=str(one.format)))
            continue
        if one.path == STDIN:
            raise ParameterError("--overlay: the load file came through standard input, and cannot be read again.")
        found = reread(
            [one], manifest.encoding, manifest.reading, stored=stored_source, threads=Resources().n_threads,
            progress=meter.progress,
        )  # fmt: skip
        again += [own.source for own in found.inputs if isinstance(own, FileInput)]
    check_controls(again, manifest.encoding or "utf-8")
    return again


def write_overlays_again(
    out: Path,
    vendor: Vendor,
    outcome: Outcome,
    places: Places,
    options: DedupOptions,
    *,
    sources: Sequence[Source],
    manifest: DedupManifest,
    meter: Meter,
) -> None:
    """Write the overlays; a row belongs to the source that was read at its place."""
    owner = np.repeat(np.arange(len(sources)), [one.n_documents or 0 for one in manifest.inputs]).astype(np.int32)
    with meter.stage("write overlay", 0, "documents") as progress:
        write_overlays(
            out,
            vendor,
            outcome,
            replace(places, source=owner),
            options,
            sources,
            encoding=manifest.encoding or "utf-8",
            saved_stdin=None,
            progress=progress,
        )
