"""How a run tells what it is doing. Whoever wants to see it gives an object with these methods."""

from __future__ import annotations

from typing import Literal, Protocol

Unit = Literal["bytes", "documents", "pairs", "steps", "tasks"]


class Progress(Protocol):
    """What a run calls; a bar in a terminal, a line in a notebook, or nothing."""

    def start(self, stage: str, total: int, unit: Unit) -> None:
        """A stage begins; ``total`` units are to be done, 0 if that is not known."""

    def advance(self, n: int) -> None:
        """So many units more are done."""

    def finish(self) -> None:
        """The stage is done."""

    def say(self, message: str) -> None:
        """Something the user should know."""


class Silent:
    """Progress that nobody watches."""

    def start(self, stage: str, total: int, unit: Unit) -> None:
        """Nothing."""

    def advance(self, n: int) -> None:
        """Nothing."""

    def finish(self) -> None:
        """Nothing."""

    def say(self, message: str) -> None:
        """Nothing."""
