"""Precision and recall of Hamming neighbours against exact similarity.

Only distinct texts are compared: copies of a text have equal signatures of every kind, and would flatter all of
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from labs.signatures.methods import ALL_KINDS, BITS, SignedCorpus
from labs.signatures.truth import SimilarPairs
from nearkin.engines.local import map_ordered
from nearkin.records import F64, I64, U8, BitSignatures
from nearkin.runs.progress import Progress

DISTANCES = (0, 1, 3)
_BLOCK_ROWS = 128


@dataclass(frozen=True, slots=True)
class RetrievalQuality:
    """Quality of the neighbours within a distance.

    Parameters
    ----------
    distance : int
    n_neighbours : int
        Number of pairs within it.
    n_found : int
        Number of similar pairs within it.
    n_true : int
        Number of similar pairs.
    """

    distance: int
    n_neighbours: int
    n_found: int
    n_true: int

    @property
    def precision(self) -> float:
        """Share of the neighbours that are similar; NaN if there are none."""
        return self.n_found / self.n_neighbours if self.n_neighbours else float("nan")

    @property
    def recall(self) -> float:
        """Share of the similar pairs that are neighbours; NaN if there are none."""
        return self.n_found / self.n_true if self.n_true else float("nan")

    @property
    def f1(self) -> float:
        """Harmonic mean of both; NaN if there are no similar pairs."""
        return 2 * self.n_found / (self.n_neighbours + self.n_true) if self.n_true else float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """Results of one kind of signature of one length, for every distance.

    Parameters
    ----------
    key : str
        Key of the kind.
    bits : int
    truth : str
        Definition of similar: `truth.BY_CHARACTERS` or `truth.BY_WORDS`.
    n_neighbours, n_found : int64 arrays, shape (bits + 1,)
        Pairs within each distance, and similar pairs among them.
    n_true : int
    """

    key: str
    bits: int
    truth: str
    n_neighbours: I64
    n_found: I64
    n_true: int

    def at(self, distance: int) -> RetrievalQuality:
        """Return the quality within a distance."""
        return RetrievalQuality(distance, int(self.n_neighbours[distance]), int(self.n_found[distance]), self.n_true)

    @property
    def best(self) -> RetrievalQuality:
        """Quality at the distance with the maximum F1, in a tie the shortest; at 0 if there are no similar pairs."""
        f1: F64 = self.n_found / (self.n_neighbours + max(1, self.n_true))
        return self.at(int(np.argmax(f1)))


def evaluate(
    packed: U8, truths: Mapping[str, SimilarPairs], *, key: str = "", threads: int = 1
) -> tuple[Retrieval, ...]:
    """Compute precision and recall of signatures of distinct texts, against each truth.

    Examples
    --------
    >>> pairs = SimilarPairs(np.array([0], np.uint32), np.array([1], np.uint32), np.array([0.9]))
    >>> (found,) = evaluate(np.array([[7], [6], [6]], np.uint8), {"characters": pairs})
    >>> found.n_neighbours[:3].tolist(), found.n_found[:3].tolist(), found.best.f1
    ([1, 3, 3], [0, 1, 1], 0.5)
    """
    n_bits = 8 * packed.shape[1]
    n_neighbours = np.cumsum(distances_of_all_pairs(packed, threads=threads))
    results = []
    for name, pairs in truths.items():
        apart = distances(packed, pairs)
        n_found = np.cumsum(np.bincount(apart, minlength=n_bits + 1))
        results.append(
            Retrieval(key=key, bits=n_bits, truth=name, n_neighbours=n_neighbours, n_found=n_found, n_true=len(pairs))
        )
    return tuple(results)


def distances(packed: U8, pairs: SimilarPairs) -> I64:
    """Return the number of differing bits of the signatures of pairs, shape (n_pairs,)."""
    parts = [np.zeros(0, np.int64)]
    for start in range(0, len(pairs), 1 << 16):
        some = slice(start, start + (1 << 16))
        differing = np.bitwise_count(packed[pairs.left[some]] ^ packed[pairs.right[some]])
        parts.append(differing.sum(axis=1, dtype=np.int64))
    return np.concatenate(parts)


def distances_of_all_pairs(packed: U8, *, threads: int = 1) -> I64:
    """Count the pairs that differ in 0, 1, … bits, shape (n_bits + 1,).

    Every pair is compared: unlike a search for the few most similar pairs, this also counts the others.
    """
    words = BitSignatures(packed, np.ones(len(packed), np.bool_), "").words
    columns = np.ascontiguousarray(words.T)
    n_bits = 8 * packed.shape[1]

    def count(start: int) -> I64:
        histogram = np.zeros(n_bits + 1, np.int64)
        for row in range(start, min(start + _BLOCK_ROWS, len(words) - 1)):
            apart = np.zeros(len(words) - row - 1, np.uint16)
            for column in columns:
                apart += np.bitwise_count(column[row + 1 :] ^ column[row])
            histogram += np.bincount(apart, minlength=n_bits + 1)
        return histogram

    blocks = map_ordered(count, range(0, len(words), _BLOCK_ROWS), threads=threads)
    total: I64 = np.array(list(blocks), np.int64).sum(axis=0)
    return total


def evaluate_all(
    signed: SignedCorpus, rows: I64, truths: Mapping[str, SimilarPairs], *, threads: int, progress: Progress
) -> tuple[Retrieval, ...]:
    """Evaluate every kind at every length, among some rows; the truths number them from 0."""
    progress.start("precision and recall", len(ALL_KINDS) * len(BITS), "steps")
    results: list[Retrieval] = []
    for kind in ALL_KINDS:
        for bits in BITS:
            results += evaluate(signed.packed[kind.key, bits][rows], truths, key=kind.key, threads=threads)
            progress.advance(1)
    progress.finish()
    return tuple(results)
