"""What sources were before they were read: to notice changes, to resume, and to read them again after the run."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.errors import InputError, MissingExtraError, SourceError
from nearkin.formats import parquet
from nearkin.formats.sealed import missing_file
from nearkin.manifests.dedup import DedupManifest
from nearkin.manifests.stored import HowRead, InputFile, UndigestedFile
from nearkin.nouns import counted, first_of
from nearkin.paths import STDIN, file_sha256, on_disk, printable, shown_path
from nearkin.records import I64
from nearkin.runs.files import read_work_json, text_of, write_checked_json
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.run import MANIFEST, JobRun, damage_of, read_results
from nearkin.stages.documents.finding import by_suffix
from nearkin.stages.documents.formats import FORMATS, STORED, StoredFormat
from nearkin.stages.documents.rows import IdType, documents_batch
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, ExtractionLimits
from nearkin.stages.documents.source import Source
from nearkin.stages.documents.sources import check_keep_column
from nearkin.workflows.reading.inputs import IN_MEMORY, Input, StoredDocuments, StoredSource, inputs_of, places_of_files
from nearkin.workflows.resources import Resources

_MAX_NAMED = 100


def seen(source: Source) -> Source:
    """Return a source with its size and times as they are now; the bytes of files are not read."""
    if isinstance(source, StoredSource):
        return replace(source, sha256=source.documents.digest)
    size_bytes, changed_ns, noted_ns = source.size_bytes, None, None
    with contextlib.suppress(OSError, ValueError):
        status = os.stat(source.path)
        if source.path != STDIN and stat.S_ISREG(status.st_mode):
            size_bytes, changed_ns, noted_ns = status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return replace(source, size_bytes=size_bytes, changed_ns=changed_ns, noted_ns=noted_ns)


def is_unchanged(source: Source) -> bool:
    """Whether size and time of a seen source are the same, and the digest, if the system noted another change."""
    if isinstance(source, StoredSource):
        return source.documents.is_unchanged
    now = seen(source)
    if (now.changed_ns, now.size_bytes) != (source.changed_ns, source.size_bytes):
        return False
    return source.noted_ns in (None, now.noted_ns) or source.sha256 in (None, file_sha256(source.path))


def digested(source: Source) -> Source:
    """Return a source with digests of the file and the texts that it names; None if it cannot be read."""
    if source.is_stored or source.path == STDIN:
        return source
    try:
        sha256 = file_sha256(source.path)
    except (OSError, SourceError):
        return source
    texts = FORMATS[source.format].reader.digest_of_texts(source) if source.format == "load-file" else None
    return replace(source, sha256=sha256, texts_sha256=texts)


def input_file(source: Source) -> InputFile:
    """Return the entry of a manifest."""
    return InputFile(
        path=shown_path(source.path),
        size_bytes=source.size_bytes,
        sha256=source.sha256,
        format=source.format,
        text=source.text,
        id=source.id,
        name=printable(source.name),
        end_row=getattr(source.documents, "end_row", None) if isinstance(source, StoredSource) else None,
        texts_sha256=source.texts_sha256,
    )


def undigested_files(sources: Sequence[Source], of_documents: pa.ChunkedArray) -> tuple[UndigestedFile, ...]:
    """Return the entries of a manifest without digests, with the number of documents by the name of their source."""
    counts = {entry["values"]: entry["counts"] for entry in of_documents.value_counts().to_pylist()}
    places = map(printable, places_of_files(sources))
    return tuple(
        UndigestedFile(
            **asdict(replace(input_file(source), n_documents=counts.get(place, 0))),
            changed_ns=source.changed_ns if source.sha256 is None else None,
        )
        for source, place in zip(sources, places, strict=True)
    )


def check_unchanged(sources: Iterable[Source]) -> None:
    """Raise SourceError if sources changed since they were seen; files of one document, read at once, may change."""
    for source in sources:
        is_checked = source.is_stored or FORMATS[source.format].holds != "one document"
        if is_checked and not is_unchanged(source):
            raise changed_while_read(source.path)


def with_digests(sources: Sequence[Source], resources: Resources, meter: Meter) -> tuple[Source, ...]:
    """Return seen sources with the digests of files."""
    if not sources:
        return ()
    hashed = []
    with meter.stage("digest inputs", sum(source.size_bytes for source in sources), "bytes") as progress:
        for source in map_ordered(digested, sources, threads=resources.n_threads):
            hashed.append(source)
            progress.advance(source.size_bytes)
    return tuple(hashed)


def digested_sides(
    sides: Mapping[str, Sequence[Source]], run: JobRun, resources: Resources
) -> dict[str, tuple[Source, ...]]:
    """Return all sources of a run as they are now; ResumeError if the digests are not those of the interrupted run."""
    by_side = {side: with_digests([*map(seen, sources)], resources, run.meter) for side, sources in sides.items()}
    now = {
        side: {shown_path(source.path): [source.sha256, source.texts_sha256] for source in sources}
        for side, sources in by_side.items()
    }
    if run.input_digests.exists():
        before = read_work_json(run.input_digests)
        for side, digests in now.items():
            for path, digest in digests.items():
                if before[side].get(path) != digest:
                    raise run.cannot_be_resumed(f"{path} has other bytes")
    elif run.has_work:
        raise missing_file(run.input_digests)
    else:
        write_checked_json(run.input_digests, now, durable=False)
    return by_side


def fingerprint_of(sources: Sequence[Source]) -> dict[str, object]:
    """Return files and how they are read, for the fingerprint of a run; their bytes are compared by digests."""
    files = {source.path: _in_words(source) for source in sources}
    return {
        "n_files": len(sources),
        "files": {shown_path(path): words for path, words in files.items()} if len(files) <= _MAX_NAMED else {},
        "digest": hashlib.sha256(repr(list(files.items())).encode(errors="backslashreplace")).hexdigest()[:16],
    }


def _in_words(source: Source) -> str:
    if isinstance(source, StoredSource):
        return f"{source.format}, {source.documents.digest}"
    columns = [f"{name} {value!r}" for name in ("text", "id", "delimiter") if (value := getattr(source, name))]
    return ", ".join([counted(source.size_bytes, "byte"), source.format, *columns])


def changed(name: str, how: str = "") -> SourceError:
    """Return the error for an input that changed since it was first read; ``how`` describes the difference."""
    differs = f" ({how})" if how else ""
    return SourceError(f"{printable(name)} has changed since it was read{differs}. Repeat the command that read it.")


def changed_while_read(name: str) -> SourceError:
    """Return the error for an input that changed during the run."""
    return SourceError(
        f"{printable(name)} changed while it was read. Run again when nothing writes to it, or use a copy."
    )


GivenAgain = Mapping[str, StoredSource]
"""Documents that a program passes again, by the names under which they were read first."""
NONE_GIVEN: GivenAgain = {}
_TABLE = "documents.parquet"
_SHOWN = 3
_HIDDEN_PASSWORD = ":***@"


@dataclass(frozen=True, slots=True)
class Reread:
    """One side of a run's input in its order, with the documents that the run read from each source."""

    inputs: Sequence[Input]
    counts: I64

    @property
    def sources(self) -> list[Source]:
        """Every source, in order."""
        return [source for part in self.inputs for source in part.sources]

    @property
    def size_bytes(self) -> int:
        """Size of all inputs."""
        return sum(part.size_bytes for part in self.inputs)

    def batches(self, progress: Progress, wanted: I64 | None = None) -> Iterator[tuple[I64, pa.RecordBatch, str]]:
        """Yield documents with their rows, and the name of the source of those without an id."""
        start = first = 0
        for part in self.inputs:
            ends = start + np.cumsum(self.counts[first : first + len(part.sources)])
            end, first = int(ends[-1]), first + len(part.sources)
            inside = None if wanted is None else wanted[slice(*np.searchsorted(wanted, [start, end]))]
            if inside is None or len(inside):
                yield from _of_input(part, start, ends, inside, progress)
            else:
                progress.advance(part.size_bytes)
            start = end


