"""Distinctness of signatures: the article's Figure 1, Table 2, Figures 2 and 3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.signatures.methods import ALL_KINDS, BITS, PROJECTIONS, SIMHASH, Kind, SignedCorpus
from nearkin.records import I64, BitSignatures
from nearkin.runs.progress import Progress
from nearkin.stages.search.hamming.neighbours import neighbour_pairs
from nearkin.stages.search.hamming.pairs import EqualSignatures, HammingPairs

NEIGHBOUR_BITS = (32, 128, 1024)
NEIGHBOUR_DISTANCES = (1, 3)
MAX_COUNTED = 10
"""Number of neighbours from which documents are counted together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniqueness:
    """Distinct signatures of one kind and length.

    Parameters
    ----------
    key : str
        Key of the kind.
    bits : int
    n_unique : int
        Number of distinct signatures.
    mean, deviation : float
        Number of documents per signature, over all signatures.
    most : int
        Number of documents with the most frequent signature.
    """

    key: str
    bits: int
    n_unique: int
    mean: float
    deviation: float
    most: int


@dataclass(frozen=True, slots=True)
class NeighbourCounts:
    """Documents by the number of their neighbours.

    Parameters
    ----------
    key : str
    bits, distance : int
    n_documents : tuple of int
        Number of documents with 0, 1, 2, … and with at least `MAX_COUNTED` neighbours.
    """

    key: str
    bits: int
    distance: int
    n_documents: tuple[int, ...]


def uniqueness(signatures: BitSignatures, key: str = "") -> Uniqueness:
    """Count distinct signatures.

    Examples
    --------
    >>> signatures = BitSignatures(np.array([[7], [7], [7], [1]], np.uint8), np.ones(4, bool), "")
    >>> one = uniqueness(signatures)
    >>> one.n_unique, one.mean, one.deviation, one.most
    (2, 2.0, 1.0, 3)
    """
    sizes = EqualSignatures.of(signatures).sizes
    return Uniqueness(
        key=key,
        bits=signatures.n_bits,
        n_unique=len(sizes),
        mean=float(sizes.mean()),
        deviation=float(sizes.std()),
        most=int(sizes.max(initial=0)),
    )


def all_uniqueness(signed: SignedCorpus) -> tuple[Uniqueness, ...]:
    """Count distinct signatures of every kind at every length."""
    return tuple(uniqueness(signed.signatures(kind, bits), kind.key) for kind in ALL_KINDS for bits in BITS)


def neighbour_counts(signatures: BitSignatures, key: str, threads: int) -> tuple[NeighbourCounts, ...]:
    """Count documents by the number of their neighbours within each distance.

    Examples
    --------
    >>> signatures = BitSignatures(np.array([[7], [7], [6], [240]], np.uint8), np.ones(4, bool), "")
    >>> [counts.n_documents[:3] for counts in neighbour_counts(signatures, "", 1)]
    [(1, 0, 3), (1, 0, 3)]
    """
    found = neighbour_pairs(signatures, NEIGHBOUR_DISTANCES[-1], threads=threads)
    counts = []
    for distance in NEIGHBOUR_DISTANCES:
        n_neighbours = np.minimum(_n_neighbours(found.within(distance)), MAX_COUNTED)
        by_number = np.bincount(n_neighbours, minlength=MAX_COUNTED + 1)
        counts.append(NeighbourCounts(key, signatures.n_bits, distance, tuple(by_number.tolist())))
    return tuple(counts)


def _n_neighbours(found: HammingPairs) -> I64:
    """Return the number of documents within the distance of each; 0 for those without features."""
    sizes = found.classes.sizes
    of_class = sizes - 1
    for one, other in ((found.left, found.right), (found.right, found.left)):
        of_class += np.bincount(one, sizes[other], minlength=len(sizes)).astype(np.int64)  # exact below 2**53
    has_class = found.classes.class_of_row >= 0
    counts = np.zeros(len(has_class), np.int64)
    counts[has_class] = of_class[found.classes.class_of_row[has_class]]
    return counts


def all_neighbour_counts(
    signed: SignedCorpus, kinds: tuple[Kind, ...], *, threads: int, progress: Progress
) -> tuple[NeighbourCounts, ...]:
    """Count neighbours for every kind at the article's three lengths."""
    progress.start("neighbours", len(kinds) * len(NEIGHBOUR_BITS), "steps")
    counts: list[NeighbourCounts] = []
    for kind in kinds:
        for bits in NEIGHBOUR_BITS:
            counts += neighbour_counts(signed.signatures(kind, bits), kind.key, threads)
            progress.advance(1)
    progress.finish()
    return tuple(counts)


def best_other_projection(found: tuple[Uniqueness, ...], key: str, bits: int) -> Uniqueness:
    """Return the projection with the most distinct signatures at a length, other than one kind."""
    others = [u for u in found if u.bits == bits and u.key != key and u.key in {kind.key for kind in PROJECTIONS}]
    return max(others, key=lambda u: (u.n_unique, u.key == SIMHASH.key))
