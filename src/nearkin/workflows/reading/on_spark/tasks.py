"""Inputs of tasks, and inputs that only this machine can read."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pickle
import socket
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import metadata
from typing import cast

import numpy as np
import pyarrow as pa

from nearkin.engines.spark.layout import Block
from nearkin.errors import ParameterError, SourceError
from nearkin.nouns import counted
from nearkin.paths import STDIN
from nearkin.records import I64
from nearkin.runs.progress import Progress
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.identity import RecordsByPath, SourceRecord
from nearkin.workflows.reading.inputs import FileInput, Input, LooseFilesInput, StoredSource, file_inputs
from nearkin.workflows.reading.on_spark.notes import (
    DriverFiles,
    FileChecksum,
    Notes,
    Seen,
    WatchedFiles,
    other_file,
    visible_difference,
)
from nearkin.workflows.reading.texts import Texts

_FILES_A_TASK = 2048
NOT_KNOWN: RecordsByPath = {}


def check_can_be_shared(sources: Sequence[Source]) -> None:
    """Check that other machines can read the input, again if one of them is lost.

    Raises
    ------
    ParameterError
        Standard input, a collection, or the results of a run.
    """
    for source in sources:
        if isinstance(source, StoredSource):
            what = "is a collection" if source.format == "collection" else "holds the results of a run"
            raise ParameterError(
                f"With --engine spark every worker reads the input, and {source.name} {what}, which only one machine "
                "can read. Name files instead; nearkin dedup --write-kept writes files."
            )
        if source.path == STDIN:
            raise standard_input_of_this_machine()


def standard_input_of_this_machine() -> ParameterError:
    """Return the error for standard input."""
    return ParameterError(
        "With --engine spark every worker reads the input, and standard input is a pipe of this machine. Save it to a "
        "file on a disk that all workers can read."
    )


def split(inputs: Sequence[Input]) -> list[Input]:
    """Split documents into more inputs, one for each task."""
    parts: list[Input] = []
    for one in inputs:
        if isinstance(one, LooseFilesInput):
            starts = range(0, len(one.sources), _FILES_A_TASK)
            parts += [replace(one, sources=one.sources[i : i + _FILES_A_TASK]) for i in starts]
        else:
            parts.append(one)
    return parts


def task_blocks(sources: Sequence[Source], encoding: str, known: RecordsByPath = NOT_KNOWN) -> list[Block]:
    """Return the inputs of all tasks in reading order: one file of many documents, or some thousand files of one.

    Raises
    ------
    ParameterError
        See `check_can_be_shared`.
    """
    check_can_be_shared(sources)
    inputs = split(file_inputs(sources, encoding=encoding))
    return [Block("input", i, pickle.dumps(TaskInput.of(cast("Files", one), known))) for i, one in enumerate(inputs)]


def task_input(blocks: Sequence[Block]) -> TaskInput:
    """Return the input given to a task."""
    found: TaskInput = pickle.loads(blocks[0].data)  # noqa: S301 (from the driver, through Spark, as tasks are)
    return found


@contextlib.contextmanager
def reading_texts(given: TaskInput, rules: ReadingRules, notes: Notes) -> Iterator[Texts]:
    """Lend the documents of an input for reading on this machine; see `TaskInput.reading`.

    Raises
    ------
    SourceError
        A file differs from the driver's, or changed while it was read.
    """
    with given.reading(notes) as one:
        yield Texts(given.sources, (one,), rules)


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
    digests : tuple of SourceRecord or None
        Each of its files with its digest; None if the driver did not compute it.
    extractors : tuple of str
        Libraries of the driver that extract texts, with their versions; none if no file is a document.
    """

    one: Files
    seen: tuple[Seen | None, ...]
    digests: tuple[SourceRecord | None, ...]
    extractors: tuple[str, ...] = ()

    @classmethod
    def of(cls, one: Files, records: RecordsByPath = NOT_KNOWN) -> TaskInput:
        """Record an input as this machine sees it; files with a digest, as they were before it was computed."""
        known = tuple(records.get(source.path) for source in _sources(one))
        if isinstance(one, LooseFilesInput):
            one = replace(one, sources=tuple(map(_absolute, one.sources)), n_workers=1)  # a task has one processor
        else:
            one = replace(one, source=_absolute(one.source))
        is_extracted = any(FORMATS[source.format].is_extracted for source in _sources(one))
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
        one = self.one
        try:
            if isinstance(one, LooseFilesInput):
                yield WatchedLooseFiles.of(one, watched)
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


