"""What tasks have to say: it travels with their blocks, and the driver says it in reading order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from nearkin.engines.spark.layout import Block
from nearkin.runs.progress import Progress, Silent

_STREAM = "notes"


class Notes(Silent):
    """Progress that keeps what is said.

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
        """Keep it."""
        self.said.append(message)

    def blocks(self, number: int, *, target: int) -> Iterator[Block]:
        """What was said of the input of a number, if anything."""
        if self.said:
            yield Block(_STREAM, target, json.dumps([number, self.said]).encode())


def passed_on(blocks: Sequence[Block]) -> Iterator[Block]:
    """The notes among some blocks."""
    yield from (block for block in blocks if block.stream == _STREAM)


def tell(blocks: Sequence[Block], progress: Progress) -> None:
    """Say the notes among some blocks."""
    for _, said in sorted(json.loads(bytes(block.data)) for block in passed_on(blocks)):
        for message in said:
            progress.say(message)
