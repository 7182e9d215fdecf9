"""Vectors of two collections → their pairs, each with its true cosine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import ModuleType

import numpy as np

from nearkin import kernels
from nearkin.engines.local import map_ordered
from nearkin.errors import ParameterError
from nearkin.planning.pair_search import PairSearch
from nearkin.records import F32, F64, I32, I64, U64, BitSignatures, WeightedVectors
from nearkin.runs.meter import Meter
from nearkin.stages.search.sliding_window import SignatureScan, SlidingWindow
from nearkin.workflows.pairing.vectors import PairVectors

_ROUNDING = 1e-4
"""Sums of 32-bit numbers are no further than this from the true cosine."""
_BLOCK = 4096
"""Vectors on the right that are searched at once: their sums stay in the nearest cache."""
ROWS = 1 << 7
"""Documents on the left that one piece of work takes; the answer does not depend on it."""
_AT_ONCE = 1 << 16
MOST_PAIRS = 100_000_000
"""That are reported at most."""
Sparse = tuple[I32, F32, I64]
_HELD = 1 << 24
"""Candidates that are held before they are verified; the answer does not depend on it."""


@dataclass(frozen=True, slots=True)
class FoundPairs:
    """Pairs at the threshold or above, in order of their rows.

    Parameters
    ----------
    left, right : int64 arrays, shape (n_pairs,)
    cosine : float64 array, shape (n_pairs,)
    n_comparisons : int
        Of signatures, or of vectors where every pair of these was compared.
    n_candidates : int
        Pairs whose cosine was computed; again where one was found again after it had been forgotten.
    """

    left: I64
    right: I64
    cosine: F64
    n_comparisons: int
    n_candidates: int

    def __len__(self) -> int:
        return len(self.left)

    @property
    def keys(self) -> U64:
        """Both rows in one number each, rising."""
        return (self.left.astype(np.uint64) << np.uint64(32)) | self.right.astype(np.uint64)


class Verifier:
    """Computes the cosine of each candidate once, as far as memory allows, and keeps the pairs at the threshold.

    Parameters
    ----------
    vectors : PairVectors
    threshold : float
    threads : int
    top : int or None
        Of each document on the left so many are kept at most, the most similar ones.
    """

    def __init__(self, vectors: PairVectors, threshold: float, threads: int, top: int | None = None) -> None:
        self._vectors = vectors
        self._threshold = threshold
        self._threads = threads
        self._top = top
        self._waiting: list[U64] = []
        self._n_waiting = 0
        self._keys: U64 = np.zeros(0, np.uint64)
        self._cosines: F64 = np.zeros(0)
        self.n_candidates = 0

    def add(self, keys: U64) -> None:
        """Candidates: the left row in the upper 32 bits of each, the right row in the lower."""
        self._waiting.append(keys)
        self._n_waiting += len(keys)
        if self._n_waiting > _HELD:
            self._make_distinct()
            if self._n_waiting > _HELD // 2:
                self.verify()

    def verify(self) -> None:
        """Compute the cosines of all that wait."""
        self._make_distinct()
        (keys,) = self._waiting
        if len(self._keys):
            places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            keys = keys[self._keys[places] != keys]
        self._waiting, self._n_waiting = [], 0
        self.n_candidates += len(keys)
        cosines = cosines_of(self._vectors, keys, self._threads)
        is_near = cosines >= self._threshold
        joined = np.concatenate([self._keys, keys[is_near]])
        order = np.argsort(joined)
        self._keys = joined[order]
        self._cosines = np.concatenate([self._cosines, cosines[is_near]])[order]
        if self._top is not None:
            kept = best_of_each(self._keys, self._cosines, self._top)
            self._keys, self._cosines = self._keys[kept], self._cosines[kept]
        if len(self._keys) > MOST_PAIRS:
            raise ParameterError(
                f"More than {MOST_PAIRS:,} pairs have a cosine of {self._threshold} or more. Raise --threshold, or "
                "keep the best of each document with --top."
            )

    def found(self, n_comparisons: int) -> FoundPairs:
        """What was found, all candidates verified."""
        self.verify()
        left, right = rows_of(self._keys)
        return FoundPairs(left, right, self._cosines, n_comparisons, self.n_candidates)

    def _make_distinct(self) -> None:
        joined = np.concatenate([np.zeros(0, np.uint64), *self._waiting])
        self._waiting = [np.unique(joined)]
        self._n_waiting = len(self._waiting[0])


def best_of_each(keys: U64, cosines: F64, top: int) -> I64:
    """The places of the best pairs of each left document, rising; of equal cosines the lower right row is the better.

    Parameters
    ----------
    keys : uint64 array, shape (n_pairs,)
        Rising: the left row in the upper 32 bits of each, the right row in the lower.
    cosines : float64 array, shape (n_pairs,)
    top : int
    """
    left = keys >> np.uint64(32)
    order = np.lexsort((keys, -cosines, left))
    rank = np.arange(len(keys)) - np.searchsorted(left[order], left[order])
    return np.sort(order[rank < top])


def search(
    vectors: PairVectors,
    way: PairSearch,
    threshold: float,
    *,
    top: int | None = None,
    seed: int,
    threads: int,
    meter: Meter,
) -> FoundPairs:
    """All pairs at the threshold that the way finds.

    Parameters
    ----------
    vectors : PairVectors
    way : PairSearch
    threshold : float
        Least cosine, > 0.
    top : int or None
        Of each document on the left so many pairs at most.
    seed : int
    threads : int
        The answer does not depend on it.
    meter : Meter
    """
    if way.method == "vectors":
        return _by_vectors(vectors, Verifier(vectors, threshold, threads, top), threshold, threads=threads, meter=meter)
    left, right = vectors.signed(way.bits, seed, threads=threads, meter=meter)
    if way.method == "signatures":
        searcher: SignatureScan | SlidingWindow = SignatureScan()
        n_comparisons = int(left.has_features.sum()) * int(right.has_features.sum())
    else:
        searcher = SlidingWindow(way.permutations, way.window, seed)
        n_comparisons = n_in_windows(left, right, way)
    verifier = Verifier(vectors, threshold, threads, top)
    return _by_signatures(verifier, (left, right), searcher, way.distance, n_comparisons, threads=threads, meter=meter)


def n_in_windows(left: BitSignatures, right: BitSignatures, way: PairSearch) -> int:
    """About how many comparisons the windows hold, for the progress."""
    n_left, n_right = int(left.has_features.sum()), int(right.has_features.sum())
    n = n_left + n_right
    share = min(1.0, 2 * way.window / max(n, 1))
    return int(way.permutations * n_left * n_right * share)


def cosines_of(vectors: PairVectors, keys: U64, threads: int) -> F64:
    """The cosine of each pair, shape (n_pairs,); quickest where the keys are sorted."""

    def work(first: int) -> F64:
        rows = rows_of(keys[first : first + _AT_ONCE])
        kernel = kernels.twin("cosines", 1024 * len(rows[0]))
        found: F64 = kernel.products(vectors.left.sparse, vectors.right.sparse, rows, vectors.n_terms)
        return found

    parts = map_ordered(work, range(0, len(keys), _AT_ONCE), threads=threads)
    cosines: F64 = np.concatenate([np.zeros(0), *parts])
    return np.minimum(cosines, 1.0, out=cosines)  # vectors are of length 1 to 7 digits only


def rows_of(keys: U64) -> tuple[I64, I64]:
    """The left and the right row of each pair."""
    return (keys >> np.uint64(32)).astype(np.int64), (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)


def candidates_by_vectors(
    vectors: PairVectors, rows: I64, threshold: float, *, threads: int, advance: Callable[[int], None]
) -> Iterator[U64]:
    """All pairs of some documents on the left and all on the right whose cosine is about the threshold or more."""
    own, right = some_vectors(vectors.left, rows), vectors.right
    starts = range(0, len(rows), ROWS)
    for first in range(0, len(right), _BLOCK):
        end = min(first + _BLOCK, len(right))
        kernel = kernels.twin("cosines", 64 * len(rows) * (end - first))
        block = kernel.block_by_terms(right.sparse, first, end, vectors.n_terms)
        work = partial(_near_block, kernel, own, block, n_block=end - first, least=threshold - _ROUNDING)
        for start, found in zip(starts, map_ordered(work, starts, threads=threads)):
            places, others = rows_of(found)
            yield (rows[places].astype(np.uint64) << np.uint64(32)) | (others + first).astype(np.uint64)
            advance((min(start + ROWS, len(rows)) - start) * (end - first))


def some_vectors(vectors: WeightedVectors, rows: I64) -> Sparse:
    """The vectors of some documents, one after another."""
    if len(rows) == len(vectors):
        return vectors.sparse
    offsets = np.concatenate([[0], np.cumsum(vectors.sizes[rows])])
    at = np.repeat(vectors.offsets[rows] - offsets[:-1], np.diff(offsets)) + np.arange(offsets[-1])
    return vectors.terms[at], vectors.weights[at], offsets


def _near_block(kernel: ModuleType, own: Sparse, block: object, start: int, *, n_block: int, least: float) -> U64:
    """Candidates of one piece of the left side in one block of the right."""
    stop, found = min(start + ROWS, len(own[2]) - 1), [np.zeros(0, np.uint64)]
    pairs = np.empty(16 * n_block, np.uint64)
    while start < stop:
        n, start = kernel.near_in_block(own, (start, stop), block, least=least, pairs=pairs)
        found.append(pairs[:n].copy())
    return np.concatenate(found)


def _by_vectors(
    vectors: PairVectors, verifier: Verifier, threshold: float, *, threads: int, meter: Meter
) -> FoundPairs:
    rows = np.flatnonzero(vectors.left.sizes)
    n_right = int((vectors.right.sizes > 0).sum())
    with meter.stage("search", len(rows) * len(vectors.right), "pairs") as progress:
        for keys in candidates_by_vectors(vectors, rows, threshold, threads=threads, advance=progress.advance):
            verifier.add(keys)
        return verifier.found(len(rows) * n_right)


def _by_signatures(
    verifier: Verifier,
    signatures: tuple[BitSignatures, BitSignatures],
    searcher: SignatureScan | SlidingWindow,
    distance: int,
    n_expected: int,
    *,
    threads: int,
    meter: Meter,
) -> FoundPairs:
    n_comparisons = 0
    with meter.stage("search", n_expected, "pairs") as progress:
        # the next order is sorted while this one is searched; with many threads one at a time would be waited for
        for stretches in map_ordered(lambda sort: sort(), searcher.sorts(*signatures), threads=1 + threads // 16):
            pieces = stretches.pieces
            near = map_ordered(partial(stretches.near, distance=distance), pieces, threads=threads)
            for piece, found in zip(pieces, near):
                verifier.add(found.keys)
                n = stretches.n_comparisons_of(piece)
                n_comparisons += n
                progress.advance(n)
        return verifier.found(n_comparisons)
