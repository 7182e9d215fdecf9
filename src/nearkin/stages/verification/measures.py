"""Measures of similarity, as named by ``--measure``; one object for each.

This module imports no array library, so that help texts can list it.

Source: Paul Jaccard, "The distribution of the flora in the alpine zone", 1912; for containment Andrei Z. Broder, "On
the resemblance and containment of documents", 1997.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from nearkin.nouns import one_of

if TYPE_CHECKING:
    from nearkin.records import F64, Matches

MeasureName = Literal["jaccard", "containment"]
"""Values of ``--measure``."""
SearchName = Literal["bands", "sampling"]
"""The searches; see `nearkin.planning.search.PLANNERS`."""


@dataclass(frozen=True, slots=True)
class Measure(ABC):
    """Base of all measures. For documents of given sizes, a measure never decreases with more shared shingles.

    Attributes
    ----------
    columns
        Its columns in ``pairs.parquet``: one, or one for each direction.
    search : {"bands", "sampling"}
        Bands find the pairs of a measure that never exceeds Jaccard similarity, sampled shingles those of one
        that never exceeds containment.
    """

    name: ClassVar[MeasureName]
    title: ClassVar[str]
    summary: ClassVar[str]
    meaning: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    search: ClassVar[SearchName]

    def __str__(self) -> str:
        return self.name

    @property
    def is_directed(self) -> bool:
        """Whether the similarity of A to B may differ from that of B to A."""
        return len(self.columns) > 1

    @abstractmethod
    def directions(self, matches: Matches) -> tuple[F64, F64]:
        """Return the similarity of left documents to right ones, and of right to left; each of shape (n_pairs,)."""

    @abstractmethod
    def similarity(self, matches: Matches) -> F64:
        """Return the larger of both directions, in [0, 1], shape (n_pairs,)."""

    def min_size_ratio(self, threshold: float) -> float:
        """Return the minimum ratio of the smaller to the larger set with which a pair can reach the threshold."""
        del threshold
        return 0.0


@dataclass(frozen=True, slots=True)
class Jaccard(Measure):
    """|A ∩ B| / |A ∪ B|."""

    name = "jaccard"
    title = "Jaccard"
    summary = "shared shingles / all shingles"
    meaning = "shingles that both documents have, divided by all distinct shingles of the two"
    columns = ("jaccard",)
    search = "bands"

    def directions(self, matches: Matches) -> tuple[F64, F64]:
        """Return the same array twice."""
        similarity = matches.jaccard
        return similarity, similarity

    def similarity(self, matches: Matches) -> F64:
        """Return the similarity; see `Measure`."""
        return matches.jaccard

    def min_size_ratio(self, threshold: float) -> float:
        """Return the threshold: the sets share at most the smaller one."""
        return threshold


@dataclass(frozen=True, slots=True)
class Containment(Measure):
    """|A ∩ B| / |A| or |A ∩ B| / |B|, whichever is larger."""

    name = "containment"
    title = "containment"
    summary = "share of one text's shingles that occur in the other, the larger of the two directions"
    meaning = "the share of one document's shingles that occur in the other, the larger of the two directions"
    columns = ("containment_a_in_b", "containment_b_in_a")
    search = "sampling"

    def directions(self, matches: Matches) -> tuple[F64, F64]:
        """Return the share of the left document found in the right one, and the reverse."""
        return matches.containment_left_in_right, matches.containment_right_in_left

    def similarity(self, matches: Matches) -> F64:
        """Return the similarity; see `Measure`."""
        return matches.containment


MEASURES: Mapping[str, Measure] = {measure.name: measure for measure in (Jaccard(), Containment())}
"""All measures by name, in the order of the columns of ``pairs.parquet``."""
MEASURE_NAMES = one_of(get_args(MeasureName))
MEASURE_COLUMNS = tuple(column for measure in MEASURES.values() for column in measure.columns)


def measured(matches: Matches) -> list[F64]:
    """Return the values of `MEASURE_COLUMNS`, where a is the left document; each of shape (n_pairs,)."""
    return [
        values
        for measure in MEASURES.values()
        for values in measure.directions(matches)[: len(measure.columns)]  # a single column serves both
    ]
