"""Candidates → pairs with their exact cosine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.engines.local import map_ordered
from nearkin.errors import ParameterError
from nearkin.kernels.cosines import products
from nearkin.records import F64, I64, U64, Bool
from nearkin.stages.search.stretches import keys_of, rows_of
from nearkin.workflows.pairing.vectors import PairVectors

_AT_ONCE = 1 << 16
_ROUNDING = 1e-6
_HELD = 1 << 24
"""Maximum number of candidates held before they are verified; the result does not depend on it."""
MAX_PAIRS = 100_000_000
"""Maximum number of reported pairs."""


@dataclass(frozen=True, slots=True)
class FoundPairs:
    """Pairs at or above the threshold, in order of their rows.

    Parameters
    ----------
    left, right : int64 arrays, shape (n_pairs,)
    cosine : float64 array, shape (n_pairs,)
    n_comparisons : int
        Comparisons of signatures, or of vectors if every pair of vectors was compared.
    n_candidates : int
        Pairs whose cosine was computed, counted again if found again after being discarded.
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
        """Both rows in one number, ascending."""
        return keys_of(self.left, self.right)


@dataclass(frozen=True, slots=True)
class Verified:
    """Pairs verified so far.

    Parameters
    ----------
    keys : uint64 array, shape (n_pairs,)
        Ascending: the left row in the upper 32 bits of each, the right row in the lower.
    cosines : float64 array, shape (n_pairs,)
    n_candidates : int
    """

    keys: U64
    cosines: F64
    n_candidates: int


class Verifier:
    """Verifier that computes each candidate's cosine once, if memory allows, and keeps the pairs at the threshold.

    Parameters
    ----------
    vectors : PairVectors
    threshold : float
    threads : int
    top : int or None
        Maximum number of pairs kept per document on the left, the most similar ones.
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
    """Refuse more pairs than can be reported.

    Raises
    ------
    ParameterError
    """
    if n_pairs > MAX_PAIRS:
        raise ParameterError(
            f"More than {MAX_PAIRS:,} pairs have a cosine of {threshold} or more. Raise 'threshold', or "
            "keep the best of each document with 'top'."
        )


def best_of_each(keys: U64, cosines: F64, top: int) -> I64:
    """Return the places of the best pairs of each left document, ascending; ties go to the lower right row.

    Parameters
    ----------
    keys : uint64 array, shape (n_pairs,)
        Ascending: the left row in the upper 32 bits of each, the right row in the lower.
    cosines : float64 array, shape (n_pairs,)
    top : int
    """
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
    return np.asarray(cosines >= threshold - _ROUNDING)
