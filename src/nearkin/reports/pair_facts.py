"""What the manifest of a search for pairs says: the parts of it that its page shows."""

from __future__ import annotations

from typing import Literal, TypedDict

Side = Literal["left", "right"]
SIDES: tuple[Side, Side] = ("left", "right")


class FileTold(TypedDict):
    """A file of a collection, and how it was read."""

    path: str
    format: str
    text: str | None
    id: str | None
    size_bytes: int


class InputTold(TypedDict):
    """A file as it was when it was read."""

    source: FileTold


class SideTold(TypedDict):
    """What became of a collection."""

    inputs: list[InputTold]
    n_documents: int
    n_unreadable: int
    n_few_terms: int
    n_vectors: int
    n_words: int
    n_rare_words: int
    mean_terms: float
    ways: dict[str, float]


class TableTold(TypedDict):
    """The translation table."""

    path: str
    fingerprint: str
    source: str
    target: str
    translated: Side


class SearchTold(TypedDict):
    """A way to search, as `nearkin.planning.pair_search.PairSearch` takes it."""

    method: Literal["vectors", "signatures", "window"]
    bits: int
    distance: int
    permutations: int
    window: int


class PredictedTold(TypedDict):
    """What of a prediction the page shows."""

    recall_low: float
    recall: float
    recall_high: float
    n_comparisons: float
    relative_cost: float
    elapsed_s: float


class WayTold(TypedDict):
    """A way and its prediction."""

    search: SearchTold
    predicted: PredictedTold


class PlanTold(WayTold):
    """The way that was gone, and the others."""

    in_words: str
    why: str
    alternatives: list[WayTold]
    sampled_documents: int
    sampled_pairs: int


class CountsTold(TypedDict):
    """How many there were."""

    pairs: int
    pairs_at_threshold: int | None
    left_with_pairs: int
    right_with_pairs: int
    comparisons: int
    candidates: int


HistogramTold = TypedDict("HistogramTold", {"from": float, "step": float, "counts": list[int]})


class KnownTold(TypedDict):
    """What became of the known pairs."""

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
    histogram: list[int]


class TranslatedTold(TypedDict):
    """Cosines of the same pairs, by the table and by a translation."""

    pairs: str
    n_pairs: int
    mean_by_table: float | None
    mean_by_translation: float | None
    histogram_by_table: list[int]
    histogram_by_translation: list[int]


class StageTold(TypedDict):
    """What a stage took."""

    name: str
    elapsed_s: float
    peak_memory_bytes: int


class ParametersTold(TypedDict):
    """Those that the page says in sentences; it lists the others too."""

    threshold: float
    recall: float
    top: int | None
    terms: int


class _Told(TypedDict):
    parameters: ParametersTold
    fingerprint: str
    table: TableTold | None
    left: SideTold
    right: SideTold
    plan: PlanTold
    counts: CountsTold
    histogram: HistogramTold
    stages: list[StageTold]


class PairsTold(_Told, total=False):
    """``manifest.json`` of a search for pairs, what the page does not show left out."""

    known: KnownTold
    translated: TranslatedTold
