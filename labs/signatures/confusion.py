"""Errors of a signature: dissimilar pairs that it takes for similar, and similar pairs that it misses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from labs.signatures.methods import as_signatures
from labs.signatures.retrieval import distances
from labs.signatures.truth import CHARACTER_THRESHOLD, SimilarPairs
from nearkin.records import I64, U8, U32, Candidates, ShingleSets
from nearkin.stages.search.hamming.neighbours import neighbour_pairs
from nearkin.stages.search.hamming.pairs import HammingPairs
from nearkin.stages.verification.overlap import verify

MAX_SHOWN = 5
_MAX_COMPARED = 20_000
_MAX_LISTED = 2_000_000
_MAX_DISTANCE_SHARE = 0.25
_HEAD_CHARACTERS = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusedPair:
    """Two documents.

    Parameters
    ----------
    id_a, id_b : str
    head_a, head_b : str
        Beginnings of their texts, with collapsed white space.
    distance : int
    similarity : float
        Jaccard similarity of their sets of 4-grams.
    """

    id_a: str
    id_b: str
    head_a: str
    head_b: str
    distance: int
    similarity: float


@dataclass(frozen=True, slots=True)
class Confusions:
    """Errors of one kind of signature of one length.

    Parameters
    ----------
    key : str
    bits : int
    unlike : tuple of ConfusedPair
        Dissimilar pairs with the nearest signatures; in a tie the least similar.
    missed : tuple of ConfusedPair
        Similar pairs with the farthest signatures.
    """

    key: str
    bits: int
    unlike: tuple[ConfusedPair, ...]
    missed: tuple[ConfusedPair, ...]


@dataclass(frozen=True, slots=True)
class DistinctTexts:
    """Distinct texts, with the first document of each and its features."""

    ids: pa.LargeStringArray
    texts: pa.LargeStringArray
    sets: ShingleSets


def confusions(key: str, packed: U8, texts: DistinctTexts, similar: SimilarPairs, *, threads: int) -> Confusions:
    """Find the errors among distinct texts."""
    apart = distances(packed, similar)
    far = np.lexsort((similar.right, similar.left, similar.similarity, -apart))[:MAX_SHOWN]
    missed = (
        _pair(texts, int(similar.left[i]), int(similar.right[i]), int(apart[i]), float(similar.similarity[i]))
        for i in far.tolist()
    )
    return Confusions(key, 8 * packed.shape[1], _unlike(packed, texts, threads), tuple(missed))


def _unlike(packed: U8, texts: DistinctTexts, threads: int) -> tuple[ConfusedPair, ...]:
    """Search with increasing distance until enough neighbours are dissimilar."""
    signatures, bits = as_signatures(packed, "confusion"), 8 * packed.shape[1]
    distance = 0
    while True:
        left, right, apart = _nearest(neighbour_pairs(signatures, distance, threads=threads), distance)
        sets = texts.sets
        jaccard = verify(Candidates(left, right), sets.hashes, sets.offsets[:-1], sets.offsets[1:]).jaccard
        wrong = np.flatnonzero(jaccard < CHARACTER_THRESHOLD)
        is_enough = len(wrong) >= MAX_SHOWN or len(left) == _MAX_COMPARED
        if is_enough or distance >= _MAX_DISTANCE_SHARE * bits:
            break
        distance = max(1, 2 * distance)
    nearest = wrong[np.lexsort((right[wrong], left[wrong], jaccard[wrong], apart[wrong]))][:MAX_SHOWN]
    return tuple(_pair(texts, int(left[i]), int(right[i]), int(apart[i]), float(jaccard[i])) for i in nearest.tolist())


def _nearest(found: HammingPairs, distance: int) -> tuple[U32, U32, I64]:
    """Return the nearest pairs, as many as are to be compared."""
    for shorter in range(distance + 1):
        within = found.within(shorter)
        if within.n_document_pairs >= _MAX_COMPARED or shorter == distance:
            break
    blocks = []
    n = 0
    for block in within.blocks():
        blocks.append(block)
        n += len(block)
        if n >= _MAX_LISTED:
            break
    if not blocks:
        return np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros(0, np.int64)
    left, right, apart = (np.concatenate([getattr(b, name) for b in blocks]) for name in ("left", "right", "distance"))
    order = np.argsort(apart, kind="stable")[:_MAX_COMPARED]
    return left[order], right[order], apart[order].astype(np.int64)


def _pair(texts: DistinctTexts, left: int, right: int, distance: int, similarity: float) -> ConfusedPair:
    return ConfusedPair(
        id_a=texts.ids[left].as_py(),
        id_b=texts.ids[right].as_py(),
        head_a=_head(texts, left),
        head_b=_head(texts, right),
        distance=distance,
        similarity=similarity,
    )


def _head(texts: DistinctTexts, row: int) -> str:
    words = " ".join(texts.texts[row].as_py()[: 50 * _HEAD_CHARACTERS].split())
    return words if len(words) <= _HEAD_CHARACTERS else words[:_HEAD_CHARACTERS] + " …"
