"""Runs a command in its own process group, with a time limit, and watches the memory of the whole process tree.

Memory is read from ``/proc`` (Linux): at every look the resident sizes of the process and its descendants are added
up. Pages shared by forked processes are counted once for each, so ``PSS`` (shared pages divided by their sharers) is
looked at too, more rarely. Elsewhere only the largest single process is known, from ``wait4``.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

LOOK_EVERY_S = 0.02
LOOK_AT_PSS_EVERY_S = 0.5
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Run:
    """What a command did.

    Parameters
    ----------
    exit_code : int
        Negative: killed by that signal.
    is_timed_out : bool
        The time limit was reached and the whole group was killed.
    wall_s : float
        From the start of the process to its end.
    cpu_s : float
        Of the process and all its descendants that ended.
    peak_rss_bytes : int
        Largest sum of resident sizes over the tree; never less than the largest single process's own high-water mark.
    peak_pss_bytes : int
        Largest sum of proportional sizes seen; 0 where it could not be read.
    peak_single_bytes : int
        High-water mark of the largest single process.
    peak_anonymous_bytes : int
        Largest sum of resident memory that is no file's: what is left without mapped files; 0 where unknown.
    output_tail : str
        The end of what it printed.
    """

    exit_code: int
    is_timed_out: bool
    wall_s: float
    cpu_s: float
    peak_rss_bytes: int
    peak_pss_bytes: int
    peak_single_bytes: int
    peak_anonymous_bytes: int
    output_tail: str

    @property
    def peak_memory_bytes(self) -> int:
        """The fairest single figure: shared pages once, and never less than the largest single process."""
        return max(self.peak_pss_bytes, self.peak_single_bytes) if self.peak_pss_bytes else self.peak_rss_bytes

    @property
    def is_good(self) -> bool:
        """It ended by itself, with exit code 0."""
        return self.exit_code == 0 and not self.is_timed_out

    @property
    def failure(self) -> str:
        """Why it failed, in a line; empty when it did not."""
        if self.is_timed_out:
            return f"stopped after {self.wall_s:.0f} s"
        if self.exit_code:
            lines = [line.strip() for line in self.output_tail.splitlines() if line.strip()]
            return f"exit code {self.exit_code}: {lines[-1][:200] if lines else 'no output'}"
        return ""


@dataclass(slots=True)
class _Peaks:
    """The largest sums seen so far."""

    rss: int = 0
    pss: int = 0
    anonymous: int = 0
    single: int = 0

    def look(self, pid: int, *, with_pss: bool) -> None:
        """Add up the tree under ``pid`` as it is now; processes that end meanwhile are left out."""
        rss = pss = anonymous = 0
        for member in _tree(pid):
            with contextlib.suppress(OSError, ValueError, KeyError):
                status = _fields(Path(f"/proc/{member}/status"))
                rss += status["VmRSS"]
                anonymous += status["RssAnon"]
                self.single = max(self.single, status["VmHWM"])
                if with_pss:
                    pss += _fields(Path(f"/proc/{member}/smaps_rollup"))["Pss"]
        self.rss, self.pss, self.anonymous = max(self.rss, rss), max(self.pss, pss), max(self.anonymous, anonymous)


def _fields(path: Path) -> dict[str, int]:
    """The lines ``Name:  123 kB`` of a file under /proc, in bytes."""
    lines = (line.split() for line in path.read_text().splitlines() if line.endswith(" kB"))
    return {words[0].rstrip(":"): int(words[1]) * 1024 for words in lines}


def _tree(pid: int) -> list[int]:
    """The process and all its living descendants."""
    members, at = [pid], 0
    while at < len(members):
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{members[at]}/task").iterdir():
                members += map(int, (task / "children").read_text().split())
        at += 1
    return members


def run_measured(
    command: list[str],
    *,
    time_limit_s: float,
    log: Path,
    environment: dict[str, str] | None = None,
    working_directory: Path | None = None,
) -> Run:
    """Run ``command``, its output going to ``log``; kill its group at the time limit, or when we are interrupted."""
    log.parent.mkdir(parents=True, exist_ok=True)
    peaks, is_timed_out, next_pss = _Peaks(), False, 0.0
    own_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with log.open("wb") as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            cwd=working_directory,
            start_new_session=True,
        )
        try:
            while not _has_ended(process.pid, LOOK_EVERY_S):
                elapsed_s = time.perf_counter() - began
                peaks.look(process.pid, with_pss=elapsed_s >= next_pss)
                next_pss = elapsed_s + LOOK_AT_PSS_EVERY_S if elapsed_s >= next_pss else next_pss
                if elapsed_s > time_limit_s:
                    is_timed_out = True
                    break
            wall_s = time.perf_counter() - began
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # also what a finished run left behind in its group
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    # a child's ru_maxrss starts from ours at the fork, so it tells something only when it is larger
    peaks.single = max(peaks.single, usage.ru_maxrss * MAXRSS_UNIT if usage.ru_maxrss > own_peak else 0)
    return Run(
        exit_code=process.returncode,
        is_timed_out=is_timed_out,
        wall_s=wall_s,
        cpu_s=usage.ru_utime + usage.ru_stime,
        peak_rss_bytes=max(peaks.rss, peaks.single),
        peak_pss_bytes=peaks.pss,
        peak_single_bytes=peaks.single,
        peak_anonymous_bytes=peaks.anonymous,
        output_tail=_tail(log),
    )


def _has_ended(pid: int, timeout_s: float) -> bool:
    """Whether the process ended within the time; it stays to be waited for."""
    deadline = time.perf_counter() + timeout_s
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.perf_counter() >= deadline:
            return False
        time.sleep(0.005)
    return True


def _tail(log: Path, n_bytes: int = 4_000) -> str:
    """The end of a log."""
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - n_bytes))
        return stream.read().decode("utf-8", errors="replace")
