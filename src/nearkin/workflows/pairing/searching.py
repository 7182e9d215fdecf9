"""Vectors of two corpora → their pairs, each with its exact cosine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from nearkin.engines.local import map_ordered
from nearkin.errors import ParameterError, ResumeError
from nearkin.kernels.terms import Sparse, block_by_terms, near_in_block, products
from nearkin.planning.pairs.search import PairSearch
from nearkin.records import F64, I64, U64, BitSignatures, Bool, WeightedVectors
from nearkin.runs.progress import Meter, Progress
from nearkin.runs.spool import load_arrays, save_arrays
from nearkin.stages.search.sliding_window import SignatureScan, SlidingWindow
from nearkin.stages.search.stretches import Stretches, keys_of, n_pieces_of, rows_of
from nearkin.workflows.pairing.vectors import PairVectors

_AT_ONCE = 1 << 16
_WEIGHT_ROUNDING = 1e-6
_HELD = 1 << 24
"""Maximum number of candidates held before they are verified; the result does not depend on it."""
MAX_PAIRS = 100_000_000
"""Maximum number of reported pairs."""


@dataclass(frozen=True, slots=True)
class FoundPairs:
    """Pairs at or above the threshold, in order of their rows."""

    left: I64
    right: I64
    cosine: F64
    n_comparisons: int
    n_candidates: int

    def __len__(self) -> int:
        return len(self.left)

    @property
    def keys(self) -> U64:
        """Both rows in one number, ascending."""
        return keys_of(self.left, self.right)


@dataclass(frozen=True, slots=True)
class Verified:
    """Pairs verified so far.

    Parameters
    ----------
    keys : uint64 array, shape (n_pairs,)
        Ascending: the left row in the upper 32 bits of each, the right row in the lower.
    """

    keys: U64
    cosines: F64
    n_candidates: int


class Verifier:
    """Verifier that computes each candidate's cosine once, if memory allows, and keeps the pairs at the threshold."""

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

    @property
    def vectors(self) -> PairVectors:
        """Vectors of which the candidates are pairs."""
        return self._vectors

    def add(self, keys: U64) -> None:
        """Add candidates: the left row in the upper 32 bits of each, the right row in the lower."""
        self._waiting.append(keys)
        self._n_waiting += len(keys)
        if self._n_waiting > _HELD:
            self._make_distinct()
            if self._n_waiting > _HELD // 2:
                self.verify()

    def verify(self) -> None:
        """Compute the cosines of all waiting candidates."""
        self._make_distinct()
        (keys,) = self._waiting
        if len(self._keys):
            places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            keys = keys[self._keys[places] != keys]
        self._waiting, self._n_waiting = [], 0
        self.n_candidates += len(keys)
        cosines = cosines_of(self._vectors, keys, self._threads)
        is_near = reaches(cosines, self._threshold)
        joined = np.concatenate([self._keys, keys[is_near]])
        order = np.argsort(joined)
        self._keys = joined[order]
        self._cosines = np.concatenate([self._cosines, cosines[is_near]])[order]
        if self._top is not None:
            kept = best_of_each(self._keys, self._cosines, self._top)
            self._keys, self._cosines = self._keys[kept], self._cosines[kept]
        check_not_too_many(len(self._keys), self._threshold)

    @property
    def verified(self) -> Verified:
        """Return the pairs so far, with all candidates verified."""
        self.verify()
        return Verified(self._keys, self._cosines, self.n_candidates)

    def go_on(self, verified: Verified) -> None:
        """Continue from the pairs of another verifier."""
        self._keys, self._cosines, self.n_candidates = verified.keys, verified.cosines, verified.n_candidates

    def found(self, n_comparisons: int) -> FoundPairs:
        """Return the result, with all candidates verified."""
        self.verify()
        left, right = rows_of(self._keys)
        return FoundPairs(left, right, self._cosines, n_comparisons, self.n_candidates)

    def _make_distinct(self) -> None:
        joined = np.concatenate([np.zeros(0, np.uint64), *self._waiting])
        joined.sort()  # numpy's unique hashes them, at 1.5 µs per key for 16 million
        is_first = np.ones(len(joined), np.bool_)
        is_first[1:] = joined[1:] != joined[:-1]
        self._waiting = [joined[is_first]]
        self._n_waiting = len(self._waiting[0])


