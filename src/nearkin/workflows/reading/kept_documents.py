"""Documents that a finished run kept, read again: from its folder ``kept`` if there is one, otherwise from its input.

Their ids are those of the run, which may differ from those in the files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa

from nearkin.errors import InputError, MissingExtraError, SourceError
from nearkin.formats import parquet
from nearkin.manifests.dedup import DedupManifest
from nearkin.manifests.stored import InputFile
from nearkin.paths import STDIN, on_disk, printable
from nearkin.records import DOCUMENTS_SCHEMA, I64
from nearkin.runs.files import text_of
from nearkin.runs.finished import MANIFEST, damage_of, read_results
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.documents.formats import FORMATS, StoredFormat
from nearkin.stages.documents.reader import check_has_columns
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import Source, check_columns
from nearkin.workflows.reading.identity import SourceRecord, SourceRecords, changed
from nearkin.workflows.reading.inputs import (
    FileInput,
    Input,
    LooseFilesInput,
    StoredDocuments,
    StoredInput,
    StoredSource,
    file_inputs,
)
from nearkin.workflows.reading.memory_documents import IN_MEMORY, NONE_GIVEN, GivenAgain
from nearkin.workflows.reading.rereading import Reread, check_comes_again, reread, stored_again
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources

_TABLE = "documents.parquet"
_HINT = " A run with --write-kept does not need its input for this."
_HIDDEN_PASSWORD = ":***@"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDocuments:
    """Documents kept by a run.

    Parameters
    ----------
    directory : Path
        Directory of the run.
    digest : str
        SHA-256 of its manifest.
    rows : int64 array, shape (n_kept,)
        Kept documents, in the order of the run.
    ids : Array, shape (n_kept,)
        large_string, or int64.
    inputs : sequence of InputFile
        Input of the run.
    files : sequence of InputFile
        Files that are read.
    wanted : int64 array, shape (n_kept,)
        Places of the kept documents among those of the files.
    names : KeptNames
    parents : LargeStringArray or None
        Id of the container of each kept document; None if no document is in a container.
    again : Reread
        The files, checked to be unchanged.
    """

    directory: Path
    digest: str
    rows: I64
    ids: pa.Array
    inputs: Sequence[InputFile]
    files: Sequence[InputFile]
    wanted: I64
    again: Reread
    names: KeptNames
    parents: pa.LargeStringArray | None = None

    @classmethod
    def of(cls, directory: Path, progress: Progress) -> KeptDocuments:
        """Open the results of a finished run.

        Raises
        ------
        RunError
            The run is damaged.
        SourceError
            The command keeps no documents; its input is missing or changed.
        """
        stored = read_results(directory, (_TABLE,))
        with damage_of(directory):
            manifest = DedupManifest.of(stored)
            digest = hashlib.sha256(text_of(directory / MANIFEST).encode()).hexdigest()
            if manifest.command not in manifest.commands:
                raise SourceError(
                    f"{directory} holds the results of nearkin {manifest.command}, which keep no documents. Results "
                    f"of {', '.join(manifest.commands)} do."
                )
            table = _documents(directory / _TABLE, "id", "keep", "parent")
            rows = np.flatnonzero(table["keep"].to_numpy())
            ids = _at(table["id"], rows)
            parents = _at(table["parent"], rows) if "parent" in table.column_names else None
            files, wanted = _files(directory, manifest, rows)
            again = _reread(directory, files, manifest, progress)
        return cls(
            directory=directory,
            digest=digest,
            rows=rows,
            ids=ids,
            inputs=manifest.inputs,
            files=files,
            wanted=wanted,
            again=again,
            names=KeptNames(directory, rows, ids),
            parents=parents,
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def size_bytes(self) -> int:
        """Size of the files to read."""
        return self.again.size_bytes

    @property
    def end_row(self) -> int | None:
        """None: only collections have one."""
        return None

    def state(self) -> str:
        """Digest of the manifest, and of the current times and sizes of the files."""
        told = hashlib.sha256()
        files = [Path(on_disk(one.path)) for one in self.files if one.format not in get_args(StoredFormat)]
        runs = [Path(on_disk(one.path)) / MANIFEST for one in self.files if one.format == "results"]
        for path in (self.directory / MANIFEST, *files, *runs):  # documents of a collection do not change
            try:
                found = os.stat(path)
            except OSError:
                told.update(f"{path} is gone".encode(errors="backslashreplace"))
                continue
            told.update(repr((str(path), found.st_mtime_ns, found.st_size)).encode(errors="backslashreplace"))
        return f"{self.digest} {told.hexdigest()}"

    def keeping(self, keep_column: str | None, name: str) -> KeptDocuments:
        """Return the documents with the values of a column to keep by.

        Raises
        ------
        SourceError
            A file of the run has no such column to keep by.
        """
        if keep_column is None:
            return self
        inputs = [_with_column(one, keep_column) for one in self.again.inputs]
        return replace(self, again=replace(self.again, inputs=inputs))

    def named(self, lines: pa.Int64Array) -> pa.LargeStringArray:
        """Return the names of documents with some numbers, as `batches` gives them; see `KeptNames.at`."""
        return self.names.at(np.searchsorted(self.rows, lines.to_numpy() - 1))

    def batches(self, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Yield batches of `DOCUMENTS_SCHEMA`, with the ids of the run; the line is the document's number there."""
        for places, batch, _ in self.again.batches(progress, self.wanted):
            at = np.searchsorted(self.wanted, places)
            columns = [
                self.ids.take(pa.array(at)),
                batch["text"],
                pa.array(self.rows[at] + 1),
                batch["problem"],
                batch["keep_value"],
                pa.nulls(len(at), pa.large_string()) if self.parents is None else self.parents.take(pa.array(at)),
                batch["origin"],
            ]
            fields = [DOCUMENTS_SCHEMA.field(0).with_type(self.ids.type), *list(DOCUMENTS_SCHEMA)[1:]]
            yield pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


