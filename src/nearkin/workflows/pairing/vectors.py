"""Two corpora of counted terms → vectors of one vocabulary."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearkin.engines.local import map_ordered
from nearkin.errors import ParameterError
from nearkin.manifests.pairs import SideFacts
from nearkin.nouns import counted
from nearkin.options.pairs import PairOptions
from nearkin.records import F64, I64, U64, BitSignatures, Bool, TermCounts, WeightedVectors
from nearkin.runs.progress import Meter
from nearkin.runs.spool import GrowingArray
from nearkin.stages.features.vocabulary import BM25, hashes_of
from nearkin.stages.signatures.random_projection import RandomProjection, TermVectors
from nearkin.stages.translation.projection import WAYS, WordProjection
from nearkin.workflows.pairing.collecting import Collected
from nearkin.workflows.pairing.translating import SideTranslation

_SIGNED_AT_ONCE = 1 << 13


@dataclass(frozen=True, slots=True, kw_only=True)
class PairVectors:
    """Both corpora as vectors of one vocabulary.

    Parameters
    ----------
    hashes : uint64 array, shape (n_vocabulary,)
        Hashes of the words, from which signatures are made.
    fingerprint
        Of everything that decides the vectors, except the documents.
    """

    left: WeightedVectors
    right: WeightedVectors
    words: pa.LargeStringArray
    hashes: U64
    fingerprint: str
    left_facts: SideFacts
    right_facts: SideFacts

    @property
    def n_terms(self) -> int:
        """Size of the vocabulary."""
        return len(self.words)

    def sha256(self) -> str:
        """Return the digest of the vectors of both, in hexadecimal."""
        digest = hashlib.sha256()
        for array in (self.hashes, *self.left.sparse, *self.right.sparse):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def signed(self, bits: int, seed: int, *, threads: int, meter: Meter) -> tuple[BitSignatures, BitSignatures]:
        """Return the signatures of both."""
        projection = RandomProjection(bits, seed)
        total = len(self.left) + len(self.right)
        with meter.stage("sign", total, "documents") as progress:

            def sign(vectors: WeightedVectors) -> BitSignatures:
                parts = []
                for part in map_ordered(
                    lambda rows: self.sign_rows(projection, vectors, rows), _rows(vectors), threads=threads
                ):
                    progress.advance(len(part))
                    parts.append(part)
                return BitSignatures(
                    np.concatenate([np.zeros((0, bits // 8), np.uint8), *(part.packed for part in parts)]),
                    np.concatenate([np.zeros(0, np.bool_), *(part.has_features for part in parts)]),
                    f"{self.fingerprint};{projection.fingerprint}",
                )

            return sign(self.left), sign(self.right)

    def sign_rows(self, projection: RandomProjection, vectors: WeightedVectors, rows: slice) -> BitSignatures:
        """Return the signatures of some documents of a side."""
        offsets = vectors.offsets[rows.start : rows.stop + 1]
        block = slice(int(offsets[0]), int(offsets[-1]))
        return projection.sign(
            TermVectors(
                self.hashes[vectors.terms[block]],
                vectors.weights[block].astype(np.float64),
                offsets - offsets[0],
                self.fingerprint,
            )
        )


def vectors_of(
    left: Collected,
    right: Collected,
    options: PairOptions,
    translation: SideTranslation | None,
    work: Path,
    *,
    fingerprint: str,
    meter: Meter,
    weighing: WeighingBoth | None = None,
) -> PairVectors:
    """Weigh the terms of both sides; with a translation, those of one side are translated first."""
    is_right = translation is not None and translation.side == "right"
    projections: list[WordProjection | None] = [None, None]
    if translation is not None:
        projections[is_right] = translation.projection
    words, numbers = (left if is_right else right).vocabulary.words, None
    if translation is None:
        words, numbers = _united(right.vocabulary.words, left)
    sides, kept = (left, right), [side.n_occurrences >= options.min_occurrences for side in (left, right)]
    to_weigh = [
        ToWeigh(name, own, Weighing.of(own, is_kept, options, len(words), projection=projection, numbers=own_numbers))
        for name, own, is_kept, projection, own_numbers in zip(
            ("left", "right"), sides, kept, projections, (numbers, None), strict=True
        )
    ]
    weighed = (weighing or partial(weigh_here, work=work, meter=meter))(to_weigh)
    _check_any(sides, weighed, projections, options)
    first, second = (
        _facts(own, vectors, is_kept, projection)
        for own, vectors, is_kept, projection in zip(sides, weighed, kept, projections, strict=True)
    )
    return PairVectors(
        left=weighed[0],
        right=weighed[1],
        words=words,
        hashes=hashes_of(words),
        fingerprint=fingerprint,
        left_facts=first,
        right_facts=second,
    )


def _check_any(
    sides: tuple[Collected, Collected],
    weighed: Sequence[WeightedVectors],
    projections: Sequence[WordProjection | None],
    options: PairOptions,
) -> None:
    """Refuse a side without vectors; the untranslated side comes first: the translation depends on it."""
    of_sides = list(zip(sides, weighed, projections, strict=True))[::-1]
    for collected, vectors, projection in sorted(of_sides, key=lambda of_side: of_side[2] is not None):
        if not vectors.sizes.any():
            raise ParameterError(
                f"{collected.called}: none of its {counted(len(collected), 'document')} has {options.min_terms} terms "
                f"that occur at least {options.min_occurrences} times in the corpus"
                + (" and can be translated" if projection is not None else "")
                + ": there is nothing to compare. Lower min_terms or min_occurrences."
            )


def _united(words: pa.LargeStringArray, left: Collected) -> tuple[pa.LargeStringArray, I64]:
    joined = pa.concat_arrays([words, left.vocabulary.words]).dictionary_encode()
    numbers = joined.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return joined.dictionary, numbers[len(words) :]


def _facts(
    collected: Collected, vectors: WeightedVectors, is_kept: Bool, projection: WordProjection | None
) -> SideFacts:
    n_unreadable = collected.n_unreadable
    n_vectors = int((vectors.sizes > 0).sum())
    ways: dict[str, float] = {}
    if projection is not None:
        occurrences: F64 = np.where(is_kept, collected.n_occurrences, 0.0)
        shares = np.bincount(projection.ways, occurrences, len(WAYS)) / max(float(occurrences.sum()), 1.0)
        ways = {way: round(float(share), 6) for way, share in zip(WAYS, shares, strict=True)}
    return SideFacts(
        n_documents=len(collected),
        n_unreadable=n_unreadable,
        n_few_terms=len(collected) - n_unreadable - n_vectors,
        n_vectors=n_vectors,
        n_words=len(is_kept),
        n_rare_words=int((~is_kept).sum()),
        mean_terms=round(len(vectors.terms) / max(n_vectors, 1), 3),
        ways=ways,
    )


def _rows(vectors: WeightedVectors) -> Iterator[slice]:
    for first in range(0, len(vectors), _SIGNED_AT_ONCE):
        yield slice(first, min(first + _SIGNED_AT_ONCE, len(vectors)))


_MIN_TRANSLATED = 0.01
"""Minimum fraction of an occurrence; translations with a smaller one are omitted."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Weighing:
    """Data of a whole side, needed to turn counted terms of its documents into vectors.

    Parameters
    ----------
    is_kept : bool array, shape (n_words,)
        Whether each of the side's own words is kept.
    numbers : int64 array, shape (n_words,), or None
        Numbers of the side's own words in the vocabulary. None: they are translated, or are its first words.
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
            fields_of_projection = {name: arrays[name] for name in WordProjection.__slots__}
            projection = WordProjection(**{**fields_of_projection, "n_targets": int(fields_of_projection["n_targets"])})  # type: ignore[arg-type]
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
    """Side to weigh."""

    side: str
    collected: Collected
    weighing: Weighing


WeighingBoth = Callable[[Sequence[ToWeigh]], Sequence[WeightedVectors]]
"""Function that makes the vectors of both sides."""


class GrowingVectors:
    """Vectors of a side, on disk, to which parts are added."""

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
    with meter.stage("weigh", sum(len(side.collected) for side in sides), "documents") as progress:
        for one in sides:
            growing = GrowingVectors(work, one.side)
            for part in one.collected.parts():
                growing.add(one.weighing.weigh(part))
                progress.advance(len(part))
            made.append(growing.mapped())
    return made


def _only(counts: TermCounts, is_kept: Bool) -> TermCounts:
    kept = is_kept[counts.terms]
    offsets = np.concatenate([[0], np.cumsum(kept)])[counts.offsets]
    return TermCounts(counts.terms[kept], counts.counts[kept], offsets)


def _long_enough(counts: TermCounts, least: int) -> TermCounts:
    sizes = counts.sizes
    is_long = sizes >= least
    kept = np.repeat(is_long, sizes)
    offsets = np.concatenate([[0], np.cumsum(np.where(is_long, sizes, 0))])
    return TermCounts(counts.terms[kept], counts.counts[kept], offsets)
