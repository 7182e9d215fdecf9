"""Two corpora of counted terms → vectors of one vocabulary."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.errors import ParameterError
from nearkin.manifests.pairs import SideFacts
from nearkin.nouns import counted
from nearkin.records import F64, I64, U64, BitSignatures, Bool, WeightedVectors
from nearkin.runs.meter import Meter
from nearkin.stages.features.vocabulary import hashes_of
from nearkin.stages.signatures.random_projection import RandomProjection, TermVectors
from nearkin.stages.translation.projection import WAYS, WordProjection
from nearkin.workflows.pairing.collecting import Collected
from nearkin.workflows.pairing.options import PairOptions
from nearkin.workflows.pairing.translating import SideTranslation
from nearkin.workflows.pairing.weighing import ToWeigh, Weighing, WeighingBoth, weigh_here

_SIGNED_AT_ONCE = 1 << 13


@dataclass(frozen=True, slots=True, kw_only=True)
class PairVectors:
    """Both corpora as vectors of one vocabulary.

    Parameters
    ----------
    left, right : WeightedVectors
    words : LargeStringArray
        Words of the vocabulary.
    hashes : uint64 array, shape (n_vocabulary,)
        Hashes of the words, from which signatures are made.
    fingerprint : str
        Fingerprint of everything that decides the vectors, except the documents.
    left_facts, right_facts : SideFacts
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
        told = hashlib.sha256()
        for array in (self.hashes, *self.left.sparse, *self.right.sparse):
            told.update(np.ascontiguousarray(array).data)
        return told.hexdigest()

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
        own = slice(int(offsets[0]), int(offsets[-1]))
        return projection.sign(
            TermVectors(
                self.hashes[vectors.terms[own]],
                vectors.weights[own].astype(np.float64),
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
    """Weigh the terms of both sides; if there is a translation, those of one side are translated first.

    The vocabulary is that of the other side. ``weighing`` makes the vectors, by default in this process.

    Raises
    ------
    ParameterError
        No document of a side has enough terms for a vector.
    """
    is_right = translation is not None and translation.side == "right"
    projections: list[WordProjection | None] = [None, None]
    if translation is not None:
        projections[is_right] = translation.projection
    words, numbers = (left if is_right else right).vocabulary.words, None
    if translation is None:
        words, numbers = _united(right.vocabulary.words, left)
    sides, kept = (left, right), [one.n_occurrences >= options.min_occurrences for one in (left, right)]
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
    """Refuse a side without vectors; the untranslated side comes first, because the translation depends on it."""
    of_sides = list(zip(sides, weighed, projections, strict=True))[::-1]
    for collected, vectors, projection in sorted(of_sides, key=lambda one: one[2] is not None):
        if not vectors.sizes.any():
            raise ParameterError(
                f"{collected.called}: none of its {counted(len(collected), 'document')} has {options.min_terms} terms "
                f"that occur at least {options.min_occurrences} times in the corpus"
                + (" and can be translated" if projection is not None else "")
                + ": there is nothing to compare. Lower min_terms or min_occurrences."
            )


def _united(words: pa.LargeStringArray, left: Collected) -> tuple[pa.LargeStringArray, I64]:
    """Return the words of both sides, those on the right first, and the number of each left word among them."""
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
