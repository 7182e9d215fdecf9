"""Messages, exceptions and checksums of tasks: they are sent with the blocks, and the driver takes them in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from nearkin.engines.spark.layout import Block
from nearkin.errors import SourceError
from nearkin.runs.progress import Progress, Silent
from nearkin.wording import restored
from nearkin.workflows.reading.exceptions import ExceptionRow
from nearkin.workflows.reading.inputs import Input
from nearkin.workflows.reading.on_spark.seen_files import DriverFiles, FileChecksum, refuse_other_content
from nearkin.workflows.reading.texts import Texts

if TYPE_CHECKING:
    from nearkin.engines.spark.blocks import Blocks
    from nearkin.engines.spark.stages import Stages

_STREAM = "notes"
_EXCEPTIONS = "exceptions"
_CHECKSUMS = "checksums"
_CHECKED = "checked-files.json"
_ROWS_A_BLOCK = 500
Comparison = Callable[[Sequence[Block], DriverFiles], None]
"""Compares blocks with the files of the driver, and raises SourceError if they differ."""


class Notes(Silent):
    """Progress that stores messages, and checksums of files that the driver compares with its own.

    Examples
    --------
    >>> notes = Notes()
    >>> notes.say("3 pages were left out")
    >>> [block.data for block in notes.blocks(7, target=0)]
    [b'[7, ["3 pages were left out"]]']
    """

    def __init__(self) -> None:
        self.said: list[str] = []
        self.checksums: list[FileChecksum] = []

    def say(self, message: str) -> None:
        """Store a message."""
        self.said.append(message)

    def blocks(self, number: int, *, target: int) -> Iterator[Block]:
        """Yield the messages about the input of a number, if any, and the checksums."""
        if self.said:
            yield Block(_STREAM, target, json.dumps([number, self.said]).encode())
        for first in range(0, len(self.checksums), _ROWS_A_BLOCK):
            rows = [asdict(one) for one in self.checksums[first : first + _ROWS_A_BLOCK]]
            yield Block(_CHECKSUMS, target, json.dumps(rows).encode())


def passed_on(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the notes among some blocks."""
    yield from (block for block in blocks if block.stream in (_STREAM, _CHECKSUMS))


def take_notes(
    blocks: Sequence[Block], driver: DriverFiles, progress: Progress, also_compare: Comparison | None = None
) -> None:
    """Compare the checksums among some blocks with the files of the driver, and show the messages.

    Parameters
    ----------
    blocks : sequence of Block
    driver : DriverFiles
    progress : Progress
    also_compare : function, optional
        Compares what else the blocks say about files, before a message is shown.

    Raises
    ------
    SourceError
        A task read a file that is not the same here: its results must not be used.
    """
    of_files = [json.loads(bytes(block.data)) for block in blocks if block.stream == _CHECKSUMS]
    refuse_other_content((FileChecksum(**row) for rows in of_files for row in rows), driver)
    if also_compare is not None:
        also_compare(blocks, driver)
    for _, said in sorted(json.loads(bytes(block.data)) for block in blocks if block.stream == _STREAM):
        for message in said:
            progress.say(restored(message))


def read_by_tasks(
    stages: Stages,
    name: str,
    make: Callable[[], Blocks],
    progress: Progress,
    also_compare: Comparison | None = None,
) -> list[Block]:
    """Return the blocks of a stage whose tasks read the input, after `take_notes`; a refused stage is not kept.

    Raises
    ------
    SourceError
        See `take_notes`.
    """
    found = stages.kept(name, make).collected()
    try:
        take_notes(found, DriverFiles(stages.folder / _CHECKED, stages.meter), progress, also_compare)
    except SourceError:
        stages.forget(name)
        raise
    return found


def exception_blocks(texts: Texts, number: int) -> Iterator[Block]:
    """Yield the exceptions in the input of a number, for the target of the same number."""
    found = texts.exceptions
    for first in range(0, len(found), _ROWS_A_BLOCK):
        rows = [asdict(one) for one in found[first : first + _ROWS_A_BLOCK]]
        yield Block(_EXCEPTIONS, number, json.dumps([first, rows]).encode())


def take_exceptions(blocks: Sequence[Block], inputs: Sequence[Input], texts: Texts) -> None:
    """Note the exceptions among some blocks as those of all texts.

    Parameters
    ----------
    blocks : sequence of Block
    inputs : sequence of Input
        Input of each task.
    texts : Texts
        The sources of all inputs.
    """
    first_sources = [0, *accumulate(len(one.names) for one in inputs)]
    told = [(block.target, *json.loads(bytes(block.data))) for block in blocks if block.stream == _EXCEPTIONS]
    for place, (target, _, rows) in enumerate(sorted(told, key=lambda one: one[:2])):
        found = [ExceptionRow(**one) for one in rows]
        texts.take_exceptions(place, [replace(one, source=one.source + first_sources[target]) for one in found])
