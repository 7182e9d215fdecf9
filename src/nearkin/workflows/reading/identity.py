"""What a source was before it was read: to notice changes, to resume, to read it again."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from nearkin.engines.local import map_ordered
from nearkin.errors import SourceError
from nearkin.formats.sealed import missing_file
from nearkin.manifests.stored import InputFile
from nearkin.nouns import counted
from nearkin.paths import STDIN, printable, shown_path
from nearkin.runs.files import read_work_json, write_work_json
from nearkin.runs.progress import Meter
from nearkin.runs.run import JobRun
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.formats import FORMATS, StoredFormat
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.inputs import StoredSource
from nearkin.workflows.resources import Resources

STORED: Sequence[str] = get_args(StoredFormat)
"""Formats of sources that are not files."""
_MAX_NAMED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord:
    """A source at one time.

    Parameters
    ----------
    changed_ns
        Time of the last change, in nanoseconds since 1970; None for a pipe, or if there is no file.
    noted_ns
        Time at which the system noted the last change of the file, which programs cannot set. Not stored.
    sha256
        Digest of the bytes of a file, if it was computed; of the documents of a collection or a run.
    texts_sha256
        Digest of the texts in files that a load file names, if it was computed.
    end_row
        Upper limit of the numbers of a collection's documents in its store.
    encoding
        Encoding of what is not UTF-8 in the file. Not stored.
    """

    source: Source
    changed_ns: int | None = None
    noted_ns: int | None = field(default=None, compare=False)
    sha256: str | None = None
    texts_sha256: str | None = None
    end_row: int | None = None
    encoding: str = field(default="utf-8", compare=False)

    @classmethod
    def of(cls, source: Source, encoding: str = "utf-8") -> SourceRecord:
        """Record a source as it is now; the bytes of files are not read."""
        if isinstance(source, StoredSource):
            return cls(source=source, sha256=source.documents.digest, end_row=source.documents.end_row)
        try:
            status = os.stat(source.path)
        except (OSError, ValueError):
            return cls(source=source, encoding=encoding)
        if source.path == STDIN or not stat.S_ISREG(status.st_mode):
            return cls(source=source, encoding=encoding)
        return cls(
            source=replace(source, size_bytes=status.st_size),
            changed_ns=status.st_mtime_ns,
            noted_ns=status.st_ctime_ns,
            encoding=encoding,
        )

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> SourceRecord:
        """Read the result of `as_stored`."""
        values = {name: stored.get(name) for name in ("changed_ns", "sha256", "end_row")}
        return cls(source=Source.of_stored(stored["source"]), **values)  # type: ignore[arg-type]

    def as_stored(self) -> dict[str, object]:
        """Return the record as JSON types; without the digest of a file."""
        source = self.source
        if self.is_stored:  # without its documents
            source = Source(
                path=source.path, name=source.name, format=source.format, text=source.text, id=source.id,
                size_bytes=source.size_bytes,
            )  # fmt: skip
        source = replace(source, path=shown_path(source.path), name=printable(source.name))
        stored: dict[str, object] = {"source": source.as_stored(), "changed_ns": self.changed_ns}
        return {**stored, "sha256": self.sha256, "end_row": self.end_row} if self.is_stored else stored

    @property
    def is_stored(self) -> bool:
        """Whether it is a collection, the result of a run or a table in memory, not a file."""
        return self.source.format in STORED

    @property
    def has_many_documents(self) -> bool:
        """Whether this is not a file of a single document."""
        return self.is_stored or FORMATS[self.source.format].holds != "one document"

    @property
    def file(self) -> InputFile:
        """Entry of a manifest."""
        source = self.source
        return InputFile(
            path=shown_path(source.path),
            size_bytes=source.size_bytes,
            sha256=self.sha256,
            format=source.format,
            text=source.text,
            id=source.id,
            name=printable(source.name),
            end_row=self.end_row,
            texts_sha256=self.texts_sha256,
        )

    def differs(self, now: SourceRecord) -> bool:
        """Whether the size or the time of a file is another one now."""
        return (now.changed_ns, now.source.size_bytes) != (self.changed_ns, self.source.size_bytes)

    @property
    def is_unchanged(self) -> bool:
        """Whether size and time are the same, and the digest, if the system noted another change."""
        if isinstance(self.source, StoredSource):
            return self.source.documents.is_unchanged
        now = SourceRecord.of(self.source)
        if self.differs(now):
            return False
        return now.noted_ns == self.noted_ns or self.sha256 in (None, file_sha256(self.source.path))

    def digested(self) -> SourceRecord:
        """Return the record with digests of a file and the texts that it names; None if it cannot be read."""
        source = self.source
        if self.is_stored or source.path == STDIN:
            return self
        try:
            sha256 = file_sha256(source.path)
        except (OSError, SourceError):
            return self
        reader = FORMATS[source.format].reader
        texts = reader.digest_of_texts(source, self.encoding) if source.format == "load-file" else None
        return replace(self, sha256=sha256, texts_sha256=texts)


SourceRecords = Sequence[SourceRecord]
RecordsByPath = Mapping[str, SourceRecord]


def records_of(sources: Iterable[Source], encoding: str = "utf-8") -> tuple[SourceRecord, ...]:
    """Record the sources as they are now."""
    return tuple(SourceRecord.of(source, encoding) for source in sources)


def by_path(records: SourceRecords) -> RecordsByPath:
    """Return the records by the paths of their sources."""
    return {record.source.path: record for record in records}


def check_unchanged(records: SourceRecords) -> None:
    """Raise SourceError if sources changed since they were recorded."""
    for record in records:
        if not record.is_unchanged:
            raise changed_while_read(record.source.path)


def with_digests(records: SourceRecords, resources: Resources, meter: Meter) -> tuple[SourceRecord, ...]:
    """Return the records with the digests of files.

    A separate pass: a reader of Parquet skips some bytes, and a resumed run does not read again what is in its spool.
    """
    if not records:
        return ()
    digested = []
    with meter.stage("digest inputs", sum(record.source.size_bytes for record in records), "bytes") as progress:
        for record in map_ordered(SourceRecord.digested, records, threads=resources.n_threads):
            digested.append(record)
            progress.advance(record.source.size_bytes)
    return tuple(digested)


def digested_sides(
    sides: Mapping[str, SourceRecords], run: JobRun, resources: Resources
) -> dict[str, tuple[SourceRecord, ...]]:
    """Compute the digests of all files of a run; ResumeError if they are not those of the interrupted run."""
    digested = {side: with_digests(records, resources, run.meter) for side, records in sides.items()}
    now = {
        side: {shown_path(record.source.path): [record.sha256, record.texts_sha256] for record in records}
        for side, records in digested.items()
    }
    if run.input_digests.exists():
        before = read_work_json(run.input_digests, tuple(now))
        for side, digests in now.items():
            for path, digest in digests.items():
                if before[side].get(path) != digest:
                    raise run.cannot_be_resumed(f"{path} has other bytes")
    elif run.has_work:
        raise missing_file(run.input_digests)
    else:
        write_work_json(run.input_digests, now)
    return digested


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