_STREAM = "attempts"
_ROWS_A_BLOCK = 500
_DIGEST_CHARACTERS = 32


@dataclass(frozen=True, slots=True, order=True)
class TaskAttempt:
    """Copies of the driver's files that an attempt at a task read.

    Parameters
    ----------
    task : int
    files : str
        Numbers of those files of the input that have other times than the driver's, as bits of a hexadecimal number.
    digest : str
        Digest of their checksums, in the order of the input.
    """

    task: int
    files: str
    digest: str

    @classmethod
    def of(cls, task: int, given: TaskInput, notes: Notes) -> TaskAttempt | None:
        """Return None for an attempt that read only files with the driver's times."""
        sha256 = {one.path: one.sha256 for one in notes.checksums}
        numbers = [i for i, source in enumerate(given.sources) if source.path in sha256]
        if not numbers:
            return None
        digest = _digest(sha256[given.sources[i].path] for i in numbers)
        return cls(task, f"{sum(1 << i for i in numbers):x}", digest)

    def numbers(self) -> list[int]:
        """Return the numbers of the files."""
        bits = int(self.files, 16)
        return [i for i in range(bits.bit_length()) if bits >> i & 1]


def attempt_blocks(attempts: Sequence[TaskAttempt], target: int) -> Iterator[Block]:
    """Yield the attempts for a target."""
    for first in range(0, len(attempts), _ROWS_A_BLOCK):
        rows = [[one.task, one.files, one.digest] for one in attempts[first : first + _ROWS_A_BLOCK]]
        yield Block(_STREAM, target, json.dumps(rows).encode())


def attempts_among(blocks: Iterable[Block]) -> list[TaskAttempt]:
    """Return the attempts in some blocks, by task."""
    rows = [row for block in blocks if block.stream == _STREAM for row in json.loads(bytes(block.data))]
    return sorted(TaskAttempt(*row) for row in rows)


def refuse_other_attempts(blocks: Sequence[Block], tasks: Sequence[Block], driver: DriverFiles) -> None:
    """Compare attempts whose checksums did not reach target 0 with the files of this machine, which is the driver.

    Raises
    ------
    SourceError
        An attempt read other bytes, or the file of this machine changed since the task was made.
    """
    of_blocks = [block for block in blocks if block.stream == _STREAM]
    compared = set(attempts_among(block for block in of_blocks if block.target == 0))
    others = sorted({one for block in of_blocks for one in attempts_among([block])} - compared)
    given = {one.task: task_input([tasks[one.task]]) for one in others}
    paths = {given[one.task].sources[i].path for one in others for i in one.numbers()}
    own_sha256 = driver.digests(sorted(paths)) if paths else {}
    for one in others:
        sources, seen = given[one.task].sources, given[one.task].seen
        for i in one.numbers():
            expected, own = seen[i], Seen.of(sources[i].path)
            if expected is None or own is None or own.noted_ns != expected.noted_ns:
                raise other_file(sources[i].name, sources[i].path, None, "the driver's file changed while it was read")
        own_files = [sources[i] for i in one.numbers()]
        if _digest(own_sha256[source.path] for source in own_files) != one.digest:
            n_more = len(own_files) - 1
            name = own_files[0].name + (f", or one of {counted(n_more, 'file')} read with it," if n_more else "")
            raise other_file(name, own_files[0].path, None, "its content differs")


def _digest(checksums: Iterable[str]) -> str:
    return hashlib.sha256("".join(checksums).encode()).hexdigest()[:_DIGEST_CHARACTERS]
