"""The inputs of a collection that is signed on a cluster."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import cast

from nearkin.engines.spark.layout import Block
from nearkin.errors import ParameterError
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import STDIN, Source
from nearkin.workflows.dedup.inputs import file_inputs
from nearkin.workflows.dedup.on_spark.reading import split
from nearkin.workflows.dedup.on_spark.task_input import Files, TaskInput
from nearkin.workflows.dedup.sourcing import check_can_be_shared
from nearkin.workflows.dedup.standard_input import is_pipe
from nearkin.workflows.signing.options import SigningOptions
from nearkin.workflows.signing.texts import Reading, Texts


def check_for_cluster(reading: Reading, options: SigningOptions) -> None:
    """That the work can be divided.

    Raises
    ------
    ParameterError
        The input is standard input, or signatures depend on all documents before.
    """
    if STDIN in reading.inputs:
        raise _pipe("standard input")
    if options.is_online:
        raise ParameterError(
            "--online signs each document by all those before it, one after another, which workers cannot share. Omit "
            "--online: weighted-topsig then counts all documents first. Or omit --engine spark."
        )


def task_blocks(sources: Sequence[Source], encoding: str) -> list[Block]:
    """The inputs of all tasks in reading order: a file of many documents each, or some thousand files of one.

    Raises
    ------
    ParameterError
        A source is a pipe, a collection, or results of a run.
    """
    for source in sources:
        check_can_be_shared(source)
        if is_pipe(source):
            raise _pipe(source.path)
    inputs = split(file_inputs(sources, keep_column=None, encoding=encoding))
    return [Block("input", i, pickle.dumps(TaskInput.of(cast("Files", one)))) for i, one in enumerate(inputs)]


def task_input(blocks: Sequence[Block]) -> TaskInput:
    """The one that a task was given."""
    found: TaskInput = pickle.loads(blocks[0].data)  # noqa: S301 (of the driver, by way of Spark, which sends tasks so itself)
    return found


def texts_of(given: TaskInput, rules: ReadingRules) -> Texts:
    """The documents of an input, to be read on this machine.

    Raises
    ------
    SourceError
        A file is not what it was on the driver.
    """
    return Texts(given.sources, (given.checked(),), rules)


def _pipe(name: str) -> ParameterError:
    return ParameterError(
        f"With --engine spark every worker reads the input, and {name} is a pipe of this machine. Save it to a file on "
        "a disk that all of them see."
    )
