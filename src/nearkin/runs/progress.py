"""Progress of a run. To receive it, pass an object with these methods."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
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
    """Progress whose messages begin with a label, such as a side of the input."""

    def __init__(self, label: str, progress: Progress) -> None:
        self._label, self._progress = label, progress
        self.start, self.advance, self.finish = progress.start, progress.advance, progress.finish

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


_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


@dataclass(frozen=True, slots=True)
class StageCost:
    """Cost of a stage, with its highest resident memory; since the process began if only that is measured."""

    name: str
    elapsed_s: float
    peak_memory_bytes: int


class Meter:
    """Measures stages and forwards their progress."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.costs: list[StageCost] = []
        self.before_bytes = memory_bytes()
        """Memory of the interpreter and its libraries before the first stage."""

    @property
    def peak_bytes(self) -> int:
        """Highest memory of all stages so far."""
        return max((cost.peak_memory_bytes for cost in self.costs), default=self.before_bytes)

    @property
    def elapsed_s(self) -> float:
        """Total time of all stages so far."""
        return round(sum(cost.elapsed_s for cost in self.costs), 3)

    @contextlib.contextmanager
    def stage(self, name: str, total: int, unit: Unit) -> Iterator[Progress]:
        """Measure the block as a stage."""
        _reset_peak_memory()
        started = time.perf_counter()
        self.progress.start(name, total, unit)
        try:
            yield self.progress
            self.progress.finish()  # not after a failure or an interruption: then the stage is not done
        finally:
            self.costs.append(StageCost(name, round(time.perf_counter() - started, 3), peak_memory_bytes()))


def memory_bytes() -> int:
    """Return the current resident memory of this process; where the system lacks it, the highest."""
    return _status("VmRSS:") or peak_memory_bytes()


def peak_memory_bytes() -> int:
    """Return the highest resident memory of this process, since the last reset on Linux."""
    if high_water := _status("VmHWM:"):
        return high_water
    try:
        import resource
    except ImportError:  # on Windows it would take another library
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _status(name: str) -> int:
    with contextlib.suppress(OSError):
        for line in _STATUS.read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) * 1024
    return 0


def _reset_peak_memory() -> None:
    with contextlib.suppress(OSError):
        _CLEAR.write_text("5")
