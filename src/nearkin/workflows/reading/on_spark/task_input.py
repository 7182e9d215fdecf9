"""Input of one task, checked to be the files that the driver found."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import metadata

import numpy as np
import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.records import I64
from nearkin.runs.progress import Progress
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.formats.extracted import Extracted
from nearkin.stages.documents.load_files.texts_digest import TextsDigest
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.input_digests import NO_DIGESTS, FileDigest, FileDigests
from nearkin.workflows.reading.inputs import FileInput, LooseFilesInput
from nearkin.workflows.reading.on_spark.notes import Notes
from nearkin.workflows.reading.on_spark.seen_files import (
    FileChecksum,
    Seen,
    WatchedFiles,
    other_file,
    other_texts,
    visible_difference,
)

Files = FileInput | LooseFilesInput
_LIBRARIES = ("xberg", "pypdfium2", "pypdf", "charset-normalizer", "libpff-python")


@dataclass(frozen=True, slots=True)
class TaskInput:
    """Input with its files as the driver saw them.

    Parameters
    ----------
    one : Files
        Its paths are absolute, because a task runs in another directory.
    seen : tuple of Seen or None
        Facts about each of its files.
    digests : tuple of FileDigest or None
        Digest of each of its files; None if the driver did not compute it.
    extractors : tuple of str
        Libraries of the driver that extract texts, with their versions; none if no file is a document.
    """

    one: Files
    seen: tuple[Seen | None, ...]
    digests: tuple[FileDigest | None, ...]
    extractors: tuple[str, ...] = ()

    @classmethod
    def of(cls, one: Files, digests: FileDigests = NO_DIGESTS) -> TaskInput:
        """Record an input as this machine sees it; files with a digest, as they were before it was computed."""
        known = tuple(digests.get(source.path) for source in _sources(one))
        if isinstance(one, LooseFilesInput):
            one = replace(one, sources=tuple(map(_absolute, one.sources)), n_workers=1)  # a task has one processor
        else:
            one = replace(one, source=_absolute(one.source))
        is_extracted = any(isinstance(FORMATS[source.format], Extracted) for source in _sources(one))
        seen = tuple(
            found if digest is None or found is None else replace(found, noted_ns=digest.noted_ns)
            for found, digest in zip([Seen.of(source.path) for source in _sources(one)], known, strict=True)
        )
        return cls(one, seen, known, installed_extractors() if is_extracted else ())

    @property
    def sources(self) -> tuple[Source, ...]:
        """Sources of the input."""
        return _sources(self.one)

    def versions(self, notes: Notes) -> list[dict[str, object]]:
        """Return the version of each file that is read, after `reading` noted the checksums.

        It is the driver's digest, which is the same for all attempts at the task. Without one it is what the driver
        saw, and the SHA-256 if the file has other times here.
        """
        sha256 = {one.path: one.sha256 for one in notes.checksums}
        return [
            {"driver": None if seen is None else asdict(seen), "sha256": sha256.get(source.path)}
            if digest is None or digest.sha256 is None
            else {"sha256": digest.sha256}
            for source, seen, digest in zip(self.sources, self.seen, self.digests, strict=True)
        ]

    @contextlib.contextmanager
    def reading(self, notes: Notes) -> Iterator[Files]:
        """Lend the input for reading on this machine.

        Files with other times than the driver's are compared by their bytes, or noted with checksums if the driver has
        not read them. The batches of files of one document are yielded only if these files have not changed; what is
        made of any other file must not be used before this block has ended.

        Raises
        ------
        SourceError
            A file differs from the driver's, or changed while it was read. Without this check a missing folder would
            look like a folder of unreadable documents. Or the libraries that extract texts differ: the texts would,
            too.
        """
        worker = socket.gethostname()
        if self.extractors and (own := installed_extractors()) != self.extractors:
            raise SourceError(
                f"{self.sources[0].name}: the worker {worker} extracts texts with "
                f"{', '.join(own) or 'nothing'}, the driver with {', '.join(self.extractors)}. Install "
                "nearkin[documents] in the same versions on every machine."
            )
        watched = WatchedFiles(self.sources, tuple(Seen.of(source.path) for source in self.sources), worker)
        self._compare(watched, notes)
        one, digest = self.one, self.digests[0] if self.digests else None
        try:
            if isinstance(one, LooseFilesInput):
                yield WatchedLooseFiles.of(one, watched)
            elif digest is not None and digest.texts_sha256 is not None:
                yield WatchedLoadFile.of(one, digest.texts_sha256, worker)
            else:
                yield one
        except Exception:
            watched.check_all()  # what seems wrong with a file may be that it changed
            raise
        watched.check_all()

    def _compare(self, watched: WatchedFiles, notes: Notes) -> None:
        """Compare the files of this machine with the driver's."""
        for source, expected, digest, found in zip(self.sources, self.seen, self.digests, watched.seen, strict=True):
            if (how := visible_difference(expected, found)) is not None:
                raise other_file(source.name, source.path, watched.worker, how)
            if expected is None or found == expected or not expected.is_readable:
                continue
            sha256 = file_sha256(source.path)
            if digest is None or digest.sha256 is None:
                checksum = FileChecksum(source.name, source.path, watched.worker, sha256, expected.noted_ns)
                notes.checksums.append(checksum)
            elif sha256 != digest.sha256:
                raise other_file(source.name, source.path, watched.worker, "its content differs")