def check_not_too_many(n_pairs: int, threshold: float) -> None:
    """Refuse more pairs than can be reported."""
    if n_pairs > MAX_PAIRS:
        raise ParameterError(
            f"More than {MAX_PAIRS:,} pairs have a cosine of {threshold} or more. Raise 'threshold', or "
            "keep the best of each document with 'top'."
        )


def best_of_each(keys: U64, cosines: F64, top: int) -> I64:
    """Return the places of the best pairs of each left document, ascending; ties go to the lower right row."""
    left = keys >> np.uint64(32)
    order = np.lexsort((keys, -cosines, left))
    rank = np.arange(len(keys)) - np.searchsorted(left[order], left[order])
    return np.sort(order[rank < top])


def cosines_of(vectors: PairVectors, keys: U64, threads: int) -> F64:
    """Return the cosine of each pair, shape (n_pairs,); fastest if the keys are sorted."""

    def work(first: int) -> F64:
        rows = rows_of(keys[first : first + _AT_ONCE])
        return products(vectors.left.sparse, vectors.right.sparse, rows, vectors.n_terms)

    parts = map_ordered(work, range(0, len(keys), _AT_ONCE), threads=threads)
    cosines: F64 = np.concatenate([np.zeros(0), *parts])
    return np.minimum(cosines, 1.0, out=cosines)  # vectors have length 1 only to 7 digits


def reaches(cosines: F64, threshold: float) -> Bool:
    """Whether each cosine reaches the threshold; with 32-bit weights, that of equal vectors is 1 only to 7 digits."""
    return np.asarray(cosines >= threshold - _WEIGHT_ROUNDING)


_ROUNDING = 1e-4
BLOCK = 2048
"""Number of vectors on the right searched at once: their sums stay in the fastest cache."""
_ROWS = 1 << 7
"""Number of documents on the left per piece of work."""


def search(
    vectors: PairVectors,
    way: PairSearch,
    threshold: float,
    *,
    top: int | None = None,
    seed: int,
    threads: int,
    meter: Meter,
    kept: KeptSearch | None = None,
) -> FoundPairs:
    """Return all pairs at the threshold that a method finds; the result does not depend on ``threads``."""
    verifier, kept = Verifier(vectors, threshold, threads, top), kept or KeptSearch(None)
    if way.method == "vectors":
        return _by_vectors(vectors, verifier, threshold, threads=threads, meter=meter, kept=kept)
    left, right = vectors.signed(way.bits, seed, threads=threads, meter=meter)
    searcher: SignatureScan | SlidingWindow = SignatureScan()
    n_expected = int(left.has_features.sum()) * int(right.has_features.sum())
    if way.method == "window":
        searcher = SlidingWindow(way.permutations, way.window, seed)
        n_expected = n_in_windows(left, right, way)
    with meter.stage("search", n_expected, "pairs") as progress:
        sorts = searcher.sorts(left, right)
        n_pieces = n_pieces_of(int(left.has_features.sum()))
        done = kept.load(verifier)
        return _by_signatures(
            verifier, sorts, n_pieces, way.distance, done, threads=threads, progress=progress, kept=kept
        )


def n_in_windows(left: BitSignatures, right: BitSignatures, way: PairSearch) -> int:
    """Estimate the number of comparisons in the windows, for the progress."""
    n_left, n_right = int(left.has_features.sum()), int(right.has_features.sum())
    n = n_left + n_right
    share = min(1.0, 2 * way.window / max(n, 1))
    return int(way.permutations * n_left * n_right * share)


def candidates_by_vectors(
    vectors: PairVectors,
    rows: I64,
    threshold: float,
    *,
    threads: int,
    advance: Callable[[int], None],
    begin: int = 0,
    done: Callable[[int], None] = lambda _: None,
) -> Iterator[U64]:
    """Return all pairs of some left documents with all right ones whose cosine is about the threshold or more."""
    left, right = some_vectors(vectors.left, rows), vectors.right
    pieces = [(start, min(start + _ROWS, len(rows))) for start in range(0, len(rows), _ROWS)]
    for first in range(begin, len(right), BLOCK):
        end = min(first + BLOCK, len(right))
        block = block_by_terms(right.sparse, first, end, vectors.n_terms)
        work = partial(near_in_block, left, block=block, least=min_sum(threshold))
        for (start, stop), found in zip(pieces, map_ordered(work, pieces, threads=threads)):
            places, others = rows_of(found)
            yield keys_of(rows[places], others + first)
            advance((stop - start) * (end - first))
        done(end)


