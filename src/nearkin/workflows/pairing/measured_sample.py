"""Signatures and sorted orders of the pairs of a sample: those that the search will compare."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.engines.local import map_ordered
from nearkin.planning.pairs.assurance import SamplePairs
from nearkin.planning.pairs.prediction import PairSearch
from nearkin.records import I64, BitSignatures, WeightedVectors
from nearkin.runs.meter import Meter
from nearkin.stages.search.sliding_window import SlidingWindow
from nearkin.stages.search.stretches import rows_of
from nearkin.stages.signatures.random_projection import RandomProjection, TermVectors
from nearkin.workflows.pairing.sampling import Sampled
from nearkin.workflows.pairing.searching import some_vectors
from nearkin.workflows.pairing.vectors import PairVectors
from nearkin.workflows.resources import Resources

_MAX_PAIRS = 400_000
_AT_ONCE = 1 << 13
MAX_ORDERS = 24
"""Maximum number of sorted orders to make for the sample; the mean over more of them varies little."""


class MeasuredSample:
    """Pairs of a sample, measured as a search will compare them.

    Parameters
    ----------
    vectors : PairVectors
    sampled : Sampled
        With at least one pair.
    seed : int
        Seed of the search.
    resources : Resources
    meter : Meter
    """

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