class KeptNames:
    """Names of the documents that a run kept; they are read when they are first asked for.

    Parameters
    ----------
    directory : Path
        Directory of the run.
    rows : int64 array, shape (n_kept,)
    ids : Array, shape (n_kept,)
    """

    def __init__(self, directory: Path, rows: I64, ids: pa.Array) -> None:
        self._directory = directory
        self._rows = rows
        self._ids = ids

    def at(self, places: I64) -> pa.LargeStringArray:
        """Return the names of some kept documents.

        Raises
        ------
        RunError
            The run is damaged.
        """
        return self._read.take(pa.array(places))

    @cached_property
    def _read(self) -> pa.LargeStringArray:
        with damage_of(self._directory):
            return _at(_documents(self._directory / _TABLE, "name")["name"], self._rows)


def _documents(path: Path, *columns: str) -> pa.Table:
    """Read columns of a table of documents, as far as it has them."""
    with parquet.open_table(path) as file:
        return file.read(columns=[name for name in columns if name in file.schema_arrow.names])


def _at(column: pa.ChunkedArray, rows: I64) -> pa.Array:
    return column.combine_chunks().take(pa.array(rows))


def _with_column(one: Input, keep_column: str) -> Input:
    """Return an input with the values to keep by."""
    if isinstance(one, StoredInput):
        return replace(one, documents=one.documents.keeping(keep_column, one.name))
    if isinstance(one, LooseFilesInput):
        check_has_columns(one.names[0], one.sources[0].format)
    if not isinstance(one, FileInput):
        return one
    check_columns([one.source], {"keep": keep_column}, encoding=one.encoding)
    return replace(one, keep_column=keep_column)


def _files(directory: Path, manifest: DedupManifest, rows: I64) -> tuple[Sequence[InputFile], I64]:
    """Return the files to read, and the places of the kept documents among those in them."""
    inputs = manifest.inputs
    if manifest.kept is None:
        return inputs, rows
    ends = np.cumsum([one.n_documents for one in inputs])
    n_kept = np.diff(np.searchsorted(rows, np.concatenate([[0], ends])))
    files = []
    for one in manifest.kept:
        of_input = inputs[one.input]
        if not (of_input.format in FORMATS and FORMATS[of_input.format].is_copied):
            of_input = replace(of_input, format="jsonl", text="text", id="id")
        if n := int(n_kept[one.input]):
            path = str(directory / one.path)
            copy = replace(of_input, path=path, size_bytes=one.size_bytes, sha256=one.sha256, texts_sha256=None)
            files.append(replace(copy, n_documents=n))
    return files, np.arange(len(rows))


