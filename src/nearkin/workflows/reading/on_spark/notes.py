"""Messages of tasks: they are sent with the blocks, and the driver shows them in reading order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from nearkin.engines.spark.layout import Block
from nearkin.runs.progress import Progress, Silent

_STREAM = "notes"


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
