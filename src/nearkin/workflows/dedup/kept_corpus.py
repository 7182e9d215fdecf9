"""Cleaned corpus: kept files, written by one second pass over the input."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast, get_args

import numpy as np
import pyarrow as pa

from nearkin.errors import InputError, OutputExistsError, TruncatedInputError
from nearkin.manifests.dedup import DedupManifest, KeptFile
from nearkin.manifests.stored import InputFile
from nearkin.paths import on_disk
from nearkin.records import I64, Bool
from nearkin.runs.files import published, writing
from nearkin.runs.finished import damage_of
from nearkin.runs.progress import LabelledProgress, Meter, Progress, Silent
from nearkin.runs.run import JobRun
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.encodings import check_encoding, is_told_by_line
from nearkin.stages.documents.faults import StreamFault, truncated_input
from nearkin.stages.documents.formats import (
    FORMATS,
    TABLES,
    StoredFormat,
    is_of_documents,
)
from nearkin.stages.documents.head import unreadable
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.workflows.dedup.row_places import Places
from nearkin.workflows.reading.identity import SourceRecords, check_unchanged
from nearkin.workflows.reading.inputs import StoredSource, file_inputs
from nearkin.workflows.reading.kept_documents import stored_source
from nearkin.workflows.reading.rereading import records_again
from nearkin.workflows.resources import Resources

NOT_SHOWN = Silent()


def write_kept_corpus(
    sources: Sequence[Source],
    places: Places,
    keep: Bool,
    out: Path,
    *,
    encoding: str,
    meter: Meter,
) -> tuple[KeptFile, ...]:
    """Write the kept documents of each source into a folder named ``kept``; see `write_kept`.

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

    with meter.stage("write kept", sum(source.size_bytes for source in sources), "bytes") as progress, writing(out):
        written = write_kept(sources, kept_lines, out, encoding=encoding, progress=progress)
        return tuple(
            KeptFile(str(path.relative_to(out.parent)), i, path.stat().st_size, file_sha256(str(path)))
            for i, path in sorted(written.items())
        )


def write_kept(
    sources: Sequence[Source],
    kept_lines: Callable[[int], Bool],
    out: Path,
    *,
    encoding: str = "utf-8",
    progress: Progress = NOT_SHOWN,
) -> dict[int, Path]:
    """Write the kept documents of each source in one pass, and return the files by the numbers of their sources.

    JSON Lines and other lines keep their lines byte for byte, CSV and TSV their header and records, Parquet its rows
    with all columns, text files are copied; compressed files are compressed again. Of every other source the ids and
    texts are written as JSON Lines. The copy of a damaged file contains what comes before the damage, and is valid.

    Files of records that lost all documents are written too, empty or with their header. Under ``out`` the files have
    the same relative paths as in the folder that all sources share.

    Parameters
    ----------
    sources : sequence of Source
    kept_lines : callable
        Takes the number of a source; returns a bool array indexed by line (index 0 unused); later lines are not kept.
    out : Path
        A folder; created if necessary.
    encoding : str
        Encoding with which files were read; copies have it, too.
    progress : Progress

    Raises
    ------
    OutputError
        A file cannot be written; no part of it is left.
    SourceError
        A source cannot be read again.
    """
    names, files, as_json = kept_names(sources), dict[int, Path](), dict[int, Bool]()
    for number, source in enumerate(sources):
        mask, is_copied = kept_lines(number), _is_copied(source.format)
        if (not mask.any() and (is_of_documents(source.format) or not is_copied)) or _is_lost(source):
            progress.advance(source.size_bytes)
        elif is_copied:
            files[number] = out / names[number]
            _copy(source, mask, files[number], encoding, progress)
        else:
            as_json[number] = mask
    numbers = list(as_json)
    documents = _documents([sources[number] for number in numbers], encoding, progress)
    for place, batches in itertools.groupby(documents, key=itemgetter(0)):
        number = numbers[place]
        files[number] = out / names[number]
        files[number].parent.mkdir(parents=True, exist_ok=True)
        with published(files[number]) as aside, open(aside, "wb") as file:
            for _, batch in batches:
                kept = batch.filter(_is_kept(as_json[number], batch["line"].to_numpy()))
                for doc_id, text in zip(kept["doc_id"].to_pylist(), kept["text"].to_pylist(), strict=True):
                    record = {"id": doc_id, "text": text.decode()}
                    file.write((json.dumps(record, ensure_ascii=False) + "\n").encode())
    return files


def _is_copied(file_format: str) -> bool:
    return file_format in FORMATS and FORMATS[file_format].is_copied


