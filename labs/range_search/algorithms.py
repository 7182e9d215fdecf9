"""Range search by random projections, as deployed on 13 million documents; for study, because it may miss matches.

A document stays if each of its projections is near the query's. Algorithm 1 draws directions from a Gaussian
distribution, Algorithm 2 from random signs. Results have passed the exact comparison, so there are no false ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nearkin.errors import ParameterError, is_int
from nearkin.records import F64, I64, U32, LetterVectors
from nearkin.stages.search.ranges.index import Found, Gamma, RangeMatches, RangeQueries
from nearkin.stages.search.ranges.segment import check_counts, squared_lengths

Kind = Literal["gaussian", "rademacher"]
_ROWS_AT_A_TIME = 1 << 16


def tau_0(expected_matches: float = 10, delta: float = 0.1) -> float:
    """Return the factor of the half-width with which all matches are found with probability 1 - ``delta``.

    Both constants of the theorem are set to 1, as in the article; values between 1 / sqrt(2) and this one trade
    recall for precision.

    Examples
    --------
    >>> round(tau_0(), 3)
    7.6
    """
    logarithm = math.log(2 * expected_matches / delta)
    return logarithm + math.sqrt(logarithm)


@dataclass(frozen=True, slots=True)
class RandomProjections:
    """Method for drawing directions.

    Parameters
    ----------
    kind : {"gaussian", "rademacher"}
        Algorithm 1: entries from N(0, 1/d). Algorithm 2: entries of plus or minus 1 / sqrt(d).
    n_directions : int
        0 to 256. With 0, only the two filters are applied.
    seed : int
        In [0, 2**64).
    """

    kind: Kind = "rademacher"
    n_directions: int = 8
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in ("gaussian", "rademacher"):
            raise ParameterError.of("kind", "'gaussian' or 'rademacher'", self.kind)
        if not is_int(self.n_directions) or not 0 <= self.n_directions <= 256:
            raise ParameterError.of("n_directions", "an int from 0 to 256", self.n_directions)
        if not is_int(self.seed) or not 0 <= self.seed < 2**64:
            raise ParameterError.of("seed", "an int from 0 to 2**64 - 1", self.seed)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the method, without the vectors and the query's parameters."""
        return f"projections={self.kind};directions={self.n_directions};seed={self.seed}"

    def draw(self, n_dimensions: int) -> F64:
        """Draw the directions, shape (n_dimensions, n_directions)."""
        chance = np.random.Generator(np.random.PCG64(self.seed))
        shape = n_dimensions, self.n_directions
        if self.kind == "gaussian":
            return chance.normal(0, 1 / math.sqrt(n_dimensions), shape)
        signs = 2 * chance.integers(0, 2, shape) - 1
        return signs.astype(np.float64) / math.sqrt(n_dimensions)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectionIndex:
    """Documents sorted by their first projection, or by length if there is none.

    Parameters
    ----------
    counts : uint32 array, shape (n_documents, n_dimensions)
        The vectors.
    rows : uint32 array, shape (n_counted,)
        Rows of the documents that take part, sorted.
    columns : float64 array, shape (n_directions, n_counted)
        Projections of the documents.
    norms : float64 array, shape (2, n_counted)
        Euclidean lengths, and sums of counts.
    directions : float64 array, shape (n_dimensions, n_directions)
    fingerprint : str
        Fingerprint of the vectors.

    Examples
    --------
    >>> counts = np.array([[100, 40], [101, 40], [90, 60]], np.uint32)
    >>> vectors = LetterVectors(counts, np.ones(3, bool), counts.sum(axis=1), np.zeros(3, np.int64), "letters")
    >>> index = ProjectionIndex.of(vectors, RandomProjections("rademacher", 2))
    >>> found = index.search(vectors, 0.025, with_filters=True)
    >>> found.row[found.query == 0].tolist()
    [0, 1]
    """

    counts: U32
    rows: U32
    columns: F64
    norms: F64
    directions: F64
    fingerprint: str

    @classmethod
    def of(cls, vectors: LetterVectors, projections: RandomProjections) -> ProjectionIndex:
        """Project and sort the counted documents."""
        check_counts(vectors.counts)
        rows = np.flatnonzero(vectors.is_counted).astype(np.uint32)
        directions = projections.draw(vectors.counts.shape[1])
        columns = np.empty((projections.n_directions, len(rows)))
        norms = np.empty((2, len(rows)))
        for start in range(0, len(rows), _ROWS_AT_A_TIME):
            part = slice(start, start + _ROWS_AT_A_TIME)
            counts = vectors.counts[rows[part]]
            columns[:, part] = (counts.astype(np.float64) @ directions).T
            norms[:, part] = np.sqrt(squared_lengths(counts)), counts.sum(axis=1, dtype=np.int64)
        order = np.argsort(columns[0] if len(columns) else norms[0], kind="stable")
        for column in (*columns, *norms):
            column[:] = column[order]
        return cls(
            counts=vectors.counts,
            rows=rows[order],
            columns=columns,
            norms=norms,
            directions=directions,
            fingerprint=vectors.fingerprint,
        )

    def search(
        self, queries: LetterVectors, gamma: Gamma, *, tau: float | None = None, with_filters: bool = False
    ) -> RangeMatches:
        """Find documents within the tolerance whose projections are all within ``tau * r / sqrt(d)`` of the query's.

        Parameters
        ----------
        queries, gamma
            See `RangeIndex.search`.
        tau : float, optional
            Above 0; `tau_0` by default.
        with_filters : bool
            Also require lengths and sums of counts to be within r of the query's.

        Returns
        -------
        RangeMatches
            Its stages: documents, those left by the first projection (with the filters, if any), those
            left by all projections, and matches.
        """
        tau = tau_0() if tau is None else tau
        if not tau > 0:
            raise ParameterError.of("tau", "above 0", tau)
        check_counts(queries.counts)
        asked = RangeQueries.of(self.fingerprint, queries, gamma)
        survivors = np.zeros((len(queries), 4), np.int64)
        survivors[queries.is_counted, 0] = len(self.rows)
        parts: list[Found] = []
        for i in np.flatnonzero(queries.is_counted):
            places, n_first = self._passed(queries.counts[i], float(asked.gammas[i]), tau, with_filters)
            rows = self.rows[places]
            gaps = self.counts[rows].astype(np.int64) - queries.counts[i].astype(np.int64)
            squares = np.einsum("ij,ij->i", gaps, gaps)
            is_match = squares <= asked.limits[i]
            parts.append((np.full(int(is_match.sum()), i), rows[is_match].astype(np.int64), squares[is_match]))
            survivors[i, 1:] = n_first, len(rows), is_match.sum()
        first = "near in the first projection" + " and in length" * with_filters
        stages = ("documents", first, "near in all projections", "matches")
        return RangeMatches.ordered(parts, queries.is_counted.copy(), stages, survivors)

    def _passed(self, counts: U32, gamma: float, tau: float, with_filters: bool) -> tuple[I64, int]:
        """Return the documents that pass all conditions, and how many pass the first projection and the filters."""
        vector = counts.astype(np.float64)
        norms = np.array([np.linalg.norm(vector), vector.sum()])
        radius = gamma * float(norms[0])
        width = tau * radius / math.sqrt(len(vector))
        projected = vector @ self.directions
        places: slice | I64
        if len(self.columns):
            places = _between(self.columns[0], projected[0], width)
        else:
            places = _between(self.norms[0], norms[0], radius)
        if with_filters or not len(self.columns):
            for norm, own in zip(self.norms, norms, strict=True):
                places = _near(norm, places, own, radius)
        n_first = places.stop - places.start if isinstance(places, slice) else len(places)
        for column, own in zip(self.columns[1:], projected[1:], strict=True):
            places = _near(column, places, own, width)
        return np.arange(places.start, places.stop) if isinstance(places, slice) else places, n_first


def _between(column: F64, own: float, width: float) -> slice:
    """Return the near positions of a sorted column, by bisection."""
    return slice(int(np.searchsorted(column, own - width)), int(np.searchsorted(column, own + width, side="right")))


def _near(column: F64, places: slice | NDArray[np.int64], own: float, width: float) -> NDArray[np.int64]:
    """Return the positions that are near in another column."""
    near = np.flatnonzero(np.abs(column[places] - own) <= width)
    return near + places.start if isinstance(places, slice) else places[near]
