"""Manifest of a run of ``nearkin pairs``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from nearkin.manifests.stored import DamagedFile, HowRead, Manifest, Stored, UndigestedFile
from nearkin.planning.pairs.prediction import PairSearch, Prediction
from nearkin.stages.documents.source import NotRead

Side = Literal["left", "right"]
SIDES: tuple[Side, Side] = ("left", "right")


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFacts(Stored):
    """Counts for one corpus."""

    n_documents: int
    n_unreadable: int
    n_few_terms: int
    n_vectors: int
    n_words: int
    n_rare_words: int
    mean_terms: float
    ways: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRecord(SideFacts):
    """The counts, together with the inputs."""

    inputs: tuple[UndigestedFile, ...]
    encoding: str = "utf-8"
    reading: HowRead | None = None
    damaged_files: tuple[DamagedFile, ...] = ()
    not_read: tuple[NotRead, ...] | None = None


@dataclass(frozen=True, slots=True)
class TableRecord(Stored):
    """The translation table: its languages, and the side whose words were translated."""

    path: str
    fingerprint: str
    source: str
    target: str
    translated: Side | None = None


@dataclass(frozen=True, slots=True)
class WayRecord(Stored):
    """A search method and its prediction."""

    search: PairSearch
    predicted: Prediction


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPlanRecord(WayRecord):
    """The chosen search method, the reason, and the alternatives."""

    in_words: str
    why: str
    reaches_recall: bool = True
    alternatives: tuple[WayRecord, ...]
    sampled_documents: int
    sampled_pairs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCounts(Stored):
    """Counts of pairs; None if only the best pairs were kept."""

    pairs: int
    pairs_at_threshold: int | None
    left_with_pairs: int
    right_with_pairs: int
    comparisons: int
    candidates: int

    def with_pairs(self, side: Side) -> int:
        """Return the number of a side's documents that are in a pair."""
        return self.left_with_pairs if side == "left" else self.right_with_pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFound(Stored):
    """Results for the known pairs.

    Parameters
    ----------
    n_told, n_known, n_comparable
        Listed pairs; those with both documents present; those with a vector for both.
    n_found, n_first
        Known pairs among the reported ones; those reported as the most similar of their left document.
    """

    told_by: str
    n_told: int
    n_known: int
    n_comparable: int
    n_found: int
    n_first: int
    recall: float | None
    n_pairs: int
    precision_of_all_pairs: float | None
    n_pairs_of_known_left: int
    precision_of_known_left: float | None
    mean_cosine: float | None
    histogram: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsManifest(Manifest):
    """``manifest.json`` of a run of pairs."""

    commands: ClassVar[tuple[str, ...]] = ("pairs",)

    command: str = "pairs"
    fingerprint: str
    table: TableRecord | None
    left: SideRecord
    right: SideRecord
    plan: PairPlanRecord
    counts: PairCounts
    histogram: Mapping[str, Any]
    """Number of pairs by cosine: ``counts`` of steps of the width ``step``, ``from`` a cosine on."""
    known: KnownFound | None = None
    engine: Mapping[str, object] | None = None

    def side(self, side: Side) -> SideRecord:
        """Return the record of a side."""
        return self.left if side == "left" else self.right

    @property
    def threshold(self) -> float:
        """Minimum cosine of a pair."""
        return float(self.parameters["threshold"])
