"""What a manifest says, read with care: a part that is absent or odd is absent, never a reason to fail."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from nearkin.nouns import counted
from nearkin.reports.quantities import parameter_text
from nearkin.stages.verification.measures import MEASURES

REASONS = ("unique", "exact copy", "near-duplicate", "empty", "too short", "unreadable", "overlap")
"""In the order in which they are shown; the manifest counts each under its name with an underscore."""

_UNITS = {"words": "word", "chars": "character"}


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of the input; ``None`` where the manifest does not say."""

    path: str
    size_bytes: int | None
    sha256: str | None
    format: str | None
    text: str | None
    id: str | None
    n_documents: int | None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the report tells of a run. Counts that the manifest lacks are absent from ``counts``."""

    version: str
    command: str
    fingerprint: str
    parameters: Mapping[str, object]
    counts: Mapping[str, int]
    plan: Mapping[str, float]
    inputs: tuple[InputFile, ...]
    against: tuple[InputFile, ...]
    against_counts: Mapping[str, int]
    problems: Mapping[str, int]
    found_at_threshold: float | None
    estimated_missed_pairs: float | None
    estimated_recall: float | None

    @classmethod
    def of(cls, manifest: Mapping[str, object]) -> RunFacts:
        """The facts in a manifest."""
        return cls(
            version=_text(manifest.get("nearkin")) or "",
            command=_text(manifest.get("command")) or "dedup",
            fingerprint=_text(manifest.get("fingerprint")) or "",
            parameters=_mapping(manifest.get("parameters")),
            counts=counts_of(manifest.get("counts")),
            plan={
                name: n for name, value in _mapping(manifest.get("plan")).items() if (n := _number(value)) is not None
            },
            inputs=_input_files(manifest.get("inputs")),
            against=_input_files(manifest.get("against")),
            against_counts=counts_of(manifest.get("against_counts")),
            problems=counts_of(manifest.get("problems")),
            found_at_threshold=_number(manifest.get("found_at_threshold")),
            estimated_missed_pairs=_number(manifest.get("estimated_missed_pairs")),
            estimated_recall=_number(manifest.get("estimated_recall")),
        )

    def count(self, name: str) -> int:
        """A count, 0 where the manifest has none."""
        return self.counts.get(name, 0)

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
    def measure(self) -> str:
        """The measure's name as it is written in a sentence."""
        return measure_name(_text(self.parameters.get("measure")) or "jaccard")

    @property
    def shingles(self) -> str:
        """What the shingles are: ``word 5-grams``; "" where the manifest does not say."""
        unit, _, length = (_text(self.parameters.get("shingle")) or "").partition(":")
        return f"{_UNITS.get(unit, unit)} {length}-grams" if length else unit

    @property
    def criterion(self) -> str:
        """What makes a near-duplicate: ``Jaccard ≥ 0.80 on word 5-grams``."""
        if (n := _whole(self.parameters.get("min_shared"))) is not None:
            return f"at least {counted(n, 'shared shingle')} ({self.shingles})"
        least = (
            "" if self.threshold is None else f"\N{NO-BREAK SPACE}≥\N{NO-BREAK SPACE}{parameter_text(self.threshold)}"
        )
        return f"{self.measure}{least}{f' on {self.shingles}' if self.shingles else ''}"

    @property
    def by_reason(self) -> dict[str, int]:
        """Documents by reason, every reason that occurs and the three that always interest."""
        counts = {reason: self.count(reason.replace(" ", "_").replace("-", "_")) for reason in REASONS}
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


def measure_name(measure: str) -> str:
    """A measure's name as it is written in a sentence.

    Examples
    --------
    >>> measure_name("jaccard")
    'Jaccard'
    """
    return MEASURES[measure].title if measure in MEASURES else measure


def _mapping(value: object) -> Mapping[str, object]:
    """The value where it is a mapping, else an empty one."""
    return {str(name): entry for name, entry in value.items()} if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    """The value where it is text."""
    return value if isinstance(value, str) else None


def _number(value: object) -> float | None:
    """The value where it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def _whole(value: object) -> int | None:
    """The value where it is an int that counts something."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def counts_of(value: object) -> dict[str, int]:
    """The counts of a mapping, what counts nothing left out."""
    return {name: n for name, entry in _mapping(value).items() if (n := _whole(entry)) is not None}


def _input_files(value: object) -> tuple[InputFile, ...]:
    """The files of a list of them."""
    return tuple(map(_input_file, value)) if isinstance(value, list | tuple) else ()


def _input_file(value: object) -> InputFile:
    """One entry of the manifest's inputs."""
    entry = _mapping(value)
    return InputFile(
        path=_text(entry.get("path")) or "",
        size_bytes=_whole(entry.get("size_bytes")),
        sha256=_text(entry.get("sha256")),
        format=_text(entry.get("format")),
        text=_text(entry.get("text")),
        id=_text(entry.get("id")),
        n_documents=_whole(entry.get("n_documents")),
    )
