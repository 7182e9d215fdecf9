"""Comparison of some documents on the left with all on the right, for planning."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearkin.engines.local import map_ordered
from nearkin.kernels.cosines import Sparse, block_by_terms, near_in_block, spread_in_block
from nearkin.planning.pairs.assurance import SamplePairs
from nearkin.planning.pairs.chances import CosineSpread
from nearkin.planning.pairs.prediction import PairSearch
from nearkin.records import F64, I64, U64, BitSignatures, WeightedVectors
from nearkin.runs.progress import Meter
from nearkin.stages.search.sliding_window import SlidingWindow
from nearkin.stages.search.stretches import keys_of, rows_of
from nearkin.stages.signatures.random_projection import RandomProjection, TermVectors
from nearkin.workflows.pairing.searching import BLOCK, cosines_of, min_sum, reaches, some_vectors
from nearkin.workflows.pairing.vectors import PairVectors
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
    keys : uint64 array, shape (n_pairs,)
        Pairs at the threshold, ascending: the left row in the upper 32 bits, the right one in the lower.
    pair_ns, candidate_ns
        Processor time to compare a pair by the inverted index, and to compute the cosine of a candidate.
    """

    n_documents: int
    spread: CosineSpread
    keys: U64
    cosines: F64
    pair_ns: float
    candidate_ns: float


def sample(vectors: PairVectors, threshold: float, *, seed: int = 0, resources: Resources, meter: Meter) -> Sampled:
    """Compare random documents on the left with all on the right."""
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
    end, n = min(first + BLOCK, len(vectors.right)), len(own[2]) - 1
    block = block_by_terms(vectors.right.sparse, first, end, vectors.n_terms)
    counts = spread_in_block(own, (0, n), block, n_bins=_BINS)
    return counts, near_in_block(own, (0, n), block, least=min_sum(threshold))


def _costs_of(vectors: PairVectors, own: Sparse, rows: I64, threshold: float) -> tuple[float, float]:
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


_MAX_PAIRS = 400_000
_AT_ONCE = 1 << 13
MAX_ORDERS = 24
"""Maximum number of sorted orders to make for the sample; the mean over more of them varies little."""


class MeasuredSample:
    """Pairs of a sample (at least one), measured as a search will compare them."""

    def __init__(
        self, vectors: PairVectors, sampled: Sampled, seed: int, *, resources: Resources, meter: Meter
    ) -> None:
        self._vectors, self._sampled, self._seed = vectors, sampled, seed
        self._resources, self._meter = resources, meter
        self._step = -(-len(sampled.keys) // _MAX_PAIRS)
        self._left, self._right = rows_of(sampled.keys[:: self._step])
        self._distances = dict[int, I64]()
        self._signatures = dict[int, tuple[BitSignatures, BitSignatures]]()
        self._gaps = dict[int, NDArray[np.int64]]()

    def signed(self, bits: int) -> tuple[BitSignatures, BitSignatures]:
        """Return the signatures of all documents, for the sorted orders."""
        if bits not in self._signatures:
            self._signatures.clear()  # of another length: they take much memory
            self._signatures[bits] = self._vectors.signed(
                bits, self._seed, threads=self._resources.n_threads, meter=self._meter
            )
        return self._signatures[bits]

    def pairs(self, search: PairSearch) -> SamplePairs:
        """Return the pairs with the distances of their signatures and, in few sorted orders, their gaps."""
        if search.bits not in self._distances:
            self._distances[search.bits] = self._distances_of(search.bits)
        documents = np.unique(self._left, return_inverse=True)[1]
        return SamplePairs(
            n_bits=search.bits,
            documents=documents.astype(np.int64),
            n_documents=self._sampled.n_documents,
            cosines=self._sampled.cosines[:: self._step],
            distances=self._distances[search.bits],
            gaps=self._gaps_of(search) if 1 <= search.permutations <= MAX_ORDERS else None,
            share=1 / self._step,
        )

    def _distances_of(self, bits: int) -> I64:
        projection = RandomProjection(bits, self._seed)
        rows, places = zip(*(np.unique(one, return_inverse=True) for one in (self._left, self._right)))
        with self._meter.stage("sign sample", sum(map(len, rows)), "documents") as progress:

            def signed(side: WeightedVectors, own: I64) -> NDArray[np.uint8]:
                def sign(first: int) -> NDArray[np.uint8]:
                    terms, weights, offsets = some_vectors(side, own[first : first + _AT_ONCE])
                    hashes = self._vectors.hashes[terms]
                    return projection.sign(TermVectors(hashes, weights.astype(np.float64), offsets, "")).packed

                parts = []
                for part in map_ordered(sign, range(0, len(own), _AT_ONCE), threads=self._resources.n_threads):
                    progress.advance(len(part))
                    parts.append(part)
                return np.concatenate(parts)

            left, right = signed(self._vectors.left, rows[0]), signed(self._vectors.right, rows[1])
        distances = np.empty(len(self._left), np.int64)
        for first in range(0, len(distances), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            distances[some] = np.bitwise_count(left[places[0][some]] ^ right[places[1][some]]).sum(axis=1)
        return distances

    def _gaps_of(self, search: PairSearch) -> NDArray[np.int64]:
        n, known = search.permutations, self._gaps.get(search.bits)
        if known is None or known.shape[1] < n:
            orders = SlidingWindow(n, search.window, self._seed)
            with self._meter.stage("sort sample", n, "steps") as progress:
                columns = []
                for left, right in orders.positions(*self.signed(search.bits)):
                    columns.append(np.abs(left[self._left] - right[self._right]))
                    progress.advance(1)
            known = self._gaps[search.bits] = np.stack(columns, axis=1)
        return known[:, :n]
