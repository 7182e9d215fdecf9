"""Ranks of translations: how similar documents are to their translations and to others (Figure 1, section 6.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.engines.local import map_ordered
from nearkin.kernels.cosines import products
from nearkin.records import F64, I64, Bool
from nearkin.workflows.pairing.vectors import PairVectors

EDGES = tuple(round(0.1 * i, 1) for i in range(11))
"""Width of the bins of Figure 1."""
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_PAIRS_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True)
class Finding:
    """Comparison of each document on the left with all on the right; the two documents of a row are translations.

    Parameters
    ----------
    is_compared : bool array, shape (n_documents,)
        Whether both documents of a row have a vector.
    cosines : float64 array, shape (n_documents,)
        Cosine of each document with its translation; 0 if one has no vector.
    ranks : int64 array, shape (n_documents,)
        Rank of the translation among all on the right, from 1; in a tie the earlier row comes first. 0 if one
        has no vector.
    n_near : int64 array, shape (n_thresholds,)
        Number of all pairs at or above each of `THRESHOLDS`.
    """

    is_compared: Bool
    cosines: F64
    ranks: I64
    n_near: I64

    @property
    def n_compared(self) -> int:
        """Number of documents with a vector on both sides."""
        return int(self.is_compared.sum())

    @property
    def counts(self) -> I64:
        """Number of cosines in each bin of `EDGES`; 1 counts in the last."""
        counts: I64 = np.histogram(self.cosines[self.is_compared], EDGES)[0].astype(np.int64)
        return counts

    @property
    def mean_cosine(self) -> float:
        """Mean cosine of documents with their translations."""
        return float(self.cosines[self.is_compared].mean()) if self.n_compared else float("nan")

    @property
    def n_first(self) -> int:
        """Number of documents whose translation is the most similar document."""
        return int((self.ranks == 1).sum())

    @property
    def share_first(self) -> float:
        """Share of these among all documents, including those without a vector."""
        return self.n_first / len(self.ranks)

    @property
    def reciprocal_rank(self) -> float:
        """Mean of 1 / rank, 0 for documents without a vector."""
        return float((self.is_compared / np.maximum(self.ranks, 1)).mean())

    def share_from(self, low: float, high: float) -> float:
        """Return the share of cosines from ``low`` to below ``high``."""
        own = self.cosines[self.is_compared]
        return float(((own >= low) & (own < high)).mean()) if len(own) else float("nan")

    def recall(self, threshold: float) -> float:
        """Return the share of known pairs at or above a threshold."""
        return float((self.cosines >= threshold).mean())

    def precision(self, threshold: float) -> float:
        """Return the share of known pairs among all pairs at one of `THRESHOLDS`; others may be similar too."""
        n_near = int(self.n_near[THRESHOLDS.index(threshold)])
        return float((self.cosines >= threshold).sum()) / n_near if n_near else float("nan")


def find(vectors: PairVectors, threads: int) -> Finding:
    """Compare every document on the left with every document on the right."""
    n, n_right = len(vectors.left), len(vectors.right)
    step = max(1, _PAIRS_AT_ONCE // n_right)
    starts = range(0, n, step)
    is_compared = (vectors.left.sizes > 0) & (vectors.right.sizes > 0)

    def work(first: int) -> tuple[F64, I64, I64]:
        rows = np.arange(first, min(first + step, n))
        block = cosine_block(vectors, rows)
        own = block[np.arange(len(rows)), rows]
        is_before = (block > own[:, None]) | ((block == own[:, None]) & (np.arange(n_right) < rows[:, None]))
        near = np.array([int((block >= threshold).sum()) for threshold in THRESHOLDS])
        return own, is_before.sum(axis=1) + 1, near

    parts = list(map_ordered(work, starts, threads=threads))
    cosines = np.where(is_compared, np.concatenate([own for own, _, _ in parts]), 0.0)
    ranks = np.where(is_compared, np.concatenate([rank for _, rank, _ in parts]), 0).astype(np.int64)
    return Finding(is_compared, cosines, ranks, np.sum([near for _, _, near in parts], axis=0).astype(np.int64))


def cosine_block(vectors: PairVectors, rows: I64) -> F64:
    """Return the cosines of some documents on the left with all on the right, shape (n_rows, n_right)."""
    n_right = len(vectors.right)
    pairs = np.repeat(rows, n_right), np.tile(np.arange(n_right), len(rows))
    cosines = products(vectors.left.sparse, vectors.right.sparse, pairs, vectors.n_terms)
    return np.minimum(cosines, 1.0).reshape(len(rows), n_right)  # lengths of vectors are 1 only to 7 digits
