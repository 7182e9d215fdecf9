"""Manifest of a run of ``nearkin dedup``, ``families`` or ``regroup``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from nearkin.errors import is_number
from nearkin.manifests.stored import ExtractionCounts, InputFile, KeptFile, ManifestOfDocuments, Stored
from nearkin.stages.verification.difference_names import DIFFERENCES

FAMILIES_OF_COLLECTION = "families COLLECTION"
"""Command of the families of a collection, whose documents stay there: their results are no input of other jobs."""
REASONS = (
    "unique",
    "exact copy",
    "near-duplicate",
    "empty",
    "too short",
    "unreadable",
    "overlap",
    "numbers only",
    "ignored only",
)
"""Reasons given for documents, in the order in which they are shown."""
RARE_REASONS = ("numbers only", "ignored only")
"""Reasons, and results for the other set, that are only counted where there are some: if numbers or passages do not
count."""
TEXTLESS_REASONS = ("empty", "numbers only", "ignored only", "unreadable")
"""Reasons of documents of which no text is compared."""
OTHER_RESULTS = ("match", "no match", "too short", "empty", "unreadable", "numbers only", "ignored only")
"""Results for documents of the other set: whether a document was dropped because of it, and if not, why."""
SHORT_MATCHES = "too_short_matches"
"""Count of those of the other set with a match that are too short to be found inside a longer document."""


@dataclass(frozen=True, slots=True)
class MemoryUse(Stored):
    """Memory that a run took, and its limit for the work beyond the libraries."""

    limit_bytes: int
    before_bytes: int
    peak_bytes: int
    longest_document_characters: int


@dataclass(frozen=True, slots=True)
class FamilyCounts(Stored):
    """Number of families, of documents in families and alone, and of members by relation to the principal."""

    families: int = 0
    documents: int = 0
    alone: int = 0
    relations: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupManifest(ManifestOfDocuments):
    """``manifest.json`` of a run of dedup, families or regroup."""

    commands: ClassVar[tuple[str, ...]] = ("dedup", "families", "regroup")

    command: str = "dedup"
    fingerprint: str = ""
    against: tuple[InputFile, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    against_counts: Mapping[str, int] | None = None
    plan: Mapping[str, object] = field(default_factory=dict)
    estimated_missed_pairs: float | None = None
    estimated_recall: float | None = None
    found_at_threshold: float | None = None
    seeds: Mapping[str, int] = field(default_factory=dict)
    problems: Mapping[str, int] = field(default_factory=dict)
    has_integer_ids: bool = False
    without_id: int | None = None
    """Number of documents whose id is missing or not known."""
    unreadable_without_id: int | None = None
    """Number of unreadable documents among them, whose id is not known; None if there are none."""
    engine: Mapping[str, object] | None = None
    kept: tuple[KeptFile, ...] | None = None
    families: FamilyCounts | None = None
    carried: tuple[str, ...] | None = None
    """Columns of the input in ``documents.parquet``."""
    memory: MemoryUse | None = None

    @property
    def is_against(self) -> bool:
        """Whether the documents were compared with another set, which may be empty."""
        return bool(self.against) or self.against_counts is not None

    @property
    def n_readable_without_id(self) -> int:
        """Number of readable documents of the input that have no id."""
        return (self.without_id or 0) - (self.unreadable_without_id or 0)

    def count(self, name: str) -> int:
        """Return a count, 0 if it is missing."""
        return self.counts.get(name, 0)

    @property
    def n_short_others(self) -> int:
        """Number of documents of the other set too short to be found inside longer ones."""
        if "min_shared" not in self.parameters and self.parameters.get("drop") not in ("containing", "either"):
            return 0
        counts = self.against_counts or {}
        return counts.get("too_short", 0) + counts.get(SHORT_MATCHES, 0)

    @property
    def plan_numbers(self) -> dict[str, float]:
        """Numbers of the plan."""
        return {name: n for name, value in self.plan.items() if (n := _number(value)) is not None}

    @property
    def options_in_words(self) -> Mapping[str, Any]:
        """Parameters, without the preset from which some are taken."""
        if not self.parameters:
            raise KeyError("parameters")
        return {name: value for name, value in self.parameters.items() if name != "preset"}

    @property
    def threshold(self) -> float | None:
        """Minimum similarity of a near-duplicate."""
        return _number(self.parameters.get("threshold"))

    @property
    def searched_threshold(self) -> float | None:
        """Threshold that the search was planned for; below `threshold` after regrouping."""
        return self.threshold if self.found_at_threshold is None else self.found_at_threshold

    @property
    def recall(self) -> float | None:
        """Requested recall."""
        return _number(self.parameters.get("recall"))

    @property
    def by_reason(self) -> dict[str, int]:
        """Document counts by reason: those that occur, and three that are always shown."""
        counts = {reason: self.count(counted_as(reason)) for reason in REASONS}
        return {reason: n for reason, n in counts.items() if n or reason in REASONS[:3]}

    @property
    def dropped_by_difference(self) -> dict[str, int]:
        """Number of dropped documents by what differs from the kept one, as far as it is known."""
        return {name: n for name in DIFFERENCES[1:-1] if (n := self.count(difference_counted_as(name)))}

    @property
    def n_dropped_for_another(self) -> int:
        """Number of documents that were dropped because another one is kept."""
        return self.count("dropped") - sum(self.dropped_without_match.values())

    @property
    def textless(self) -> dict[str, int]:
        """Number of documents of which no text was compared, by reason."""
        return {reason: n for reason in TEXTLESS_REASONS if (n := self.count(counted_as(reason)))}

    @property
    def exception_counts(self) -> ExtractionCounts | None:
        """Numbers of extracted documents and of exceptions, if there are any."""
        if self.extraction is not None:
            return self.extraction
        counts = Counter({reason: n for reason, n in self.problems.items() if reason != "id repeated"})
        counts["empty"] += self.count("empty") + (self.against_counts or {}).get("empty", 0)
        counts = +counts  # without zeros
        return ExtractionCounts(exceptions=dict(sorted(counts.items()))) if counts else None

    @property
    def n_textless_others(self) -> int:
        """Number of documents without text in the other set, with those that its collections could not store."""
        others = self.against_counts or {}
        not_stored = None if self.extraction is None else self.extraction.not_stored_others
        return others.get("empty", 0) + others.get("unreadable", 0) + (not_stored or 0)

    @property
    def dropped_without_match(self) -> dict[str, int]:
        """Number of documents that were dropped because they have no text to compare, by reason."""
        return {reason: n for reason, n in self.textless.items() if reason != "unreadable"}


def counted_as(reason: str) -> str:
    """Return the name of a count of documents.

    Examples
    --------
    >>> counted_as("near-duplicate"), counted_as("no match")
    ('near_duplicate', 'no_match')
    """
    return reason.replace(" ", "_").replace("-", "_")


def difference_counted_as(name: str) -> str:
    """Return the name of the count of documents dropped with such a difference.

    Examples
    --------
    >>> difference_counted_as("words and numbers")
    'dropped_words_and_numbers'
    """
    return f"dropped_{counted_as(name)}"


def _number(value: object) -> float | None:
    return value if is_number(value) and math.isfinite(value) else None
