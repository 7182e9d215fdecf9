"""Input of a finished run, read again: the files named by the manifest, if they are unchanged."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.errors import SourceError
from nearkin.manifests.stored import HowRead, InputFile, NotReadFiles
from nearkin.nouns import first_of
from nearkin.paths import STDIN, on_disk, printable
from nearkin.records import I64, U32
from nearkin.runs.progress import Progress
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.finding import by_suffix
from nearkin.stages.documents.formats import StoredFormat, is_of_documents
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.source import NotRead
from nearkin.stages.documents.sources import Source, resolve_sources
from nearkin.workflows.reading.identity import (
    SourceRecord,
    changed,
    changed_documents,
    texts_sha256,
)
from nearkin.workflows.reading.inputs import Input, LooseFilesInput, StoredSource, file_inputs, places_in
from nearkin.workflows.reading.memory_documents import IN_MEMORY

_N_PATHS = 20


def not_read_files(found: Sequence[NotRead]) -> tuple[NotReadFiles, ...] | None:
    """Return what was not read for the manifest, with the first paths of each; None if there is nothing."""
    told = [
        NotReadFiles(
            place=printable(one.place),
            reason=one.reason,
            n=len(one.paths),
            paths=tuple(printable(path) for path in one.paths[:_N_PATHS]),
        )
        for one in found
    ]
    return tuple(told) or None


def check_comes_again(path: str) -> None:
    """Check that the input with this name can be read again.

    Raises
    ------
    SourceError
        Nothing has that name, or it is a pipe.
    """
    if path == STDIN:
        raise SourceError(
            "The input was standard input, which cannot be read again. Save it to a file, and read the file."
        )
    if not os.path.lexists(path):
        if os.path.isabs(path):
            raise SourceError(f"{printable(path)} does not exist. Its documents must be read again: restore the file.")
        raise SourceError(
            f"There is no {printable(path)} in {printable(os.getcwd())}, and its documents must be read again. Restore "
            "the file, or run the command in the directory from which it was read first: the path is relative."
        )
    if os.path.exists(path) and not os.path.isfile(path):
        raise SourceError(
            f"{printable(path)} is no longer a file, and its documents must be read again: restore the file."
        )


_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Reread:
    """One side of a run's input: the documents to clean, or those of the other collection.

    Parameters
    ----------
    inputs : sequence of Input
        Inputs in the order of the run.
    counts : int64 array, shape (n_sources,)
        Number of documents that the run read from each source of these inputs.
    """

    inputs: Sequence[Input]
    counts: I64

    @property
    def n_documents(self) -> int:
        """Number of documents in all inputs."""
        return int(self.counts.sum())

    def source_names(self, rows: I64) -> pa.LargeStringArray:
        """Return the name of the source of each row."""
        names = pa.array(places_in(self.inputs), pa.large_string())
        return names.take(pa.array(np.searchsorted(np.cumsum(self.counts), rows, side="right")))

    def check_lengths(
        self, rows: I64, before: U32 | I64, now: pa.Array, *, told: Callable[[str], SourceError] = changed
    ) -> None:
        """Check that documents have the same length as before.

        Parameters
        ----------
        rows : int64 array
        before : integer array
            Their characters at the first reading.
        now : integer array of Arrow
        told : callable
            Makes the error from the name of a source.

        Raises
        ------
        SourceError
            One of them has another length; the message names its source.
        """
        differing = np.flatnonzero(before != now.to_numpy(zero_copy_only=False))
        if len(differing):
            raise told(self.source_names(rows[differing[:1]])[0].as_py())

    @property
    def size_bytes(self) -> int:
        """Size of all inputs."""
        return sum(one.size_bytes for one in self.inputs)

    def batches(self, progress: Progress, wanted: I64 | None = None) -> Iterator[tuple[I64, pa.RecordBatch, str]]:
        """Yield documents with their rows, and the name of the source of those without an id.

        Parameters
        ----------
        progress : Progress
            Receives the number of bytes read.
        wanted : int64 array, optional
            Ascending rows to yield; inputs without any are not opened.

        Raises
        ------
        SourceError
            There are more or fewer documents than before.
        """
        start = first = 0
        for one in self.inputs:
            ends = start + np.cumsum(self.counts[first : first + len(one.names)])
            end, first = int(ends[-1]), first + len(one.names)
            inside = None if wanted is None else wanted[slice(*np.searchsorted(wanted, [start, end]))]
            if inside is None or len(inside):
                yield from _of_input(one, start, ends, inside, progress)
            else:
                progress.advance(one.size_bytes)
            start = end


def _of_input(
    one: Input, start: int, ends: I64, wanted: I64 | None, progress: Progress
) -> Iterator[tuple[I64, pa.RecordBatch, str]]:
    rows: I64 | range = range(start, int(ends[-1]))
    if isinstance(one, LooseFilesInput) and wanted is not None:
        # only files with documents that are wanted are opened
        starts = np.concatenate([[start], ends[:-1]])
        opened = np.flatnonzero(np.searchsorted(wanted, starts) < np.searchsorted(wanted, ends)).tolist()
        one = replace(one, sources=tuple(one.sources[i] for i in opened))
        rows = np.concatenate([np.arange(starts[i], ends[i]) for i in opened])
    n_read = 0
    for batch, _ in one.batches(progress):
        if not batch.num_rows:
            continue
        here = np.asarray(rows[n_read : n_read + batch.num_rows], np.int64)
        n_read += batch.num_rows
        if n_read > len(rows):
            break
        if wanted is None:
            yield here, batch, one.names[0]
        elif len(found := wanted[slice(*np.searchsorted(wanted, [here[0], here[-1] + 1]))]):
            yield found, batch.take(pa.array(np.searchsorted(here, found))), one.names[0]
    if n_read != len(rows):
        raise changed(one.names[0] if len(one.names) == 1 else f"One of {first_of(one.names, _SHOWN)}")


def reread(
    files: Sequence[InputFile],
    encoding: str | None,
    reading: HowRead | None,
    *,
    stored: Callable[[InputFile], StoredSource],
    threads: int,
    progress: Progress,
) -> Reread:
    """Return the input of a run for a second reading; see `records_again`.

    Raises
    ------
    SourceError
        A file is missing or has other bytes; a collection has other documents.
    """
    records = records_again(files, encoding, reading, stored=stored, threads=threads, progress=progress)
    counts = np.array([one.n_documents for one in files], np.int64)
    return Reread(file_inputs([one.source for one in records], encoding=encoding or "utf-8"), counts)


def records_again(
    files: Sequence[InputFile],
    encoding: str | None,
    reading: HowRead | None,
    *,
    stored: Callable[[InputFile], StoredSource],
    threads: int,
    progress: Progress,
) -> list[SourceRecord]:
    """Return the sources of a run for a second reading, in order, with digests that are those of the run.

    Parameters
    ----------
    files : sequence of InputFile
    encoding : str or None
        Encoding of the run; UTF-8 if it has none.
    reading : HowRead or None
        None if the run read no files.
    stored : callable
        Returns the source of an entry that is no file: a collection, the results of a run, documents in memory.
    threads : int
    progress : Progress

    Raises
    ------
    SourceError
        A file is missing or has other bytes; a collection has other documents.
    """
    encoding = encoding or "utf-8"
    files = [one if _is_stored(one) else replace(one, path=on_disk(one.path)) for one in files]
    unstored = [one for one in files if not _is_stored(one)]
    for one in unstored:
        _check_there(one)
    before = {one.path: SourceRecord.of(_source(one, reading)) for one in unstored}
    progress.start("digest inputs", sum(one.size_bytes or 0 for one in unstored), "bytes")
    digests = map_ordered(lambda one: file_sha256(one.path) if one.sha256 else None, unstored, threads=threads)
    for one, digest in zip(unstored, digests):
        if digest != one.sha256:
            raise changed(one.path)
        progress.advance(one.size_bytes or 0)
    progress.finish()
    records = list[SourceRecord]()
    for one in files:
        if _is_stored(one):
            records.append(stored_again(one, stored))
            continue
        source = _as_found(one, before[one.path].source, encoding)
        if one.texts_sha256 is not None and texts_sha256(source, encoding) != one.texts_sha256:
            raise changed(one.path, "the text files that it names differ")
        records.append(replace(before[one.path], source=source, sha256=one.sha256))
    return records


def _check_there(one: InputFile) -> None:
    check_comes_again(one.path)
    if one.sha256 and (not os.path.exists(one.path) or os.path.getsize(one.path) != one.size_bytes):
        raise changed(one.path)


def _is_stored(one: InputFile) -> bool:
    return one.format in get_args(StoredFormat)


def stored_again(one: InputFile, stored: Callable[[InputFile], StoredSource]) -> SourceRecord:
    """Return the source of an entry that is no file, if it has the documents that the run read."""
    record = SourceRecord.of(stored(one))
    if record.sha256 != one.sha256:
        raise changed_documents() if one.format == IN_MEMORY else changed(one.path)
    return record


def _source(one: InputFile, reading: HowRead | None) -> Source:
    stored: dict[str, object] = {
        "path": one.path, "name": one.name or printable(one.path), "format": one.format,
        "compression": by_suffix(one.path)[1], "text": one.text, "id": one.id, "size_bytes": one.size_bytes,
    }  # fmt: skip
    if reading is not None:
        stored["is_forced"] = reading.format == "file"
        stored["text_root"] = None if reading.text_root is None else os.path.abspath(reading.text_root)
        if reading.max_document_bytes is not None:
            stored["max_document_bytes"] = reading.max_document_bytes
        stored["extraction_limits"] = reading.extraction_limits or {}
        stored["ocr"] = reading.ocr
    return Source.stored(stored)


def _as_found(one: InputFile, source: Source, encoding: str) -> Source:
    """Return the source with its compression and delimiter, which manifests do not have."""
    if is_of_documents(source.format):
        return source
    found = resolve_sources(
        [one.path], file_format=one.format, text=one.text, doc_id=one.id, encoding=encoding,
        rules=ReadingRules.of_finished_run(),
    )  # fmt: skip
    (seen,) = found.sources
    return replace(source, compression=seen.compression, delimiter=seen.delimiter)
