"""Inputs of tasks, and their messages and exceptions, which the driver takes in order."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import socket
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
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.source import Source
from nearkin.wording import restored
from nearkin.workflows.reading.inputs import Input, StoredSource, inputs_of
from nearkin.workflows.reading.rereading import digested, seen
from nearkin.workflows.reading.texts import ExceptionRow, Texts

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
        if isinstance(source, StoredSource) or source.path == STDIN:
            what = {"collection": "a collection", "results": "the results of a run"}.get(source.format, "a pipe")
            raise ParameterError(
                f"With --engine spark every worker reads the input. {source.name} is {what}, which only one machine "
                "can read. Name files instead; nearkin dedup --write-kept writes files."
            )


def task_blocks(sources: Sequence[Source]) -> list[Block]:
    """Return the inputs of all tasks in reading order."""
    check_can_be_shared(sources)
    inputs = [TaskInput.of(part) for part in inputs_of(sources)]
    return [Block("input", i, pickle.dumps(part)) for i, part in enumerate(inputs)]


@contextlib.contextmanager
def reading_texts(blocks: Sequence[Block], rules: ReadingRules) -> Iterator[Texts]:
    """Lend the documents of the input of a task for reading on this machine; see `TaskInput.reading`."""
    given: TaskInput = pickle.loads(blocks[0].data)  # noqa: S301 (from the driver, through Spark, as tasks are)
    with given.reading() as part:
        yield Texts((part,), rules)


@dataclass(frozen=True, slots=True)
class TaskInput:
    """Input with its files as the driver saw them, and the versions of the libraries that extract texts."""

    one: Input
    extractors: tuple[str, ...] = ()

    @classmethod
    def of(cls, part: Input) -> TaskInput:
        """Record an input as this machine sees it, unless its files were seen before."""
        known = (source if source.changed_ns is not None else seen(source) for source in part.sources)
        sources = tuple(replace(source, path=os.path.abspath(source.path)) for source in known)
        return cls(
            replace(part, sources=sources, n_workers=1),  # a task has one processor
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
        """
        if self.extractors and (installed := installed_extractors()) != self.extractors:
            raise SourceError(
                f"{self.sources[0].name}: the worker {socket.gethostname()} extracts texts with "
                f"{', '.join(installed) or 'nothing'}, the driver with {', '.join(self.extractors)}. Install "
                "nearkin[documents] in the same versions on every machine."
            )
        before = [seen(source) for source in self.sources]
        for source, local in zip(self.sources, before, strict=True):
            if local.changed_ns is None:
                raise other_file(source, "it does not exist")
            is_as_seen = _moment(local) == _moment(source) and os.access(source.path, os.R_OK)
            if not is_as_seen and (source.sha256 is None or digested(local).sha256 != source.sha256):
                raise other_file(source, "its content differs")
        try:
            yield self.one
        finally:  # also after an error: what seems wrong with a file may be that it changed
            for local in before:
                with contextlib.suppress(OSError):  # on NFS, size and times are those of the server once it was opened
                    os.close(os.open(local.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
                if _moment(seen(local)) != _moment(local):
                    raise other_file(local, "it changed while it was read")


def _moment(source: Source) -> tuple[int, int | None, int | None]:
    return source.size_bytes, source.changed_ns, source.noted_ns


def other_file(source: Source, how: str) -> SourceError:
    """Return the error for a file of this machine, a worker, that is not the driver's."""
    return SourceError(
        f"{source.name} is not the same file on the worker {socket.gethostname()}: {how}. Every worker must see the "
        f"input as the driver does, under the same path ({source.path}), on NFS for example; and nothing may write to "
        "it."
    )


def installed_extractors() -> tuple[str, ...]:
    """Return the installed libraries of the extra ``documents``, with their versions."""
    versions = []
    for name in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions.append(f"{name} {metadata.version(name)}")
    return tuple(versions)


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
    """Return the blocks of a stage whose tasks read one input each, and show their messages."""
    try:
        blocks = stages.kept(name, lambda: stages.given(tasks).shuffled(max(len(tasks), 1), reading)).collected()
    finally:
        remove_unpublished(folder)
    for _, messages in sorted(json.loads(bytes(block.data)) for block in blocks if block.stream == _NOTES):
        for message in messages:
            progress.say(restored(message))
    return blocks


def exception_blocks(texts: Texts, number: int) -> Iterator[Block]:
    """Yield the number of documents in the input of a number, and its exceptions, for this target."""
    exceptions = [asdict(exception) for exception in texts.exceptions]
    for first in range(0, max(len(exceptions), 1), _ROWS_A_BLOCK):
        rows = exceptions[first : first + _ROWS_A_BLOCK]
        yield Block(_EXCEPTIONS, number, json.dumps([first, texts.n_documents, rows]).encode())


def take_exceptions(blocks: Sequence[Block], texts: Texts) -> None:
    """Note the exceptions among blocks of tasks that each read one input, as those of all texts."""
    parts = dict[int, tuple[int, list[ExceptionRow]]]()
    of_tasks = [(block.target, *json.loads(bytes(block.data))) for block in blocks if block.stream == _EXCEPTIONS]
    for number, _, n_documents, rows in sorted(of_tasks, key=lambda part: part[:2]):
        parts.setdefault(number, (n_documents, []))[1].extend(ExceptionRow(**row) for row in rows)
    first_row = first_source = 0
    for number, part in enumerate(texts.inputs):
        n_documents, exceptions = parts[number]
        texts.take_exceptions(first_row, [replace(row, source=row.source + first_source) for row in exceptions])
        first_row, first_source = first_row + n_documents, first_source + len(part.sources)


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
