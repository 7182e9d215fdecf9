"""Cleaned corpus: files in the format of the input, a collection as JSON Lines of ids and texts.

The kept documents of an archive or a mail are JSON Lines too, because such a file cannot be cut.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from nearkin.errors import ParameterError
from nearkin.manifests.dedup import KeptFile
from nearkin.records import Bool
from nearkin.runs.files import published, writing
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Progress
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.formats import is_of_documents
from nearkin.stages.documents.kept import relative_names, write_kept
from nearkin.stages.documents.kept_parts import json_line
from nearkin.stages.documents.sources import Source
from nearkin.workflows.dedup.row_places import Places
from nearkin.workflows.reading.inputs import StoredSource
from nearkin.workflows.reading.kept_documents import KeptDocuments


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