def _of_input(
    part: Input, start: int, ends: I64, wanted: I64 | None, progress: Progress
) -> Iterator[tuple[I64, pa.RecordBatch, str]]:
    rows: I64 | range = range(start, int(ends[-1]))
    if part.is_loose and wanted is not None:
        # only files with documents that are wanted are opened
        starts = np.concatenate([[start], ends[:-1]])
        opened = np.flatnonzero(np.searchsorted(wanted, starts) < np.searchsorted(wanted, ends)).tolist()
        part = replace(part, sources=tuple(part.sources[i] for i in opened))
        rows = np.concatenate([np.arange(starts[i], ends[i]) for i in opened])
    n_read = 0
    for batch, _ in part.batches(progress):
        here = np.asarray(rows[n_read : n_read + batch.num_rows], np.int64)
        n_read += batch.num_rows
        if n_read > len(rows):
            break
        if wanted is None:
            yield here, batch, part.names[0]
        elif len(chosen := wanted[slice(*np.searchsorted(wanted, [here[0], here[-1] + 1]))]):
            yield chosen, batch.take(pa.array(np.searchsorted(here, chosen))), part.names[0]
    if n_read != len(rows):
        raise changed(part.names[0] if len(part.names) == 1 else f"One of {first_of(part.names, _SHOWN)}")


