"""Recall of signatures alone for pairs at the threshold, and the effect of true cosines (Table 2)."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from labs.cross_lingual.published import PAPER_BITS, PAPER_DISTANCE, THRESHOLD
from labs.cross_lingual.window_model import distance_for_cosine
from nearkin.engines.local import map_ordered
from nearkin.records import I64, U64, BitSignatures
from nearkin.runs.progress import Meter, Silent
from nearkin.stages.search.sliding_window import SignatureScan
from nearkin.workflows.pairing.searching import FoundPairs, cosines_of
from nearkin.workflows.pairing.vectors import PairVectors

BITS = (1000, 2000, 3000)
RECALLS = (0.9, 0.95, 0.99)
NEAR = 0.1
_MAX_TIMED = 200_000
_PAIRS_AT_ONCE = 1 << 20
_REPEATS = 3


@dataclass(frozen=True, slots=True)
class AtDistance:
    """Pairs within a distance.

    Parameters
    ----------
    distance : int
    n_near, n_found : int
        Number of pairs within it, and of those at the threshold among them.
    n_true : int
        Number of pairs at the threshold.
    """

    distance: int
    n_near: int
    n_found: int
    n_true: int

    @property
    def precision(self) -> float:
        """Precision without true cosines; with them it is 1."""
        return self.n_found / self.n_near if self.n_near else float("nan")

    @property
    def recall(self) -> float:
        """Share of the pairs at the threshold that are within the distance."""
        return self.n_found / self.n_true if self.n_true else float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """Signatures of one length, each compared with every other.

    Parameters
    ----------
    bits : int
    comparison_ns : float
        CPU time to compare two signatures.
    at_threshold : AtDistance
        Pairs within the distance that estimates the threshold.
    at_published : AtDistance or None
        Pairs within the article's distance, if it is known.
    recall_near : float
        Recall within the distance of the threshold for pairs at most `NEAR` above it, the hard ones.
    looser : tuple of AtDistance
        For each reachable one of `RECALLS` the minimum distance that reaches it; candidates get their true cosine.
    """

    bits: int
    comparison_ns: float
    at_threshold: AtDistance
    at_published: AtDistance | None
    recall_near: float
    looser: tuple[AtDistance, ...]


@dataclass(frozen=True, slots=True)
class Scans:
    """Table 2.

    Parameters
    ----------
    n_pairs, n_true : int
        Pairs of one document of each side, both with a vector; those at the threshold.
    vector_ns : float
        Time for the cosine of two vectors.
    scans : tuple of Scan
    """

    n_pairs: int
    n_true: int
    vector_ns: float
    scans: tuple[Scan, ...]

    def extra_s(self, at: AtDistance) -> float:
        """Return the seconds for the cosines of the pairs within a distance."""
        return 1e-9 * at.n_near * self.vector_ns


def measure(vectors: PairVectors, truth: FoundPairs, *, seed: int, threads: int) -> Scans:
    """Compare all signatures, and count the sought pairs that are near.

    Parameters
    ----------
    vectors : PairVectors
    truth : FoundPairs
        All pairs at the threshold.
    seed : int
    threads : int
    """
    rows = [np.flatnonzero(side.sizes) for side in (vectors.left, vectors.right)]
    scans = []
    for bits in BITS:
        signatures = vectors.signed(bits, seed, threads=threads, meter=Meter(Silent()))
        scans.append(_scan(signatures, truth, threads))
    return Scans(len(rows[0]) * len(rows[1]), len(truth), _vector_ns(vectors, rows[0], rows[1], seed), tuple(scans))


def _scan(signatures: tuple[BitSignatures, BitSignatures], truth: FoundPairs, threads: int) -> Scan:
    left, right = signatures
    bits = left.n_bits
    own = distance_for_cosine(THRESHOLD, bits)
    spread = distances_of_all(left, right, threads)
    n_near = np.cumsum(spread)
    of_truth = distances_of(left, right, truth.keys)
    n_found = np.cumsum(np.bincount(of_truth, minlength=bits + 1))
    is_hard = truth.cosine < THRESHOLD + NEAR
    recall_near = float((of_truth[is_hard] <= own).mean()) if is_hard.any() else float("nan")

    def at(distance: int) -> AtDistance:
        return AtDistance(distance, int(n_near[distance]), int(n_found[distance]), len(truth))

    reached = n_found / max(1, len(truth))
    looser = tuple(at(int(np.argmax(reached >= recall))) for recall in RECALLS if reached[-1] >= recall)
    published = at(PAPER_DISTANCE) if bits == PAPER_BITS else None
    return Scan(
        bits=bits,
        comparison_ns=_comparison_ns(left, right, own),
        at_threshold=at(own),
        at_published=published,
        recall_near=recall_near,
        looser=looser,
    )


def distances_of_all(left: BitSignatures, right: BitSignatures, threads: int) -> I64:
    """Count the pairs at each distance, shape (n_bits + 1,); in batches of rows, since all pairs are near."""
    counts = np.zeros(left.n_bits + 1, np.int64)
    (stretches,) = SignatureScan().stretches(left, right)
    step = max(1, _PAIRS_AT_ONCE // max(1, len(stretches.right_rows)))
    pieces = [slice(first, first + step) for first in range(0, len(stretches.left), step)]
    for near in map_ordered(lambda piece: stretches.near(piece, left.n_bits), pieces, threads=threads):
        counts += np.bincount(near.distance, minlength=len(counts))
    return counts


def distances_of(left: BitSignatures, right: BitSignatures, keys: U64) -> I64:
    """Return the distances of some pairs; keys have the left row in the upper 32 bits, the right one in the lower."""
    rows = (keys >> np.uint64(32)).astype(np.int64), (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    distances = np.empty(len(keys), np.int64)
    for first in range(0, len(keys), 1 << 16):
        some = slice(first, first + (1 << 16))
        differing = left.packed[rows[0][some]] ^ right.packed[rows[1][some]]
        distances[some] = _ONES[differing].sum(axis=1)
    return distances


_ONES = np.array([value.bit_count() for value in range(256)], np.int64)


def _comparison_ns(left: BitSignatures, right: BitSignatures, distance: int) -> float:
    (stretches,) = SignatureScan().stretches(left, right)
    least = math.inf
    for _ in range(_REPEATS):
        started = time.process_time()
        for _near in stretches.all_near(distance, 1):
            pass
        least = min(least, time.process_time() - started)
    return 1e9 * least / max(1, stretches.n_comparisons)


def _vector_ns(vectors: PairVectors, left: I64, right: I64, seed: int) -> float:
    """Time random pairs, in order of the left rows."""
    draw = np.random.Generator(np.random.PCG64(seed))
    n = min(_MAX_TIMED, len(left) * len(right))
    rows = np.sort(draw.choice(left, n)), draw.choice(right, n)
    keys = (rows[0].astype(np.uint64) << np.uint64(32)) | rows[1].astype(np.uint64)
    least = math.inf
    for _ in range(_REPEATS):
        started = time.process_time()
        cosines_of(vectors, keys, 1)
        least = min(least, time.process_time() - started)
    return 1e9 * least / n
