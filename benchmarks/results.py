"""What a benchmark measured, as records."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from judge import Verdict
from measure import Run


@dataclass(frozen=True, slots=True)
class Slot:
    """Nearkin between two peers.

    Parameters
    ----------
    wall_s : float
        The whole process of ``nearkin dedup --no-report``.
    work_s : float or None
        ``nearkin.dedup`` in a process that has loaded its kernels, reading included.
    """

    wall_s: float
    work_s: float | None
    peak_memory_bytes: int


@dataclass(frozen=True, slots=True)
class CliTimes:
    """Other ways of running Nearkin: the very first time, when kernels may have to be compiled, and with its report."""

    first_wall_s: float
    with_report_wall_s: float
    with_report_peak_memory_bytes: int


@dataclass(frozen=True, slots=True)
class NearkinCheck:
    """Nearkin's answer against the truth."""

    verdict: Verdict
    n_reported: int
    n_untrue: int
    largest_difference: float  # between a similarity it reported and the exact one
    predicted_recall: float | None
    predicted_recall_at_threshold: float | None
    estimated_missed_pairs: float | None
    is_recall_as_predicted: bool | None
    plan: str

    @property
    def problems(self) -> list[str]:
        """What is wrong, in words; nothing when all is well."""
        problems = []
        if self.n_untrue:
            problems.append(f"{self.n_untrue:,} of {self.n_reported:,} reported pairs are below the threshold")
        if self.largest_difference > 1e-12:
            problems.append(f"a reported similarity is off by {self.largest_difference:g}")
        if self.is_recall_as_predicted is False:
            problems.append(f"recall is {self.verdict.recall.value:.4f}, predicted was {self.predicted_recall:.4f}")
        return problems


@dataclass(frozen=True, slots=True)
class PeerRow:
    """One peer's row.

    Parameters
    ----------
    failure : str
        Why there is no answer; empty when there is one.
    wall_s : float
        The whole process.
    work_s : float
        Inside it, imports and the writing of the answer apart.
    nearkin_wall_s, nearkin_work_s : float or None
        Mean of Nearkin just before and just after.
    """

    name: str
    package: str
    failure: str = ""
    version: str = ""
    how: str = ""
    wall_s: float = 0.0
    work_s: float = 0.0
    cpu_s: float = 0.0
    stages: dict[str, float] | None = None
    peak_memory_bytes: int = 0
    nearkin_wall_s: float | None = None
    nearkin_work_s: float | None = None
    verdict: Verdict | None = None
    own_verdict: Verdict | None = None

    def measured(self, run: Run, folder: Path) -> PeerRow:
        """With what the run and its runner told."""
        row = replace(
            self, failure=run.failure, wall_s=run.wall_s, cpu_s=run.cpu_s, peak_memory_bytes=run.peak_memory_bytes
        )
        if row.failure:
            return row
        try:
            told = json.loads((folder / "answer.json").read_text("utf-8"))
            return replace(
                row, version=told["version"], how=told["how"], work_s=told["elapsed_s"], stages=dict(told["stages"])
            )
        except (OSError, ValueError, KeyError) as error:
            return replace(row, failure=f"left no answer: {error}")

    def judged(self, verdict: Verdict, own_verdict: Verdict | None) -> PeerRow:
        """With how good its answer is."""
        return replace(self, verdict=verdict, own_verdict=own_verdict)

    def beside(self, before: Slot, after: Slot) -> PeerRow:
        """With Nearkin's times just before and after."""
        works = [slot.work_s for slot in (before, after) if slot.work_s is not None]
        return replace(
            self,
            nearkin_wall_s=(before.wall_s + after.wall_s) / 2,
            nearkin_work_s=sum(works) / len(works) if works else None,
        )

    @property
    def ratio_wall(self) -> float | None:
        """How many times longer its whole process took than Nearkin's; a lower bound when it was stopped."""
        if not self.nearkin_wall_s or not self.wall_s or (self.failure and not self.is_stopped):
            return None
        return self.wall_s / self.nearkin_wall_s

    @property
    def ratio_work(self) -> float | None:
        """The same for the work alone, started processes on both sides."""
        return self.work_s / self.nearkin_work_s if self.nearkin_work_s and self.work_s else None

    @property
    def is_stopped(self) -> bool:
        """It took too long."""
        return self.failure.startswith("stopped")


@dataclass(frozen=True, slots=True)
class Results:
    """One whole benchmark."""

    corpus: dict[str, str | int]
    machine: str
    threshold: float
    nearkin_version: str
    load: float  # processes that wanted a core in the minute before the first run
    check: NearkinCheck
    times: CliTimes
    slots: list[Slot]
    peers: list[PeerRow]

    @property
    def n_documents(self) -> int:
        """Of the corpus."""
        return int(self.corpus["documents"])