def reread(
    files: Sequence[InputFile],
    encoding: str | None,
    reading: HowRead | None,
    *,
    in_memory: GivenAgain = NONE_GIVEN,
    threads: int,
    progress: Progress,
) -> Reread:
    """Return the input of a run for a second reading; SourceError if files or collections are not those of the run."""
    sources = [seen(_source(file, encoding or "utf-8", reading, in_memory)) for file in files]
    progress.start("digest inputs", sum(source.size_bytes for source in sources), "bytes")
    again = list[Source]()
    for source in map_ordered(_as_before, zip(files, sources, strict=True), threads=threads):
        again.append(source)
        progress.advance(source.size_bytes)
    progress.finish()
    return Reread(inputs_of(again), np.array([file.n_documents for file in files], np.int64))


def _as_before(pair: tuple[InputFile, Source]) -> Source:
    file, source = pair
    if file.sha256 is not None:
        source = digested(source)
    elif isinstance(file, UndigestedFile) and (file.size_bytes, file.changed_ns) != (
        source.size_bytes,
        source.changed_ns,
    ):
        raise changed(source.path, "its size or modification time differs")
    if source.sha256 != file.sha256 and source.format == IN_MEMORY:
        raise SourceError("The given documents differ from those that the run read. Give the same documents again.")
    if source.sha256 != file.sha256:
        raise changed(source.path)
    if source.texts_sha256 != file.texts_sha256:
        raise changed(file.path, "the text files that it names differ")
    return source


def _source(file: InputFile, encoding: str, reading: HowRead | None, in_memory: GivenAgain) -> Source:
    if file.format in STORED:
        return stored_source(file, in_memory)
    path, reading = on_disk(file.path), reading or HowRead()
    if path == STDIN:
        raise SourceError("The input was standard input, which cannot be read again. Read a file instead.")
    if not os.path.isfile(path):
        where = "" if os.path.isabs(path) else f" in {printable(os.getcwd())}"
        raise SourceError(f"{printable(path)} does not exist{where}. It must be read again: restore the file.")
    return Source(
        path=path, name=file.name or printable(path), format=file.format or "file", compression=by_suffix(path)[1],
        text=file.text, id=file.id, size_bytes=file.size_bytes or 0, takes_damaged=True, encoding=encoding,
        is_forced=reading.format == "file", max_document_bytes=reading.max_document_bytes or MAX_DOCUMENT_BYTES,
        text_root=None if reading.text_root is None else os.path.abspath(reading.text_root),
        limits=ExtractionLimits.of(reading.extraction_limits or {}), ocr=reading.ocr,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)  # no slots: names are read when they are first needed
