"""Queries and results of a range search by any method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock

import numpy as np

from nearkin.errors import FingerprintError, ParameterError, check_int
from nearkin.nouns import counted
from nearkin.records import F64, I64, Bool, LetterVectors
from nearkin.stages.search.ranges.directions import squared_lengths

MAX_MATCHES = 1 << 27
"""Default maximum number of matches: about 6 GiB at the end of the search."""
_MAX_LIMIT = 2**63 - 1  # squared distances of vectors are below this
Gamma = float | Sequence[float] | F64
"""Tolerance relative to the query's length: one for all queries, or one for each."""
Found = tuple[I64, I64, I64]
"""Queries, rows, squared distances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeMatches:
    """Matches of some queries, sorted by query, distance and row.

    Parameters
    ----------
    query, row : int64 arrays, shape (n_matches,)
        Rows of the queries, and of the documents, numbered through all segments.
    squared_distance : int64 array, shape (n_matches,)
        Exact squared distances.
    is_answered : bool array, shape (n_queries,)
        False: the query has almost no counted letters, and was skipped.
    stages : tuple of str
        Conditions that a document must meet to be a match, in order.
    survivors : int64 array, shape (n_queries, n_stages)
        Number of documents that passed each stage.
    """

    query: I64
    row: I64
    squared_distance: I64
    is_answered: Bool
    stages: tuple[str, ...]
    survivors: I64

    @classmethod
    def ordered(
        cls, parts: Sequence[Found], is_answered: Bool, stages: tuple[str, ...], survivors: I64
    ) -> RangeMatches:
        """Sort results that were found in any order."""
        query, row, square = (np.concatenate([np.zeros(0, np.int64), *(part[i] for part in parts)]) for i in range(3))
        order = np.lexsort((row, square, query))
        return cls(
            query=query[order],
            row=row[order],
            squared_distance=square[order],
            is_answered=is_answered,
            stages=stages,
            survivors=survivors,
        )

    def __len__(self) -> int:
        return len(self.query)

    @property
    def distance(self) -> F64:
        """Euclidean distance of each match from its query, in letters."""
        return np.sqrt(self.squared_distance.astype(np.float64))


@dataclass(frozen=True, slots=True)
class RangeQueries:
    """Validated queries, with their maximum distances.

    Parameters
    ----------
    vectors : LetterVectors
    gammas : float64 array, shape (n_queries,)
    lengths : int64 array, shape (n_queries,)
        Squared lengths.
    limits : int64 array, shape (n_queries,)
        Maximum squared distance of a match; -1 for a query to skip.
    """

    vectors: LetterVectors
    gammas: F64
    lengths: I64
    limits: I64

    @classmethod
    def of(cls, fingerprint: str, vectors: LetterVectors, gamma: Gamma) -> RangeQueries:
        """Validate queries; round limits down to integers, in integer arithmetic.

        Examples
        --------
        >>> counts = np.array([[30, 40]], np.uint32)
        >>> vectors = LetterVectors(counts, np.ones(1, bool), np.array([70]), np.array([0]), "letters")
        >>> RangeQueries.of("letters", vectors, 0.1).limits.tolist()  # a tenth of 50, squared
        [25]
        """
        if vectors.fingerprint != fingerprint:
            raise FingerprintError(
                f"Vectors of different countings cannot be compared: {fingerprint!r} and {vectors.fingerprint!r}."
            )
        gammas = np.asarray(gamma, np.float64)
        if gammas.ndim and gammas.shape != (len(vectors),):
            raise ParameterError.of(
                "gamma",
                f"a number, or one for each of {counted(len(vectors), 'query', 'queries')}",
                gammas.shape,
            )
        wrong = gammas[~(np.isfinite(gammas) & (gammas >= 0))]
        if wrong.size:
            raise ParameterError.of("gamma", "finite and at least 0", float(wrong.flat[0]))
        gammas = np.broadcast_to(gammas, len(vectors))
        lengths = squared_lengths(vectors.counts)
        limits = np.full(len(vectors), -1, np.int64)
        squares = {value: Fraction(repr(value)) ** 2 for value in np.unique(gammas).tolist()}
        for i in np.flatnonzero(vectors.is_counted):
            square = squares[float(gammas[i])]
            limits[i] = min(_MAX_LIMIT, square.numerator * int(lengths[i]) // square.denominator)
        return cls(vectors, gammas, lengths, limits)

    def __len__(self) -> int:
        return len(self.vectors)


class MatchBudget:
    """Number of matches that a search may still find, shared by threads."""

    def __init__(self, max_matches: int) -> None:
        check_int("max_matches", max_matches, 1)
        self._most, self._n_found, self._lock = max_matches, 0, Lock()

    def spend(self, n_matches: int, gammas: F64) -> None:
        """Refuse tolerances that find too much before memory is exhausted."""
        with self._lock:
            self._n_found += n_matches
            if self._n_found > self._most:
                rule = f"small enough for at most {counted(self._most, 'match', 'matches')} ('max_matches')"
                raise ParameterError.of("gamma", rule, float(gammas.max()))


def check_threads(threads: int) -> None:
    """Refuse an invalid number of threads."""
    check_int("threads", threads, 1)
