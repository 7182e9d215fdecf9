"""What a run of ``nearkin pairs`` says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from nearkin.manifests.dedup import DamagedFile
from nearkin.manifests.stored import Stored
from nearkin.planning.pairs.prediction import PairSearch, Prediction
from nearkin.runs.meter import StageCost

Side = Literal["left", "right"]
SIDES: tuple[Side, Side] = ("left", "right")


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFacts(Stored):
    """What became of a collection.

    Parameters
    ----------
    n_documents, n_unreadable, n_few_terms, n_vectors : int
        That were read; that could not be; with too few terms for a vector, empty ones among them; with a vector.
    n_words, n_rare_words : int
        Distinct words; those left out because they occur too rarely.
    mean_terms : float
        Of the documents that have a vector.
    ways : mapping of str to float
        Share of the occurrences of words, those left out aside, that got over in each way; empty where nothing was
        translated.
    """

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
    """The same, with what was read.

    Parameters
    ----------
    inputs : tuple of mapping
        As `SourceSnapshot` stores sources.
    encoding : str
    damaged_files : tuple of DamagedFile
    """

    inputs: tuple[Mapping[str, Any], ...]
    encoding: str = "utf-8"
    damaged_files: tuple[DamagedFile, ...] = ()


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
    """A way to search and its prediction."""

    search: PairSearch
    predicted: Prediction


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPlanRecord(WayRecord):
    """The way that was gone, why, and the others."""

    in_words: str
    why: str
    reaches_recall: bool = True
    alternatives: tuple[WayRecord, ...]
    sampled_documents: int
    sampled_pairs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCounts(Stored):
    """How many there were; None where more pairs than the best were not kept."""

    pairs: int
    pairs_at_threshold: int | None
    left_with_pairs: int
    right_with_pairs: int
    comparisons: int
    candidates: int


@dataclass(frozen=True, slots=True)
class CosineHistogram(Stored):
    """Pairs by their cosine, in steps."""

    names: ClassVar[Mapping[str, str]] = {"start": "from"}

    start: float
    step: float
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFound(Stored):
    """What became of the known pairs.

    Parameters
    ----------
    told_by : str
    n_told, n_known, n_comparable : int
        That were told of; of which both documents are there; of which both have a vector.
    n_found, n_first : int
        That are among the reported pairs; as the most similar one of their left document.
    recall : float or None
        Found ones of the known ones.
    n_pairs, precision_of_all_pairs : int, float or None
        Reported pairs, and the share of these that are known.
    n_pairs_of_known_left, precision_of_known_left : int, float or None
        Reported pairs of left documents that have a known partner, and the share of these that are known. It says more
        where not every left document can have one.
    mean_cosine : float or None
        Of the comparable ones.
    histogram : tuple of int
        How many of these have a cosine from 0 to under 0.1, and so on.
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
class TranslatedCosines(Stored):
    """Cosines of the same pairs, by the table and by the translation.

    Parameters
    ----------
    pairs : str
        Which pairs: the known ones, or those that were reported, which the table has chosen.
    n_pairs : int
        Of which all three documents have a vector.
    mean_by_table, mean_by_translation : float or None
    histogram_by_table, histogram_by_translation : tuple of int
        How many have a cosine from 0 to under 0.1, and so on.
    """

    pairs: str
    n_pairs: int
    mean_by_table: float | None
    mean_by_translation: float | None
    histogram_by_table: tuple[int, ...]
    histogram_by_translation: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsManifest(Stored):
    """``manifest.json``."""

    left_out: ClassVar[frozenset[str]] = frozenset(("known", "translated", "engine", "report_problem"))
    names: ClassVar[Mapping[str, str]] = {"version": "nearkin"}

    version: str = ""
    made_with: Mapping[str, str] = field(default_factory=dict)
    command: str = "pairs"
    parameters: Mapping[str, Any]
    fingerprint: str
    table: TableRecord | None
    left: SideRecord
    right: SideRecord
    plan: PairPlanRecord
    counts: PairCounts
    histogram: CosineHistogram
    stages: tuple[StageCost, ...]
    known: KnownFound | None = None
    translated: TranslatedCosines | None = None
    engine: Mapping[str, object] | None = None
    report_problem: str | None = None

    def side(self, side: Side) -> SideRecord:
        """What became of a side."""
        return self.left if side == "left" else self.right

    @property
    def threshold(self) -> float:
        """The least cosine of a pair."""
        return float(self.parameters["threshold"])