def kept_names(sources: Sequence[Source]) -> list[PurePosixPath]:
    """Return the path of each kept file relative to the folder that all share; distinct, and none outside that folder.

    A collection or a run gives its name to a file in the folder itself.

    Examples
    --------
    >>> paths = ["../in/a/x.jsonl", "../in/b/x.pdf"]
    >>> sources = [Source(path=path, name=path, format=path.rpartition(".")[2]) for path in paths]
    >>> [str(name) for name in kept_names([sources[0], replace(sources[1], format="document")])]
    ['a/x.jsonl', 'b/x.pdf.jsonl']
    """
    paths = [Path(os.path.abspath(one.path)) for one in sources if not isinstance(one, StoredSource)]
    shared = os.path.commonpath([str(path.parent) for path in paths]) if paths else "/"
    names, taken = list[PurePosixPath](), set[str]()
    for source in sources:
        if isinstance(source, StoredSource):
            stem = Path(source.path.rpartition("schema=")[2]).resolve().name or source.format
            name = PurePosixPath(f"{stem}.jsonl")
        else:
            name = PurePosixPath(Path(os.path.abspath(source.path)).relative_to(shared).as_posix())
            name = name if _is_copied(source.format) else name.with_name(f"{name.name}.jsonl")
        unique, n_tried = name, 1
        while str(unique).casefold() in taken:  # some file systems ignore case
            n_tried += 1
            unique = name.with_name(f"{n_tried}-{name.name}")
        taken.add(str(unique).casefold())
        names.append(unique)
    return names


def _is_lost(source: Source) -> bool:
    """Whether this is a table that was accepted although it is too damaged to be read at all."""
    table = TABLES.get(source.format)
    if not source.takes_damaged or table is None:
        return False
    try:
        with table.reader.at(source.path, source.name):
            return False
    except TruncatedInputError:
        return True


def _copy(source: Source, mask: Bool, target: Path, encoding: str, progress: Progress) -> None:
    encoding = check_encoding(encoding)
    if is_told_by_line(encoding):
        encoding = "utf-8"  # lines and records keep their bytes, which then pass unchanged
    target.parent.mkdir(parents=True, exist_ok=True)
    path = Path(source.path)
    try:
        opened = path.open("rb", buffering=0)
    except OSError as error:
        raise unreadable(source.name, error) from error
    with opened as raw, published(target) as aside, open(aside, "wb") as file:
        try:
            to_copy = OpenedSource(source=source, raw=cast(BinaryIO, raw), encoding=encoding, progress=progress.advance)
            FORMATS[source.format].reader.copy(to_copy, partial(_is_kept, mask), file)
        except StreamFault as fault:
            n_lost = int(mask[fault.line or len(mask) :].sum())
            if n_lost:  # another column is damaged than those that were read
                raise TruncatedInputError(
                    f"{source.name}: {fault}, and {n_lost:,} of the documents that are kept cannot be "
                    "copied. Get the file again, or omit --write-kept."
                ) from fault
            if not source.takes_damaged:
                raise truncated_input(source.name, fault, int(mask.sum())) from fault


def _is_kept(mask: Bool, lines: I64) -> Bool:
    """Return which of the lines are kept."""
    is_known = lines < len(mask)
    kept: Bool = is_known & mask[np.where(is_known, lines, 0)]
    return kept


class _Unsaid(LabelledProgress):
    """Progress without messages."""

    def say(self, message: str) -> None:
        """Do nothing."""


def _documents(sources: Sequence[Source], encoding: str, progress: Progress) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the documents of sources in order, with the number of their source; messages are not repeated."""
    first, progress = 0, _Unsaid("", progress)
    for one in file_inputs(sources, encoding=encoding):
        for batch, index in one.batches(progress):
            numbers = np.broadcast_to(np.asarray(index, np.int64), batch.num_rows)
            for number in np.unique(numbers).tolist():
                yield first + number, batch.filter(pa.array(numbers == number))
        first += len(one.names)


@dataclass(frozen=True, slots=True)
class InputAgain:
    """Input of a finished run, found unchanged.

    Parameters
    ----------
    sources : sequence of Source
        Sources in the order of the run.
    encoding : str
        Encoding with which the run read them.
    records : sequence of SourceRecord
        The sources before they were compared with the digests of the run.
    """

    sources: Sequence[Source]
    encoding: str
    records: SourceRecords

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
        with damage_of(directory):
            try:
                records = records_again(
                    manifest.inputs, manifest.encoding, manifest.reading, stored=stored_source,
                    threads=Resources().n_threads, progress=meter.progress,
                )  # fmt: skip
            except InputError as error:
                error.args = (f"the input of {directory} cannot be read again. {error}",)
                error.parameter = "write_kept"
                raise
        sources = [record.source for record in records]
        if manifest.reading is not None:  # copied as by the run, to which damage may have been an error
            takes_damaged = manifest.reading.on_error == "skip"
            sources = [replace(source, takes_damaged=takes_damaged) for source in sources]
        return cls(sources, manifest.encoding or "utf-8", records)

    def write_kept(self, run: JobRun, places: Places, keep: Bool) -> tuple[KeptFile, ...]:
        """Write the cleaned corpus into the work of ``run``; the sources of ``places`` are numbers in `sources`.

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
            run.begin_kept(),
            encoding=self.encoding,
            meter=run.meter,
        )
        check_unchanged(self.records)
        return written


def _check_outside(files: Sequence[InputFile], out: Path) -> None:
    """Refuse a directory for results in which a file of the input lies, and could be replaced."""
    place = out.resolve()
    for one in files:
        if one.format not in get_args(StoredFormat) and Path(on_disk(one.path)).resolve().is_relative_to(place):
            raise OutputExistsError(
                f"The input {one.path} lies in {out}, which is --out: it could be replaced. Choose another --out."
            )
