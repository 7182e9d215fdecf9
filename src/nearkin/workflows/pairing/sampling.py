"""Comparison of some documents on the left with all on the right, for planning: similarities and costs."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from nearkin.engines.local import map_ordered
from nearkin.kernels.cosines import Sparse, block_by_terms, near_in_block, spread_in_block
from nearkin.planning.pairs.chances import CosineSpread
from nearkin.records import F64, I64, U64
from nearkin.runs.meter import Meter
from nearkin.stages.search.stretches import keys_of, rows_of
from nearkin.workflows.pairing.searching import BLOCK, min_sum, some_vectors
from nearkin.workflows.pairing.vectors import PairVectors
from nearkin.workflows.pairing.verifying import cosines_of, reaches
from nearkin.workflows.resources import Resources

_SAMPLE = 2000
_MAX_SAMPLE_PAIRS = 400_000_000
_BINS = 100
_TIMED = 20_000
_DRAWS = 400  # keeps the draw apart from other uses of the seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """Sample of documents on the left, each compared with all on the right.

    Parameters
    ----------
    n_documents : int
    spread : CosineSpread
        Spread over all their pairs.
    keys : uint64 array, shape (n_pairs,)
        Pairs at the threshold, ascending: the left row in the upper 32 bits, the right one in the lower.
    cosines : float64 array, shape (n_pairs,)
        Cosines of these pairs.
    pair_ns, candidate_ns : float
        Processor time to compare a pair by the inverted index, and to compute the cosine of a candidate.
    """

    n_documents: int
    spread: CosineSpread
    keys: U64
    cosines: F64
    pair_ns: float
    candidate_ns: float


def sample(vectors: PairVectors, threshold: float, *, seed: int = 0, resources: Resources, meter: Meter) -> Sampled:
    """Compare random documents on the left with all on the right.

    Parameters
    ----------
    vectors : PairVectors
    threshold : float
    seed : int
        A different seed draws other documents.
    resources : Resources
    meter : Meter
    """
    right = vectors.right
    rows = np.flatnonzero(vectors.left.sizes)
    n = min(_SAMPLE, len(rows), max(50, _MAX_SAMPLE_PAIRS // max(1, len(right))))
    rows = rows[np.sort(np.random.default_rng([seed, _DRAWS]).choice(len(rows), n, replace=False))]
    own, firsts = some_vectors(vectors.left, rows), range(0, len(right), BLOCK)
    counts, found = np.zeros(_BINS, np.int64), [np.zeros(0, np.uint64)]
    with meter.stage("sample", n * len(right), "pairs") as progress:

        def look(first: int) -> tuple[I64, U64]:
            return _look(vectors, own, first, threshold)

        for first, (part, keys) in zip(firsts, map_ordered(look, firsts, threads=resources.n_threads)):
            counts += part
            places, others = rows_of(keys)
            found.append(keys_of(rows[places], others + first))
            progress.advance(n * min(BLOCK, len(right) - first))
        keys = np.sort(np.concatenate(found))
        cosines = cosines_of(vectors, keys, resources.n_threads)
    # documents without a vector are harmless: their products are 0 and are counted there
    counts[0] -= n * int((right.sizes == 0).sum())
    is_near = reaches(cosines, threshold)
    spread = CosineSpread.of_counts(np.linspace(0.0, 1.0, _BINS + 1), np.maximum(counts, 0))
    pair_ns, candidate_ns = _costs_of(vectors, own, rows, threshold)
    return Sampled(
        n_documents=n,
        spread=spread,
        keys=keys[is_near],
        cosines=cosines[is_near],
        pair_ns=pair_ns,
        candidate_ns=candidate_ns,
    )


def _look(vectors: PairVectors, own: Sparse, first: int, threshold: float) -> tuple[I64, U64]:
    """Return the spread of the sample's cosines with a block of the right, and pairs near or above the threshold."""
    end, n = min(first + BLOCK, len(vectors.right)), len(own[2]) - 1
    block = block_by_terms(vectors.right.sparse, first, end, vectors.n_terms)
    counts = spread_in_block(own, (0, n), block, n_bins=_BINS)
    return counts, near_in_block(own, (0, n), block, least=min_sum(threshold))


def _costs_of(vectors: PairVectors, own: Sparse, rows: I64, threshold: float) -> tuple[float, float]:
    """Measure the time per pair by the inverted index, and per candidate at a random place, on these vectors."""
    right = vectors.right
    end = min(BLOCK, len(right))
    block = block_by_terms(right.sparse, 0, end, vectors.n_terms)
    began = time.process_time()
    near_in_block(own, (0, len(rows)), block, least=threshold)
    pair_ns = 1e9 * (time.process_time() - began) / max(1, len(rows) * end)
    chance = np.random.default_rng(0)
    left, others = np.sort(chance.choice(rows, _TIMED)), chance.integers(0, len(right), _TIMED)
    began = time.process_time()
    cosines_of(vectors, keys_of(left, others), 1)
    return pair_ns, 1e9 * (time.process_time() - began) / _TIMED
