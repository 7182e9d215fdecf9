"""Inputs of tasks, and their messages and exceptions, which the driver takes in order.

The driver digests every file before a task reads it. A worker whose file has other times compares the bytes.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import socket
import stat
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.engines.spark.layout import Block
from nearkin.errors import ParameterError, SourceError
from nearkin.paths import STDIN
from nearkin.runs.files import remove_unpublished
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import Source
from nearkin.wording import restored
from nearkin.workflows.reading.exceptions import ExceptionRow
from nearkin.workflows.reading.identity import RecordsByPath
from nearkin.workflows.reading.inputs import Input, StoredSource, inputs_of
from nearkin.workflows.reading.texts import Texts

if TYPE_CHECKING:
    from pathlib import Path

    from nearkin.engines.spark.blocks import Task
    from nearkin.engines.spark.stages import Stages

_NOTES, _EXCEPTIONS = "notes", "exceptions"
_ROWS_A_BLOCK = 500
_LIBRARIES = ("xberg", "pypdfium2", "charset-normalizer", "libpff-python")


def check_can_be_shared(sources: Sequence[Source]) -> None:
    """Raise ParameterError for input that other machines cannot read again: standard input, collections, runs."""
    for source in sources:
        if isinstance(source, StoredSource):
            what = "is a collection" if source.format == "collection" else "holds the results of a run"
            raise ParameterError(
                f"With --engine spark every worker reads the input, and {source.name} {what}, which only one machine "
                "can read. Name files instead; nearkin dedup --write-kept writes files."
            )
        if source.path == STDIN:
            raise ParameterError(
                "With --engine spark every worker reads the input, and standard input is a pipe of this machine. Save "
                "it to a file on a disk that all workers can read."
            )


def task_blocks(sources: Sequence[Source], encoding: str, records: RecordsByPath) -> list[Block]:
    """Return the inputs of all tasks in reading order."""
    check_can_be_shared(sources)
    inputs = [TaskInput.of(one, records) for one in inputs_of(sources, encoding=encoding)]
    return [Block("input", i, pickle.dumps(one)) for i, one in enumerate(inputs)]


def task_input(blocks: Sequence[Block]) -> TaskInput:
    """Return the input given to a task."""
    found: TaskInput = pickle.loads(blocks[0].data)  # noqa: S301 (from the driver, through Spark, as tasks are)
    return found


@contextlib.contextmanager
def reading_texts(given: TaskInput, rules: ReadingRules) -> Iterator[Texts]:
    """Lend the documents of an input for reading on this machine; see `TaskInput.reading`."""
    with given.reading() as one:
        yield Texts(given.sources, (one,), rules)


@dataclass(frozen=True, slots=True)
class Seen:
    """File as a machine sees it: its last change in whole seconds, as some file systems store it, and noted in ns."""

    size_bytes: int
    changed_s: int
    is_readable: bool
    noted_ns: int | None

    @classmethod
    def of(cls, path: str) -> Seen | None:
        """Return None if there is no such file."""
        try:
            found = os.stat(path)
        except OSError:
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        is_readable = os.access(path, os.R_OK)
        return cls(found.st_size, found.st_mtime_ns // 10**9, is_readable, found.st_ctime_ns)

    @classmethod
    def afresh(cls, path: str) -> Seen | None:
        """Open the file first: on NFS, its size and times are then those of the server."""
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
        return cls.of(path)


@dataclass(frozen=True, slots=True)
class TaskInput:
    """Input with its files as the driver saw them, and the versions of the libraries that extract texts.

    Paths are absolute, because a task runs in another directory.
    """

    one: Input
    seen: tuple[Seen | None, ...]
    digests: tuple[str | None, ...]
    extractors: tuple[str, ...] = ()

    @classmethod
    def of(cls, one: Input, records: RecordsByPath) -> TaskInput:
        """Record an input as this machine saw it before the digests were computed."""
        known = [records.get(source.path) for source in one.sources]
        seen = [Seen.of(source.path) for source in one.sources]
        sources = tuple(replace(source, path=os.path.abspath(source.path)) for source in one.sources)
        return cls(
            replace(one, sources=sources, n_workers=1),  # a task has one processor
            tuple(
                found if record is None or found is None else replace(found, noted_ns=record.noted_ns)
                for found, record in zip(seen, known, strict=True)
            ),
            tuple(None if record is None else record.sha256 for record in known),
            installed_extractors() if any(FORMATS[source.format].is_extracted for source in sources) else (),
        )

    @property
    def sources(self) -> tuple[Source, ...]:
        """Sources of the input."""
        return self.one.sources

    @contextlib.contextmanager
    def reading(self) -> Iterator[Input]:
        """Lend the input for reading on this machine, until this block ends.

        SourceError if a file differs from the driver's, or the libraries that extract texts do: the texts would, too.
        Without this check a missing folder would look like a folder of unreadable documents.
        """
        if self.extractors and (own := installed_extractors()) != self.extractors:
            raise SourceError(
                f"{self.sources[0].name}: the worker {socket.gethostname()} extracts texts with "
                f"{', '.join(own) or 'nothing'}, the driver with {', '.join(self.extractors)}. Install "
                "nearkin[documents] in the same versions on every machine."
            )
        before = [Seen.of(source.path) for source in self.sources]
        for source, expected, digest, found in zip(self.sources, self.seen, self.digests, before, strict=True):
            if found != expected and (found is None or digest is None or file_sha256(source.path) != digest):
                raise other_file(source, "it does not exist" if found is None else "its content differs")
        try:
            yield self.one
        finally:  # also after an error: what seems wrong with a file may be that it changed
            for source, found in zip(self.sources, before, strict=True):
                if Seen.afresh(source.path) != found:
                    raise other_file(source, "it changed while it was read")


def other_file(source: Source, how: str) -> SourceError:
    """Return the error for a file of this machine, a worker, that is not the driver's."""
    return SourceError(
        f"{source.name} is not the same file on the worker {socket.gethostname()}: {how}. Every worker must see the "
        f"input as the driver does, under the same path ({source.path}), on NFS for example; and nothing may write to "
        "it."
    )


