"""What a source was before it was read: to notice changes, to resume, to read it again."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.errors import SourceError
from nearkin.formats.sealed import missing_file
from nearkin.manifests.stored import InputFile
from nearkin.nouns import counted
from nearkin.paths import STDIN, file_sha256, printable, shown_path
from nearkin.runs.files import read_work_json, write_checked_json
from nearkin.runs.progress import Meter
from nearkin.runs.run import JobRun
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.source import Source
from nearkin.workflows.reading.inputs import StoredSource, places_of_files
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
        changed_ns=source.changed_ns if source.sha256 is None else None,
    )


def input_files(sources: Sequence[Source], of_documents: pa.ChunkedArray) -> tuple[InputFile, ...]:
    """Return the entries of a manifest, with the number of documents by the name of the source of each."""
    counts = {entry["values"]: entry["counts"] for entry in of_documents.value_counts().to_pylist()}
    places = map(printable, places_of_files(sources))
    return tuple(
        replace(input_file(source), n_documents=counts.get(place, 0))
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
