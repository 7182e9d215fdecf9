"""Progress of a run. To receive it, pass an object with these methods."""

from __future__ import annotations

from typing import Literal, Protocol

from nearkin.wording import labelled

Unit = Literal["bytes", "documents", "pairs", "steps", "tasks"]


class Progress(Protocol):
    """Receiver of progress: a bar in a terminal, a line in a notebook, or nothing."""

    def start(self, stage: str, total: int, unit: Unit) -> None:
        """Begin a stage of ``total`` units, 0 if unknown."""

    def advance(self, n: int) -> None:
        """Add ``n`` finished units."""

    def finish(self) -> None:
        """End the stage."""

    def say(self, message: str) -> None:
        """Show a message to the user."""


class LabelledProgress:
    """Progress whose messages begin with a label, such as the side of the input that they are about.

    Parameters
    ----------
    label : str
    progress : Progress
        Receives everything.
    """

    def __init__(self, label: str, progress: Progress) -> None:
        self._label, self._progress = label, progress

    def start(self, stage: str, total: int, unit: Unit) -> None:
        """Begin a stage of ``total`` units, 0 if unknown."""
        self._progress.start(stage, total, unit)

    def advance(self, n: int) -> None:
        """Add ``n`` finished units."""
        self._progress.advance(n)

    def finish(self) -> None:
        """End the stage."""
        self._progress.finish()

    def say(self, message: str) -> None:
        """Show a message with the label."""
        self._progress.say(labelled(self._label, message))


class Silent:
    """Progress that is not shown."""

    def start(self, stage: str, total: int, unit: Unit) -> None:
        """Do nothing."""

    def advance(self, n: int) -> None:
        """Do nothing."""

    def finish(self) -> None:
        """Do nothing."""

    def say(self, message: str) -> None:
        """Do nothing."""