class KeptDocuments(StoredDocuments):
    """Documents that a finished run kept, from its folder ``kept`` or from its input.

    Parameters
    ----------
    ids : Array, shape (n_kept,)
        large_string, or int64: those of the run, which may differ from those in the files.
    wanted : int64 array, shape (n_kept,)
        Places of the kept documents among those of the files.
    """

    directory: Path
    manifest_sha256: str
    rows: I64
    ids: pa.Array
    parents: pa.LargeStringArray | None
    wanted: I64
    again: Reread

    @classmethod
    def of(cls, directory: Path, progress: Progress) -> KeptDocuments:
        """Open the results of a finished run."""
        stored = read_results(directory, (_TABLE,))
        with damage_of(directory):
            manifest = DedupManifest.of(stored)
            if manifest.command not in manifest.commands:
                raise SourceError(
                    f"{directory} holds the results of nearkin {manifest.command}, which keep no documents. Results "
                    f"of {', '.join(manifest.commands)} do."
                )
            table = _documents(directory / _TABLE, "id", "keep", "parent")
            rows = np.flatnonzero(table["keep"].to_numpy())
            files, wanted = _files(directory, manifest, rows)
            try:
                again = reread(
                    files, manifest.encoding, manifest.reading, threads=Resources().n_threads, progress=progress
                )
            except InputError as error:
                hint = "" if manifest.kept is not None else " A run with --write-kept does not need its input for this."
                error.args = (f"{directory}: the documents kept by this run cannot be read again. {error}{hint}",)
                raise
            return cls(
                directory=directory,
                manifest_sha256=_sha256_of(directory / MANIFEST),
                rows=rows,
                ids=_at(table["id"], rows),
                parents=_at(table["parent"], rows) if "parent" in table.column_names else None,
                wanted=wanted,
                again=again,
            )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def digest(self) -> str:
        """SHA-256 of the manifest of the run."""
        return self.manifest_sha256

    @property
    def size_bytes(self) -> int:
        """Size of the files to read."""
        return self.again.size_bytes

    @property
    def is_unchanged(self) -> bool:
        """Whether the files, and the manifest of the run, are as they were."""
        manifest = self.directory / MANIFEST
        is_same_run = manifest.exists() and _sha256_of(manifest) == self.manifest_sha256
        return is_same_run and all(map(is_unchanged, self.again.sources))

    def keeping(self, keep_column: str | None, name: str) -> KeptDocuments:
        """Return the documents with the values of a column to keep by; SourceError if a file has none."""
        if keep_column is None:
            return self
        inputs = [_with_column(part, keep_column) for part in self.again.inputs]
        return replace(self, again=replace(self.again, inputs=inputs))

    def named(self, lines: pa.Int64Array) -> pa.LargeStringArray:
        """Return the names of documents with some numbers, as `batches` gives them."""
        return self._names.take(pa.array(np.searchsorted(self.rows, lines.to_numpy() - 1)))

    @cached_property
    def _names(self) -> pa.LargeStringArray:
        with damage_of(self.directory):
            return _at(_documents(self.directory / _TABLE, "name")["name"], self.rows)

    def batches(self, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Yield batches of `DOCUMENTS_SCHEMA`, with the ids and numbers of the run."""
        for places, batch, _ in self.again.batches(progress, self.wanted):
            at = np.searchsorted(self.wanted, places)
            yield documents_batch(
                IdType(not pa.types.is_int64(self.ids.type)), doc_id=self.ids.take(pa.array(at)), text=batch["text"],
                line=self.rows[at] + 1, problem=batch["problem"], keep_value=batch["keep_value"],
                parent=None if self.parents is None else self.parents.take(pa.array(at)), origin=batch["origin"],
            )  # fmt: skip


def _sha256_of(path: Path) -> str:
    return hashlib.sha256(text_of(path).encode()).hexdigest()


def _documents(path: Path, *columns: str) -> pa.Table:
    with parquet.open_table(path) as file:
        return file.read(columns=[name for name in columns if name in file.schema_arrow.names])


def _at(column: pa.ChunkedArray, rows: I64) -> pa.Array:
    return column.combine_chunks().take(pa.array(rows))


def _with_column(part: Input, keep_column: str) -> Input:
    if isinstance(part.source, StoredSource):
        documents = part.source.documents.keeping(keep_column, part.source.name)
        return replace(part, sources=(replace(part.source, documents=documents),))
    check_keep_column([part.source], keep_column)
    return replace(part, keep_column=keep_column)


def _files(directory: Path, manifest: DedupManifest, rows: I64) -> tuple[Sequence[InputFile], I64]:
    inputs = manifest.inputs
    if manifest.kept is None:
        return inputs, rows
    ends = np.cumsum([part.n_documents for part in inputs])
    n_kept = np.diff(np.searchsorted(rows, np.concatenate([[0], ends])))
    files = []
    for kept in manifest.kept:
        of_input = inputs[kept.input]
        if not (of_input.format in FORMATS and FORMATS[of_input.format].is_copied):
            of_input = replace(of_input, format="jsonl", text="text", id="id")
        if n := int(n_kept[kept.input]):
            path = str(directory / kept.path)
            copy = replace(of_input, path=path, size_bytes=kept.size_bytes, sha256=kept.sha256, texts_sha256=None)
            files.append(replace(copy, n_documents=n))
    return files, np.arange(len(rows))


def source_of_run(directory: Path, progress: Progress) -> StoredSource:
    """Return the documents kept by a run as a source; see `KeptDocuments.of`."""
    return _stored(str(directory), "results", KeptDocuments.of(directory, progress))


def source_of_collection(
    place: str, *, end_row: int | None = None, is_read_only: bool = False, with_unread: bool = False
) -> StoredSource:
    """Return the current documents of a collection as a source."""
    try:
        from nearkin.store.place import Place
        from nearkin.workflows.reading.collection_documents import CollectionDocuments
    except ImportError as error:
        raise MissingExtraError.of("Reading a collection", "collection") from error
    parsed = Place.parse(place)
    documents = CollectionDocuments.now(parsed, end_row=end_row, is_read_only=is_read_only, with_unread=with_unread)
    return _stored(str(parsed), "collection", documents)


def _stored(path: str, file_format: StoredFormat, documents: StoredDocuments) -> StoredSource:
    size_bytes = documents.size_bytes
    return StoredSource(path=path, name=printable(path), format=file_format, size_bytes=size_bytes, documents=documents)


def stored_source(entry: InputFile, in_memory: GivenAgain = NONE_GIVEN) -> StoredSource:
    """Return the source named by a manifest, whose digest the caller compares; SourceError if it needs a password."""
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
