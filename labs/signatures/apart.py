"""Distances between the signatures of near-duplicates, and the recall of a distance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from labs.signatures.methods import BITS, KINDS
from labs.signatures.retrieval import distances
from labs.signatures.truth import SimilarPairs
from nearkin.planning.neighbour_recall import SIMILARITY, BitsApart
from nearkin.records import U8, Bool

AROUND = 0.03
"""Maximum deviation from `SIMILARITY` of pairs that count as pairs of that similarity."""
MIN_PAIRS = 20
WANTED = 0.9
"""Recall for which a distance is sought."""


@dataclass(frozen=True, slots=True)
class Apart:
    """Distances for one kind of signature of one length.

    Parameters
    ----------
    key : str
        Key of the kind.
    bits : int
    n_pairs : int
        Number of pairs with a similarity of about `SIMILARITY`.
    share : BitsApart or None
        Share of their bits that differ; None if there are fewer than `MIN_PAIRS` pairs.
    """

    key: str
    bits: int
    n_pairs: int
    share: BitsApart | None

    def distance_reaching(self, recall: float) -> int | None:
        """Return the minimum distance that includes this share of the pairs; None if there are too few pairs."""
        return None if self.share is None else self.share.distance_reaching(self.bits, recall)

    def recall_within(self, distance: int) -> float:
        """Return the share of the pairs within a distance; NaN if there are too few pairs."""
        return float("nan") if self.share is None else self.share.share_within(self.bits, distance)


def measure_apart(packed: Mapping[tuple[str, int], U8], pairs: SimilarPairs) -> tuple[Apart, ...]:
    """Measure every kind at every length, over pairs of distinct texts with their exact similarity.

    Examples
    --------
    >>> pairs = SimilarPairs(np.zeros(40, np.uint32), np.ones(40, np.uint32), np.full(40, 0.8))
    >>> packed = {(kind.key, bits): np.array([[0] * (bits // 8), [1] * (bits // 8)], np.uint8) for kind in KINDS
    ...           for bits in BITS}
    >>> measure_apart(packed, pairs)[0].share
    BitsApart(mean=0.125, deviation=0.0)
    """
    near: Bool = np.abs(pairs.similarity - SIMILARITY) <= AROUND
    chosen = SimilarPairs(pairs.left[near], pairs.right[near], pairs.similarity[near])
    found = []
    for kind in KINDS:
        for bits in BITS:
            share = None
            if len(chosen) >= MIN_PAIRS:
                shares = distances(packed[kind.key, bits], chosen) / bits
                share = BitsApart(round(float(shares.mean()), 4), round(float(shares.std()), 4))
            found.append(Apart(kind.key, bits, len(chosen), share))
    return tuple(found)
