"""Processor seconds of many processes that do not descend from one another: a cluster, and what runs on it.

On Linux a control group counts them, no matter which process starts or awaits which. Where no group can be made, all
descendants of this process are looked at ten times a second, and what a process uses after the last look is lost.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]

_GROUPS = Path("/sys/fs/cgroup")
_LOOK_EVERY_S = 0.1
_JOIN = 'echo $$ > "$0" && exec "$@"'


class ProcessorTime:
    """Of the processes that `launcher` starts, and of all that they start.

    Parameters
    ----------
    group : Path or None
        The folder of a control group; without one this process's descendants are looked at.
    """

    def __init__(self, group: Path | None) -> None:
        self._group = group
        self._seen: dict[tuple[int, float], float] = {}
        self._is_over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        if group is None:
            self._watcher.start()

    @property
    def launcher(self) -> list[str]:
        """What goes before a command, so that its processes are counted from their first instruction."""
        return [] if self._group is None else ["sh", "-c", _JOIN, str(self._group / "cgroup.procs")]

    @property
    def how(self) -> str:
        """In words."""
        return "looking at processes" if self._group is None else "a control group"

    def seconds(self) -> float:
        """So far."""
        if self._group is None:
            self._look()
            return sum(self._seen.values())
        usage = self._group / "cpuacct.usage"
        if usage.exists():
            return int(usage.read_text()) / 1e9
        counts = dict(line.split() for line in (self._group / "cpu.stat").read_text().splitlines())
        return int(counts["usage_usec"]) / 1e6

    def close(self) -> None:
        """Count no more."""
        self._is_over.set()
        if self._group is None:
            self._watcher.join()
            return
        for _ in range(50):
            with contextlib.suppress(OSError):  # a process that has just ended is in it for a moment
                self._group.rmdir()
                return
            time.sleep(0.1)

    def _watch(self) -> None:
        while not self._is_over.wait(_LOOK_EVERY_S):
            self._look()

    def _look(self) -> None:
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                self._seen[process.pid, process.create_time()] = times.user + times.system


@contextlib.contextmanager
def counted() -> Iterator[ProcessorTime]:
    """Count processor time within the block."""
    counting = ProcessorTime(_new_group())
    try:
        yield counting
    finally:
        counting.close()


def _new_group() -> Path | None:
    """A control group below that of this process, of either version; None where it cannot be made."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if "cpuacct" in controllers.split(","):
                root = _GROUPS / "cpuacct"
            elif not controllers and (_GROUPS / "cgroup.controllers").exists():
                root = _GROUPS
            else:
                continue
            group = root / path.lstrip("/") / f"nearkin-benchmark-{os.getpid()}"
            with contextlib.suppress(OSError):
                group.mkdir()
                return group
    return None
