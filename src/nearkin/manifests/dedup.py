"""What a run of ``nearkin dedup``, ``families`` or ``regroup`` says of itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

from nearkin.manifests.stored import Stored
from nearkin.runs.meter import StageCost

REASONS = ("unique", "exact copy", "near-duplicate", "empty", "too short", "unreadable", "overlap")
"""What is said of each document, in the order in which it is shown."""
OTHER_RESULTS = ("match", "no match", "too short", "empty", "unreadable")
"""What is said of each document of another collection: whether a document was dropped because of it, and if not why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile(Stored):
    """A source that was read; None where there is nothing to tell.

    ``sha256`` is that of a file; of a collection that of the numbers of its documents, of a run that of its manifest.
    """

    path: str = ""
    size_bytes: int | None = None
    sha256: str | None = None
    format: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    """By which its documents without an id are called."""
    end_row: int | None = None
    """Of a collection: the number in its store that all of its documents are below."""
    n_documents: int | None = None


@dataclass(frozen=True, slots=True)
class KeptFile(Stored):
    """A file of the cleaned corpus.

    Parameters
    ----------
    path : str
        In the directory of the run.
    input : int
        Which of the inputs its documents are of.
    size_bytes : int
    sha256 : str
    """

    path: str
    input: int
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class DamagedFile(Stored):
    """A file of which only a part was used."""

    path: str
    line: int
    problem: str


@dataclass(frozen=True, slots=True)
class HowRead(Stored):
    """How the files were read: what reading them again depends on, and what was put up with."""

    format: str | None = None
    on_error: str | None = None
    max_unreadable: float | None = None
    max_document_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class MemoryUse(Stored):
    """What a run took beside what it was allowed: the limit is for the work, on top of the libraries."""

    limit_bytes: int
    before_bytes: int
    peak_bytes: int
    longest_document_characters: int


@dataclass(frozen=True, slots=True)
class FamilyCounts(Stored):
    """How many families there are, documents in them and alone, and by their relation to the principal."""

    families: int = 0
    documents: int = 0
    alone: int = 0
    relations: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupManifest(Stored):
    """``manifest.json``. What a command has no word on, or an earlier version had none on, is None or empty."""

    left_out: ClassVar[frozenset[str]] = frozenset((
        "against_counts", "damaged_files", "without_id", "encoding", "reading", "engine", "kept", "families",
        "found_at_threshold", "report_problem", "memory",
    ))  # fmt: skip

    names: ClassVar[Mapping[str, str]] = {"version": "nearkin"}

    version: str = ""
    made_with: Mapping[str, str] = field(default_factory=dict)
    command: str = "dedup"
    parameters: Mapping[str, object] = field(default_factory=dict)
    fingerprint: str = ""
    inputs: tuple[InputFile, ...] = ()
    against: tuple[InputFile, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    against_counts: Mapping[str, int] | None = None
    plan: Mapping[str, object] = field(default_factory=dict)
    estimated_missed_pairs: float | None = None
    estimated_recall: float | None = None
    found_at_threshold: float | None = None
    stages: tuple[StageCost, ...] = ()
    seeds: Mapping[str, int] = field(default_factory=dict)
    problems: Mapping[str, int] = field(default_factory=dict)
    damaged_files: tuple[DamagedFile, ...] | None = None
    has_integer_ids: bool = False
    without_id: int | None = None
    encoding: str | None = None
    reading: HowRead | None = None
    engine: Mapping[str, object] | None = None
    kept: tuple[KeptFile, ...] | None = None
    families: FamilyCounts | None = None
    report_problem: str | None = None
    memory: MemoryUse | None = None

    def count(self, name: str) -> int:
        """A count, 0 where there is none."""
        return self.counts.get(name, 0)

    @property
    def plan_numbers(self) -> dict[str, float]:
        """The numbers of the plan."""
        return {name: n for name, value in self.plan.items() if (n := _number(value)) is not None}

    @property
    def options_in_words(self) -> Mapping[str, Any]:
        """The parameters, the preset that some are from left out.

        Raises
        ------
        KeyError
            There are none: the manifest is damaged.
        """
        if not self.parameters:
            raise KeyError("parameters")
        return {name: value for name, value in self.parameters.items() if name != "preset"}

    @property
    def threshold(self) -> float | None:
        """The least similarity of a near-duplicate."""
        return _number(self.parameters.get("threshold"))

    @property
    def searched_threshold(self) -> float | None:
        """The threshold that the search was planned for: lower than `threshold` where groups were cut anew."""
        return self.threshold if self.found_at_threshold is None else self.found_at_threshold

    @property
    def recall(self) -> float | None:
        """The recall that was asked for."""
        return _number(self.parameters.get("recall"))

    @property
    def by_reason(self) -> dict[str, int]:
        """Documents by reason, every reason that occurs and the three that always interest."""
        counts = {reason: self.count(counted_as(reason)) for reason in REASONS}
        return {reason: n for reason, n in counts.items() if n or reason in REASONS[:3]}

    @property
    def dropped_reasons(self) -> tuple[str, ...] | None:
        """The reasons whose documents were dropped, known from the sum; ``None`` where no choice of them explains it.

        Copies are always dropped; whether empty documents are, the run decides. Unreadable ones are neither dropped nor
        kept.
        """
        left = self.count("dropped") - sum(self.count(name) for name in ("exact_copy", "near_duplicate", "overlap"))
        others = [reason for reason in REASONS[3:5] if self.by_reason.get(reason)]
        for n in range(len(others), -1, -1):
            for chosen in combinations(others, n):
                if sum(self.by_reason[reason] for reason in chosen) == left:
                    return (*REASONS[1:3], *chosen)
        return None


def counted_as(reason: str) -> str:
    """The name of a count of documents.

    Examples
    --------
    >>> counted_as("near-duplicate"), counted_as("no match")
    ('near_duplicate', 'no_match')
    """
    return reason.replace(" ", "_").replace("-", "_")


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) else None
