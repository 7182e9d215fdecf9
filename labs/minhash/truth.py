"""Exact comparison of all pairs, and the candidates that bands make of them: both sides of the article's experiment.

Pairs are processed in blocks; only sums and the similar pairs are kept, so memory does not grow quadratically.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearkin.engines.local import map_ordered
from nearkin.records import F64, I64, U32, U64, Candidates, ShingleSets
from nearkin.runs.progress import Progress
from nearkin.stages.search.bands import Bands
from nearkin.stages.search.exhaustive import all_pairs
from nearkin.stages.signatures.minhash import MinHash
from nearkin.stages.verification.overlap import verify

N_HASHES = 100
BANDINGS = (Bands(2, 50), Bands(5, 20), Bands(10, 10), Bands(20, 5), Bands(50, 2))
KEPT_FROM = 0.5
SIMILARITY_BINS = 50
_BLOCK_ROWS = 64


@dataclass(frozen=True, slots=True)
class KeptPairs:
    """Pairs of rows of at least `KEPT_FROM`, with their exact Jaccard similarity; arrays of shape (n_pairs,)."""

    left: U32
    right: U32
    similarity: F64


@dataclass(frozen=True, slots=True, kw_only=True)
class Banding:
    """Result of one way of cutting the sketch into bands.

    Parameters
    ----------
    bands, rows : int
    n_candidates : tuple of int
        Number of candidate pairs with each sketch; the first has seed 0.
    n_expected : float
        Number of candidates expected by the model 1 − (1 − s^rows)^bands, summed over all exact similarities.
    n_high_found : tuple of int
        Number of candidates at or above the high threshold, with each sketch.
    n_high_expected : float
        The same number by the model.
    """

    bands: int
    rows: int
    n_candidates: tuple[int, ...]
    n_expected: float
    n_high_found: tuple[int, ...]
    n_high_expected: float

    @property
    def n_in_vain(self) -> int:
        """Number of candidates of the first sketch below the high threshold."""
        return self.n_candidates[0] - self.n_high_found[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class AllPairsTruth:
    """All pairs, and the results of each banding.

    Parameters
    ----------
    n_documents, n_pairs : int
    histogram : int64 array, shape (SIMILARITY_BINS,)
        All pairs by exact similarity, from 0 to 1; 1 counts in the last bin.
    similar : KeptPairs
    high_threshold : float
    n_high : int
        Number of pairs at or above it.
    bandings : tuple of Banding
    """

    n_documents: int
    n_pairs: int
    histogram: I64
    similar: KeptPairs
    high_threshold: float
    n_high: int
    bandings: tuple[Banding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """A block of pairs; counts have the shape (n_bandings, n_seeds), expectations (n_bandings,)."""

    n_pairs: int
    histogram: I64
    similar: KeptPairs
    n_candidates: I64
    n_high_found: I64
    n_expected: F64
    n_high_expected: F64


def compare_all(
    sets: ShingleSets, seeds: Sequence[int], *, high_threshold: float, threads: int, progress: Progress
) -> AllPairsTruth:
    """Compare every pair exactly, and find the candidates of each banding, with a sketch for each seed."""
    keys = [[bands.keys(MinHash(N_HASHES, seed).sign(sets)) for seed in seeds] for bands in BANDINGS]
    n = len(sets)
    progress.start("compare", n * (n - 1) // 2, "pairs")
    blocks = []
    for block in map_ordered(
        lambda pairs: _compare(pairs, sets, keys, high_threshold), all_pairs(n, block_rows=_BLOCK_ROWS), threads=threads
    ):
        blocks.append(block)
        progress.advance(block.n_pairs)
    progress.finish()
    similar = KeptPairs(*(np.concatenate([getattr(b.similar, f) for b in blocks]) for f in KeptPairs.__slots__))
    n_candidates, n_high_found, n_expected, n_high_expected = (
        np.sum([getattr(block, name) for block in blocks], axis=0)
        for name in ("n_candidates", "n_high_found", "n_expected", "n_high_expected")
    )
    bandings = tuple(
        Banding(
            bands=b.bands,
            rows=b.rows,
            n_candidates=_ints(candidates),
            n_expected=float(expected),
            n_high_found=_ints(found),
            n_high_expected=float(found_expected),
        )
        for b, candidates, expected, found, found_expected in zip(
            BANDINGS, n_candidates, n_expected, n_high_found, n_high_expected, strict=True
        )
    )
    histogram = np.sum([block.histogram for block in blocks], axis=0)
    n_high = int((similar.similarity >= high_threshold).sum())
    return AllPairsTruth(
        n_documents=n,
        n_pairs=sum(b.n_pairs for b in blocks),
        histogram=histogram,
        similar=similar,
        high_threshold=high_threshold,
        n_high=n_high,
        bandings=bandings,
    )


def _compare(pairs: Candidates, sets: ShingleSets, keys: Sequence[Sequence[U64]], high_threshold: float) -> _Block:
    similarity = verify(pairs, sets.hashes, sets.offsets[:-1], sets.offsets[1:]).jaccard
    is_high = similarity >= high_threshold
    n_candidates = np.zeros((len(BANDINGS), len(keys[0])), np.int64)
    n_high_found = np.zeros_like(n_candidates)
    for i, of_banding in enumerate(keys):
        for j, of_seed in enumerate(of_banding):
            is_candidate = _share_a_key(of_seed, pairs)
            n_candidates[i, j] = is_candidate.sum()
            n_high_found[i, j] = (is_candidate & is_high).sum()
    chances = [bands.probability(similarity) for bands in BANDINGS]
    is_kept = similarity >= KEPT_FROM
    return _Block(
        n_pairs=len(pairs),
        histogram=np.histogram(similarity, SIMILARITY_BINS, (0.0, 1.0))[0].astype(np.int64),
        similar=KeptPairs(pairs.left[is_kept], pairs.right[is_kept], similarity[is_kept]),
        n_candidates=n_candidates,
        n_high_found=n_high_found,
        n_expected=np.array([chance.sum() for chance in chances]),
        n_high_expected=np.array([chance[is_high].sum() for chance in chances]),
    )


def _share_a_key(keys: U64, pairs: Candidates) -> NDArray[np.bool_]:
    """Return which pairs have the same key in some band."""
    shared = np.zeros(len(pairs), np.bool_)
    for of_band in keys:
        shared |= of_band[pairs.left] == of_band[pairs.right]
    return shared


def _ints(counts: I64) -> tuple[int, ...]:
    return tuple(int(n) for n in counts)