def installed_extractors() -> tuple[str, ...]:
    """Return the installed libraries of the extra ``documents``, with their versions."""
    found = []
    for name in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found.append(f"{name} {metadata.version(name)}")
    return tuple(found)


class Notes(Silent):
    """Progress that stores messages.

    Examples
    --------
    >>> notes = Notes()
    >>> notes.say("3 pages were left out")
    >>> [block.data for block in notes.blocks(7, target=0)]
    [b'[7, ["3 pages were left out"]]']
    """

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, message: str) -> None:
        """Store a message."""
        self.said.append(message)

    def blocks(self, number: int, *, target: int) -> Iterator[Block]:
        """Yield the messages about the input of a number, if any."""
        if self.said:
            yield Block(_NOTES, target, json.dumps([number, self.said]).encode())


def read_by_tasks(
    stages: Stages,
    name: str,
    tasks: Sequence[Block],
    reading: Task,
    progress: Progress,
    *,
    folder: Path,
) -> list[Block]:
    """Return the blocks of a stage whose tasks read one input each, and show their messages.

    The tasks publish files in ``folder``, from which what lost attempts left is removed.
    """
    try:
        found = stages.kept(name, lambda: stages.given(tasks).shuffled(max(len(tasks), 1), reading)).collected()
    finally:
        remove_unpublished(folder)
    for _, said in sorted(json.loads(bytes(block.data)) for block in found if block.stream == _NOTES):
        for message in said:
            progress.say(restored(message))
    return found


def exception_blocks(texts: Texts, number: int) -> Iterator[Block]:
    """Yield the number of documents in the input of a number, and its exceptions, for this target."""
    exceptions = [asdict(one) for one in texts.exceptions]
    for first in range(0, max(len(exceptions), 1), _ROWS_A_BLOCK):
        rows = exceptions[first : first + _ROWS_A_BLOCK]
        yield Block(_EXCEPTIONS, number, json.dumps([first, texts.n_documents, rows]).encode())


def take_exceptions(blocks: Sequence[Block], texts: Texts) -> None:
    """Note the exceptions among blocks of tasks that each read one input, as those of all texts."""
    parts = dict[int, tuple[int, list[ExceptionRow]]]()
    of_tasks = [(block.target, *json.loads(bytes(block.data))) for block in blocks if block.stream == _EXCEPTIONS]
    for number, _, n_documents, rows in sorted(of_tasks, key=lambda one: one[:2]):
        parts.setdefault(number, (n_documents, []))[1].extend(ExceptionRow(**row) for row in rows)
    first_row = first_source = 0
    for number, one in enumerate(texts.inputs):
        n_documents, exceptions = parts[number]
        texts.take_exceptions(first_row, [replace(row, source=row.source + first_source) for row in exceptions])
        first_row, first_source = first_row + n_documents, first_source + len(one.sources)


_OR_LEAVE_OUT = "Choose another column, or omit id to number the rows."


def check_have_ids(rows: pa.RecordBatch, column: str | None) -> None:
    """Raise ParameterError if rows have no id; an empty string is none, as in files."""
    if column is None:
        return
    ids = rows[column]
    is_text = pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type)
    if ids.null_count or (is_text and pc.any(pc.equal(ids, "")).as_py()):
        raise ParameterError(f"Ids must be unique, and in column {column!r} some rows have none. {_OR_LEAVE_OUT}")


def repeated_ids(column: str, repeated: Sequence[tuple[int, int]], place: str = "") -> ParameterError:
    """Return the error for rows whose ids earlier rows have; ``place`` is the data frame, if there are two."""
    row, earlier = repeated[0]
    return ParameterError(
        f"Ids must be unique, and in column {column!r}{place} {len(repeated):,} are repeated: row {row + 1:,} has "
        f"the id of row {earlier + 1:,}. {_OR_LEAVE_OUT}"
    )
