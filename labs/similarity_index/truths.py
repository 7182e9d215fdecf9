"""Documents that each query should find: those of its family, or those with similar wording."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.signatures.truth import WORD_THRESHOLD, SimilarPairs, similar_pairs
from labs.similarity_index.families import Families
from nearkin.records import F64, I64, Bool, ShingleSets
from nearkin.runs.progress import Progress

FAMILY, WORDING = "family", "wording"
LABELS = {FAMILY: "same family", WORDING: f"Jaccard ≥ {WORD_THRESHOLD} of word 5-shingles"}


@dataclass(frozen=True, slots=True)
class FamilyTruth:
    """Ordered pairs of a query and another document that it should find.

    Parameters
    ----------
    name : str
    query, row : int64 arrays, shape (n_pairs,)
        Position of the query among the queries; row of the other document.
    n_queries : int
    """

    name: str
    query: I64
    row: I64
    n_queries: int

    def __len__(self) -> int:
        return len(self.query)

    @property
    def n_with_relatives(self) -> int:
        """Number of queries that should find something."""
        return len(np.unique(self.query))

    def mean_recall(self, found: Bool) -> float:
        """Return the mean share found, over the queries that should find something."""
        wanted = np.bincount(self.query, minlength=self.n_queries)
        got = np.bincount(self.query[found], minlength=self.n_queries)
        shares: F64 = got[wanted > 0] / wanted[wanted > 0]
        return float(shares.mean()) if len(shares) else float("nan")


def truths(
    families: Families, sets: ShingleSets, queries: I64, *, threads: int, progress: Progress
) -> tuple[FamilyTruth, ...]:
    """Return both truths."""
    pairs = similar_pairs(sets, WORD_THRESHOLD, threads=threads, progress=progress)
    return _by_family(families.family, queries), _by_wording(pairs, queries, len(families))


def _by_family(family: I64, queries: I64) -> FamilyTruth:
    order = np.argsort(family, kind="stable")
    starts = np.searchsorted(family[order], np.arange(family.max() + 2))
    sizes = np.diff(starts)[family[queries]]
    query = np.repeat(np.arange(len(queries)), sizes)
    within = np.arange(len(query)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    row = order[np.repeat(starts[family[queries]], sizes) + within]
    is_other = row != queries[query]
    return FamilyTruth(FAMILY, query[is_other], row[is_other], len(queries))


def _by_wording(pairs: SimilarPairs, queries: I64, n: int) -> FamilyTruth:
    place = np.full(n, -1, np.int64)
    place[queries] = np.arange(len(queries))
    ask = np.concatenate([pairs.left, pairs.right]).astype(np.int64)
    found = np.concatenate([pairs.right, pairs.left]).astype(np.int64)
    is_asked = place[ask] >= 0
    return FamilyTruth(WORDING, place[ask[is_asked]], found[is_asked], len(queries))
