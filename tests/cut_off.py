"""A run that ends in the middle, at the beginning of a stage."""

from __future__ import annotations

from nearkin.runs.progress import Silent


class CutOff(Exception):
    """A machine without power."""


class Cutting(Silent):
    """Remembers the stages that began; one of them ends the run."""

    def __init__(self, stage: str = "") -> None:
        self.stage, self.begun = stage, []

    def start(self, stage: str, total: int, unit: str) -> None:
        self.begun.append(stage)
        if stage == self.stage:
            raise CutOff
