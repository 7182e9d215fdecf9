"""Inputs of tasks, and inputs that only this machine can read."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from nearkin.engines.spark.layout import Block
from nearkin.errors import ParameterError
from nearkin.paths import STDIN
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.input_digests import NO_DIGESTS, FileDigests
from nearkin.workflows.reading.inputs import Input, LooseFilesInput, StoredSource, file_inputs
from nearkin.workflows.reading.on_spark.notes import Notes
from nearkin.workflows.reading.on_spark.task_input import Files, TaskInput
from nearkin.workflows.reading.texts import Texts

_FILES_A_TASK = 2048


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


def task_blocks(sources: Sequence[Source], encoding: str, digests: FileDigests = NO_DIGESTS) -> list[Block]:
    """Return the inputs of all tasks in reading order: one file of many documents, or some thousand files of one.

    Raises
    ------
    ParameterError
        See `check_can_be_shared`.
    """
    check_can_be_shared(sources)
    inputs = split(file_inputs(sources, encoding=encoding))
    return [Block("input", i, pickle.dumps(TaskInput.of(cast("Files", one), digests))) for i, one in enumerate(inputs)]


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
