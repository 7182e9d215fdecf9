"""Candidates → pairs with their true cosine."""

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
"""Candidates that are held before they are verified; the answer does not depend on it."""
MAX_PAIRS = 100_000_000
"""That are reported at most."""


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
        return keys_of(self.left, self.right)


@dataclass(frozen=True, slots=True)
class Verified:
    """Pairs so far.

    Parameters
    ----------
    keys : uint64 array, shape (n_pairs,)
        Rising: the left row in the upper 32 bits of each, the right row in the lower.
    cosines : float64 array, shape (n_pairs,)
    n_candidates : int
    """

    keys: U64
    cosines: F64
    n_candidates: int


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
        """What is known so far, all candidates verified."""
        self.verify()
        return Verified(self._keys, self._cosines, self.n_candidates)

    def go_on(self, verified: Verified) -> None:
        """Begin where another one was."""
        self._keys, self._cosines, self.n_candidates = verified.keys, verified.cosines, verified.n_candidates

    def found(self, n_comparisons: int) -> FoundPairs:
        """What was found, all candidates verified."""
        self.verify()
        left, right = rows_of(self._keys)
        return FoundPairs(left, right, self._cosines, n_comparisons, self.n_candidates)

    def _make_distinct(self) -> None:
        joined = np.concatenate([np.zeros(0, np.uint64), *self._waiting])
        joined.sort()  # numpy's unique hashes them, at 1.5 µs a key for 16 million
        is_first = np.ones(len(joined), np.bool_)
        is_first[1:] = joined[1:] != joined[:-1]
        self._waiting = [joined[is_first]]
        self._n_waiting = len(self._waiting[0])


def check_not_too_many(n_pairs: int, threshold: float) -> None:
    """That pairs can be reported.

    Raises
    ------
    ParameterError
    """
    if n_pairs > MAX_PAIRS:
        raise ParameterError(
            f"More than {MAX_PAIRS:,} pairs have a cosine of {threshold} or more. Raise --threshold, or "
            "keep the best of each document with --top."
        )


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


def cosines_of(vectors: PairVectors, keys: U64, threads: int) -> F64:
    """The cosine of each pair, shape (n_pairs,); quickest where the keys are sorted."""

    def work(first: int) -> F64:
        rows = rows_of(keys[first : first + _AT_ONCE])
        return products(vectors.left.sparse, vectors.right.sparse, rows, vectors.n_terms)

    parts = map_ordered(work, range(0, len(keys), _AT_ONCE), threads=threads)
    cosines: F64 = np.concatenate([np.zeros(0), *parts])
    return np.minimum(cosines, 1.0, out=cosines)  # vectors are of length 1 to 7 digits only


def reaches(cosines: F64, threshold: float) -> Bool:
    """Which cosines are at the threshold or above: weights of 32 bits make that of equal vectors 1 to 7 digits only."""
    return np.asarray(cosines >= threshold - _ROUNDING)
