"""Counted terms → vectors of weights, each of length 1, document by document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearkin.records import F64, I64, Bool, TermCounts, WeightedVectors
from nearkin.runs.arrays import GrowingArray
from nearkin.runs.meter import Meter
from nearkin.stages.features.vocabulary import BM25
from nearkin.stages.translation.projection import WordProjection
from nearkin.workflows.pairing.collecting import Collected
from nearkin.workflows.pairing.options import PairOptions

_MIN_TRANSLATED = 0.01
"""Minimum fraction of an occurrence; translations with a smaller one are omitted."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Weighing:
    """Data of a whole side, needed to turn counted terms of its documents into vectors.

    Parameters
    ----------
    is_kept : bool array, shape (n_words,)
        Whether each of the side's own words is kept.
    projection : WordProjection or None
        Projection to terms of the vocabulary.
    numbers : int64 array, shape (n_words,), or None
        Numbers of the side's own words in the vocabulary. None: they are translated, or are its first words.
    document_frequencies : float64 array, shape (n_vocabulary,)
    n_documents : int
        Number of documents of the side.
    mean_length : float
        Mean length of its documents.
    min_terms : int
        Minimum number of terms of a document with a vector.
    bm25 : BM25
    """

    is_kept: Bool
    projection: WordProjection | None
    numbers: I64 | None
    document_frequencies: F64
    n_documents: int
    mean_length: float
    min_terms: int
    bm25: BM25

    @classmethod
    def of(
        cls,
        collected: Collected,
        is_kept: Bool,
        options: PairOptions,
        n_terms: int,
        *,
        projection: WordProjection | None = None,
        numbers: I64 | None = None,
    ) -> Weighing:
        """Make the data for a corpus, in a vocabulary of ``n_terms``."""
        frequencies = np.where(is_kept, collected.document_frequencies, 0.0)
        occurrences = np.where(is_kept, collected.n_occurrences, 0.0)
        df = frequencies
        if projection is not None:
            df = projection.document_frequencies(frequencies)
            occurrences = projection.document_frequencies(occurrences)
        elif numbers is not None:
            df = np.bincount(numbers, frequencies, n_terms).astype(np.float64)
        n, mean_length = len(collected), float(occurrences.sum()) / len(collected)
        return cls(
            is_kept=is_kept,
            projection=projection,
            numbers=numbers,
            document_frequencies=df,
            n_documents=n,
            mean_length=mean_length,
            min_terms=options.min_terms,
            bm25=options.bm25,
        )

    def as_arrays(self) -> dict[str, NDArray[Any]]:
        """Return arrays from which `of_arrays` makes an identical object."""
        arrays = {"is_kept": self.is_kept, "document_frequencies": self.document_frequencies}
        if self.numbers is not None:
            arrays["numbers"] = self.numbers
        if self.projection is not None:
            arrays |= {name: np.asarray(getattr(self.projection, name)) for name in WordProjection.__slots__}
        scalars = self.n_documents, self.min_terms
        return {**arrays, "counts": np.array(scalars), "reals": np.array([self.mean_length, self.bm25.k1, self.bm25.b])}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Weighing:
        """Make the object from the result of `as_arrays`."""
        projection = None
        if "targets" in arrays:
            own = {name: arrays[name] for name in WordProjection.__slots__}
            projection = WordProjection(**{**own, "n_targets": int(own["n_targets"])})  # type: ignore[arg-type]
        n_documents, min_terms = arrays["counts"].tolist()
        mean_length, k1, b = arrays["reals"].tolist()
        return cls(
            is_kept=arrays["is_kept"],
            projection=projection,
            numbers=arrays.get("numbers"),
            document_frequencies=arrays["document_frequencies"],
            n_documents=n_documents,
            mean_length=mean_length,
            min_terms=min_terms,
            bm25=BM25(k1, b),
        )

    def weigh(self, counts: TermCounts) -> WeightedVectors:
        """Weigh documents counted in the side's own words."""
        counts = _only(counts, self.is_kept)
        if self.projection is not None:
            counts = self.projection.project(counts, least=_MIN_TRANSLATED)
        elif self.numbers is not None:
            counts = TermCounts(self.numbers[counts.terms].astype(np.int32), counts.counts, counts.offsets)
        return self.bm25.weigh(
            _long_enough(counts, self.min_terms), document_frequencies=self.document_frequencies,
            n_documents=self.n_documents, mean_length=self.mean_length,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ToWeigh:
    """Side to weigh.

    Parameters
    ----------
    side : {"left", "right"}
    collected : Collected
    weighing : Weighing
    """

    side: str
    collected: Collected
    weighing: Weighing


WeighingBoth = Callable[[Sequence[ToWeigh]], Sequence[WeightedVectors]]
"""Function that makes the vectors of both sides."""


class GrowingVectors:
    """Vectors of a side, on disk, to which parts are added.

    Parameters
    ----------
    work : Path
    side : {"left", "right"}
    """

    def __init__(self, work: Path, side: str) -> None:
        self._terms = GrowingArray(vector_place(work, side, "terms"), np.int32)
        self._weights = GrowingArray(vector_place(work, side, "weights"), np.float32)
        self._sizes = [np.zeros(1, np.int64)]

    def add(self, part: WeightedVectors) -> None:
        """Add the next documents."""
        self._terms.add(part.terms)
        self._weights.add(part.weights)
        self._sizes.append(part.sizes)

    def mapped(self) -> WeightedVectors:
        """Return all vectors; nothing more can be added."""
        offsets = np.cumsum(np.concatenate(self._sizes))
        return WeightedVectors(self._terms.mapped(), self._weights.mapped(), offsets)  # type: ignore[arg-type]


def vector_place(work: Path, side: str, name: str) -> Path:
    """Return the file of the "terms" or "weights" of a side, which is mapped while in use."""
    return work / f"{side}-vector-{name}"


def weigh_here(sides: Sequence[ToWeigh], *, work: Path, meter: Meter) -> list[WeightedVectors]:
    """Return the vectors of both sides, made part by part."""
    made = []
    with meter.stage("weigh", sum(len(one.collected) for one in sides), "documents") as progress:
        for one in sides:
            growing = GrowingVectors(work, one.side)
            for part in one.collected.parts():
                growing.add(one.weighing.weigh(part))
                progress.advance(len(part))
            made.append(growing.mapped())
    return made


def _only(counts: TermCounts, is_kept: Bool) -> TermCounts:
    """Return the counts without omitted terms."""
    kept = is_kept[counts.terms]
    offsets = np.concatenate([[0], np.cumsum(kept)])[counts.offsets]
    return TermCounts(counts.terms[kept], counts.counts[kept], offsets)


def _long_enough(counts: TermCounts, least: int) -> TermCounts:
    """Return the counts, with no terms for documents that have too few."""
    sizes = counts.sizes
    is_long = sizes >= least
    kept = np.repeat(is_long, sizes)
    offsets = np.concatenate([[0], np.cumsum(np.where(is_long, sizes, 0))])
    return TermCounts(counts.terms[kept], counts.counts[kept], offsets)