def min_sum(threshold: float) -> float:
    """Return the minimum sum of a candidate: sums of 32-bit numbers are at most this far from the cosine."""
    return threshold - _ROUNDING


def some_vectors(vectors: WeightedVectors, rows: I64) -> Sparse:
    """Return the vectors of some documents, concatenated."""
    if len(rows) == len(vectors):
        return vectors.sparse
    offsets = np.concatenate([[0], np.cumsum(vectors.sizes[rows])])
    at = np.repeat(vectors.offsets[rows] - offsets[:-1], np.diff(offsets)) + np.arange(offsets[-1])
    return vectors.terms[at], vectors.weights[at], offsets


def _by_vectors(
    vectors: PairVectors, verifier: Verifier, threshold: float, *, threads: int, meter: Meter, kept: KeptSearch
) -> FoundPairs:
    rows = np.flatnonzero(vectors.left.sizes)
    with meter.stage("search", len(rows) * len(vectors.right), "pairs") as progress:
        n_done, _ = kept.load(verifier)
        progress.advance(n_done * len(rows))

        def done(n: int) -> None:
            kept.save(n, 0, verifier)

        candidates = candidates_by_vectors(
            vectors, rows, threshold, threads=threads, advance=progress.advance, begin=n_done, done=done
        )
        for keys in candidates:
            verifier.add(keys)
        return verifier.found(len(rows) * int((vectors.right.sizes > 0).sum()))


def _by_signatures(
    verifier: Verifier,
    sorts: Iterator[Callable[[], Stretches]],
    n_pieces: int,
    distance: int,
    done: tuple[int, int],
    *,
    threads: int,
    progress: Progress,
    kept: KeptSearch,
) -> FoundPairs:
    n_done, n_comparisons = done
    progress.advance(n_comparisons)
    n_orders, first = divmod(n_done, max(n_pieces, 1))
    # sort the next order while this one is searched; with many threads, sorting on demand would delay the search
    rest = islice(sorts, n_orders, None)
    for stretches in map_ordered(lambda sort: sort(), rest, threads=1 + threads // 16):
        pieces, first = stretches.pieces[first:], 0
        near = map_ordered(partial(stretches.near, distance=distance), pieces, threads=threads)
        for piece, found in zip(pieces, near):
            verifier.add(found.keys)
            n = stretches.n_comparisons_of(piece)
            n_comparisons, n_done = n_comparisons + n, n_done + 1
            progress.advance(n)
            kept.save(n_done, n_comparisons, verifier)
    return verifier.found(n_comparisons)


_EVERY_S = 60.0


class KeptSearch:
    """File of the results of a search so far; nothing is saved without a path."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._last = time.monotonic()
        self._documents: str | None = None

    def load(self, verifier: Verifier) -> tuple[int, int]:
        """Continue a saved search; return its numbers of finished units of work and of comparisons."""
        if self._path is None or not self._path.exists():
            return 0, 0
        stored = load_arrays(self._path)
        if str(stored["documents"]) != self._digest_of(verifier):
            raise ResumeError(
                "The interrupted search cannot be resumed: the documents have changed since it began, although the "
                "sizes of their files have not. Start again with --overwrite instead of --resume. "
                f"See {self._path}."
            )
        verifier.go_on(Verified(stored["keys"], stored["cosines"], int(stored["n_candidates"])))
        return int(stored["n_done"]), int(stored["n_comparisons"])

    def save(self, n_done: int, n_comparisons: int, verifier: Verifier) -> None:
        """Save the state if it is time."""
        if self._path is None or time.monotonic() - self._last < _EVERY_S:
            return
        verified = verifier.verified
        state = {"n_candidates": verified.n_candidates, "n_done": n_done, "n_comparisons": n_comparisons}
        arrays = {name: np.array(n) for name, n in state.items()}
        arrays["documents"] = np.array(self._digest_of(verifier))
        save_arrays(self._path, {"keys": verified.keys, "cosines": verified.cosines, **arrays})
        self._last = time.monotonic()

    def _digest_of(self, verifier: Verifier) -> str:
        if self._documents is None:
            self._documents = verifier.vectors.sha256()
        return self._documents
