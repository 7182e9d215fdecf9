"""Messages and exceptions of tasks: they are sent with the blocks, and the driver takes them in reading order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import accumulate

from nearkin.engines.spark.layout import Block
from nearkin.runs.progress import Progress, Silent
from nearkin.workflows.reading.exceptions import ExceptionRow
from nearkin.workflows.reading.inputs import Input
from nearkin.workflows.reading.texts import Texts

_STREAM = "notes"
_EXCEPTIONS = "exceptions"
_ROWS_A_BLOCK = 500


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
            yield Block(_STREAM, target, json.dumps([number, self.said]).encode())


def passed_on(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the notes among some blocks."""
    yield from (block for block in blocks if block.stream == _STREAM)


def tell(blocks: Sequence[Block], progress: Progress) -> None:
    """Show the notes among some blocks."""
    for _, said in sorted(json.loads(bytes(block.data)) for block in passed_on(blocks)):
        for message in said:
            progress.say(message)


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
