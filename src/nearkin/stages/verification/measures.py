"""Measures of similarity: what ``--measure`` names, each in one object.

`MEASURES` has them all. A measure says how it is computed from counted shingles, in which columns of ``pairs.parquet``
it is written, and which search finds its pairs. This module loads no array library, so that help texts can list it.

Source: Paul Jaccard, "The distribution of the flora in the alpine zone", 1912; for containment Andrei Z. Broder, "On
the resemblance and containment of documents", 1997.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

if TYPE_CHECKING:
    from nearkin.records import F64, Matches

MeasureName = Literal["jaccard", "containment"]
"""What ``--measure`` may be."""
SearchName = Literal["bands", "sampling"]
"""The searches; see `nearkin.planning.search.PLANNERS`."""


@dataclass(frozen=True, slots=True)
class Measure(ABC):
    """What all measures have; none falls where two documents of the same sizes share more shingles.

    Attributes
    ----------
    name : str
        What ``--measure`` calls it.
    title : str
        As it is written in a sentence.
    summary, meaning : str
        For the help texts, and for reports.
    columns : tuple of str
        Columns of ``pairs.parquet`` that hold it: one, or one for each direction.
    search : {"bands", "sampling"}
        Bands find the pairs of a measure that is never more than Jaccard similarity, sampled shingles those of one
        that is never more than containment.
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
        """Whether A may be more similar to B than B to A."""
        return len(self.columns) > 1

    @abstractmethod
    def directions(self, matches: Matches) -> tuple[F64, F64]:
        """The similarity of left documents to right ones, and of right to left; each of shape (n_pairs,)."""

    @abstractmethod
    def similarity(self, matches: Matches) -> F64:
        """The larger of both directions, in [0, 1], shape (n_pairs,)."""

    def min_size_ratio(self, threshold: float) -> float:
        """The least size of the smaller set, in sizes of the larger one, with which a pair can reach the threshold."""
        del threshold
        return 0.0


@dataclass(frozen=True, slots=True)
class Jaccard(Measure):
    """|A ∩ B| / |A ∪ B|."""

    name = "jaccard"
    title = "Jaccard"
    summary = "shared shingles of all"
    meaning = "shingles that both documents have, divided by all distinct shingles of the two"
    columns = ("jaccard",)
    search = "bands"

    def directions(self, matches: Matches) -> tuple[F64, F64]:
        """The same twice."""
        similarity = matches.jaccard
        return similarity, similarity

    def similarity(self, matches: Matches) -> F64:
        """See `Measure`."""
        return matches.jaccard

    def min_size_ratio(self, threshold: float) -> float:
        """The threshold: the smaller set is at most all that is shared."""
        return threshold


@dataclass(frozen=True, slots=True)
class Containment(Measure):
    """|A ∩ B| / |A|, or |A ∩ B| / |B| where that is larger."""

    name = "containment"
    title = "containment"
    summary = "shared shingles of the shorter text's"
    meaning = "the share of one document's shingles that the other holds, the larger of the two directions"
    columns = ("containment_a_in_b", "containment_b_in_a")
    search = "sampling"

    def directions(self, matches: Matches) -> tuple[F64, F64]:
        """How much of the left document the right one holds, and how much of the right one the left."""
        return matches.containment_left_in_right, matches.containment_right_in_left

    def similarity(self, matches: Matches) -> F64:
        """See `Measure`."""
        return matches.containment


MEASURES: Mapping[str, Measure] = {measure.name: measure for measure in (Jaccard(), Containment())}
"""Every measure by its name, in the order of the columns of ``pairs.parquet``."""
MEASURE_NAMES = " or ".join(get_args(MeasureName))
MEASURE_COLUMNS = tuple(column for measure in MEASURES.values() for column in measure.columns)


def measured(matches: Matches) -> list[F64]:
    """The values of `MEASURE_COLUMNS`, left documents being a; each of shape (n_pairs,)."""
    return [
        values
        for measure in MEASURES.values()
        for values in measure.directions(matches)[: len(measure.columns)]  # one column has both
    ]