@dataclass(frozen=True, slots=True)
class WatchedLooseFiles(LooseFilesInput):
    """Files of one document each, of which a batch is yielded only if they are still as they were.

    So what attempts at a task store of these files, batch by batch, is of the same bytes.

    Parameters
    ----------
    watched : WatchedFiles
        The files, by the same numbers.
    """

    watched: WatchedFiles = field(kw_only=True)

    @classmethod
    def of(cls, one: LooseFilesInput, watched: WatchedFiles) -> WatchedLooseFiles:
        """Watch an input."""
        return cls(**{each.name: getattr(one, each.name) for each in fields(one)}, watched=watched)

    def batches(self, progress: Progress) -> Iterator[tuple[pa.RecordBatch, I64]]:
        """Yield the batches; see `LooseFilesInput.batches`.

        Raises
        ------
        SourceError
            A file changed.
        """
        for batch, numbers in LooseFilesInput.batches(self, progress):
            self.watched.check(np.unique(numbers).tolist())
            yield batch, numbers


@dataclass(frozen=True, slots=True)
class WatchedLoadFile(FileInput):
    """Load file whose text files are compared with those of the driver while they are read.

    Parameters
    ----------
    texts_sha256 : str
        Digest of the driver; see `TextsDigest`.
    worker : str
        Name of this machine.
    """

    texts_sha256: str = field(kw_only=True)
    worker: str = field(kw_only=True)

    @classmethod
    def of(cls, one: FileInput, texts_sha256: str, worker: str) -> WatchedLoadFile:
        """Watch an input."""
        own = {each.name: getattr(one, each.name) for each in fields(one)}
        return cls(**own, texts_sha256=texts_sha256, worker=worker)

    def batches(self, progress: Progress) -> Iterator[tuple[pa.RecordBatch, int]]:
        """Yield the batches; see `FileInput.batches`.

        Raises
        ------
        SourceError
            At the end: a text differs from the driver's.
        """
        texts = TextsDigest()
        yield from self.batches_with_texts(progress, texts.add)
        if texts.hexdigest() != self.texts_sha256:
            raise other_texts(self.source, self.worker)


def installed_extractors() -> tuple[str, ...]:
    """Return the installed libraries of the extra ``documents``, with their versions."""
    found = []
    for name in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found.append(f"{name} {metadata.version(name)}")
    return tuple(found)


def _sources(one: Files) -> tuple[Source, ...]:
    return one.sources if isinstance(one, LooseFilesInput) else (one.source,)


def _absolute(source: Source) -> Source:
    return replace(source, path=os.path.abspath(source.path))