def _reread(directory: Path, files: Sequence[InputFile], manifest: DedupManifest, progress: Progress) -> Reread:
    try:
        return reread(
            files, manifest.encoding, manifest.reading, stored=stored_source, threads=Resources().n_threads,
            progress=progress,
        )  # fmt: skip
    except InputError as error:
        hint = "" if manifest.kept is not None or _HINT in error.message else _HINT
        said = f"{directory}: the documents kept by this run cannot be read again."
        error.args = (f"{said} {error.message}{hint}",)
        raise


def source_of_run(directory: Path, progress: Progress) -> StoredSource:
    """Return the documents kept by a run as a source.

    Raises
    ------
    RunError, SourceError
        See `KeptDocuments.of`.
    """
    kept = KeptDocuments.of(directory, progress)
    name = printable(str(directory))
    return _stored(str(directory), name, "results", kept)


def source_of_collection(
    place: str, *, end_row: int | None = None, is_read_only: bool = False, with_unread: bool = False
) -> StoredSource:
    """Return the current documents of a collection as a source.

    Parameters
    ----------
    place : str
        A place, as for `Collection.open`.
    end_row : int, optional
        Only documents below this number.
    is_read_only : bool
        Write nothing; a collection that cannot be written is opened so anyway.
    with_unread : bool
        Also files that gave no text, as documents with a problem.

    Raises
    ------
    CollectionError
    MissingExtraError
    """
    try:
        from nearkin.store.place import Place
        from nearkin.workflows.reading.collection_documents import CollectionDocuments
    except ImportError as error:
        raise MissingExtraError.of("Reading a collection", "collection") from error
    parsed = Place.parse(place)
    found = CollectionDocuments.now(parsed, end_row=end_row, is_read_only=is_read_only, with_unread=with_unread)
    name = printable(str(parsed))
    return _stored(str(parsed), name, "collection", found)


def _stored(path: str, name: str, file_format: StoredFormat, documents: StoredDocuments) -> StoredSource:
    return StoredSource(path=path, name=name, format=file_format, size_bytes=documents.size_bytes, documents=documents)


def stored_source(entry: InputFile, in_memory: GivenAgain = NONE_GIVEN) -> StoredSource:
    """Return the current source named by an entry of a manifest; the caller compares the digests.

    ``in_memory`` has the documents that were in memory, if they are given again.

    Raises
    ------
    SourceError
        It was a database that needs a password, which manifests do not store; or documents in memory.
    """
    path = entry.path
    if entry.format == IN_MEMORY and path in in_memory:
        return in_memory[path]
    if entry.format == IN_MEMORY:
        raise SourceError(
            "The documents were in the memory of a program, so they cannot be read again. Give them to nearkin.audit "
            "or nearkin.dedup, or run the job on a file."
        )
    if entry.format == "results":
        return source_of_run(Path(on_disk(path)), Silent())
    if _HIDDEN_PASSWORD in path:
        raise SourceError(f"{path} needs a password, which results do not store, so it cannot be read again.")
    return source_of_collection(on_disk(path), end_row=entry.end_row)


def texts_again(records: SourceRecords, encoding: str, in_memory: GivenAgain = NONE_GIVEN) -> Texts:
    """Return the texts of recorded sources for a second reading.

    Raises
    ------
    SourceError
        A source is missing, has changed, or was a pipe.
    """
    sources = [_reopened(one, in_memory) for one in records]
    return Texts(sources, file_inputs(sources, encoding=encoding), ReadingRules.of_finished_run())


def _reopened(record: SourceRecord, in_memory: GivenAgain) -> Source:
    if isinstance(record.source, StoredSource) and record.source.format == IN_MEMORY:  # in this process
        return record.source
    if record.is_stored:
        return stored_again(record.file, partial(stored_source, in_memory=in_memory)).source
    path = record.source.path
    source = replace(record.source, path=on_disk(path))
    check_comes_again(STDIN if record.changed_ns is None else source.path)
    if record.differs(SourceRecord.of(source)):
        raise changed(path, "its size or modification time differs")
    return source
