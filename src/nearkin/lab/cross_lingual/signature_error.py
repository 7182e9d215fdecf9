"""How far the cosine that a signature tells is from the true one, and what signatures cost (Table 1)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import pyarrow as pa

from nearkin import kernels
from nearkin.lab.cross_lingual.documents import spread_rows
from nearkin.lab.cross_lingual.published import SAMPLE
from nearkin.records import F64, I64, U64, BitSignatures, FeatureCounts, WeightedVectors
from nearkin.stages.search.sliding_window import SignatureScan
from nearkin.stages.signatures.random_projection import RandomProjection, TermVectors
from nearkin.stages.signatures.simhash import Simhash
from nearkin.workflows.pairing.searching import some_vectors

Method = Literal["projection", "simhash", "minhash"]
LABELS = {"projection": "random projection", "simhash": "Simhash", "minhash": "MinHash"}
ABOVE = (0.0, 0.1, 0.2)
METHODS: tuple[tuple[Method, int, int], ...] = (
    ("minhash", 2, 64),
    ("simhash", 64, 64),
    ("projection", 64, 64),
    ("projection", 104, 100),
    ("projection", 200, 200),
    ("projection", 504, 500),
    ("projection", 1000, 1000),
    ("minhash", 32, 992),
)
"""A method, its size (bits, of MinHash terms), and the bits of the article's row."""
_WEIGHT = float(1 << 20)
_REPEATS = 3
_FINGERPRINT = "lab cross-lingual"
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class SignatureError:
    """A row of Table 1.

    Parameters
    ----------
    method : str
    size, published_bits : int
        Bits, of MinHash terms; bits of the article's row.
    errors : tuple of float
        The mean absolute error over pairs whose cosine is above each of `ABOVE`; NaN where there are none.
    elapsed_ms : float
        A document, time of one processor.
    """

    method: Method
    size: int
    published_bits: int
    errors: tuple[float, ...]
    elapsed_ms: float

    @property
    def label(self) -> str:
        """The method in words."""
        return LABELS[self.method]

    @property
    def size_in_words(self) -> str:
        """Bits or terms."""
        return f"{self.size} terms" if self.method == "minhash" else f"{self.size:,} bits"


@dataclass(frozen=True, slots=True)
class SignatureErrors:
    """Table 1.

    Parameters
    ----------
    n_documents : int
        Of one side, each compared with every other.
    mean_terms : float
        Of their vectors.
    n_pairs : tuple of int
        Whose cosine is above each of `ABOVE`.
    rows : tuple of SignatureError
    """

    n_documents: int
    mean_terms: float
    n_pairs: tuple[int, ...]
    rows: tuple[SignatureError, ...]


def measure(vectors: WeightedVectors, hashes: U64, *, seed: int) -> SignatureErrors:
    """Sign some documents of one side in every way.

    Parameters
    ----------
    vectors : WeightedVectors
    hashes : uint64 array, shape (n_vocabulary,)
        Of the terms.
    seed : int
    """
    filled = np.flatnonzero(vectors.sizes)
    own = WeightedVectors(*some_vectors(vectors, filled[spread_rows(len(filled), SAMPLE)]))
    pairs = np.triu_indices(len(own), 1)
    kernel = kernels.twin("cosines", 64 * len(pairs[0]))
    cosines: F64 = np.minimum(kernel.products(own.sparse, own.sparse, pairs, len(hashes)), 1.0)
    chosen = [cosines > above for above in ABOVE]
    rows = []
    for method, size, published_bits in METHODS:
        estimates, elapsed_s = _signed(method, size, own, hashes, pairs, seed)
        wrong = np.abs(estimates - cosines)
        errors = tuple(float(wrong[some].mean()) if some.any() else float("nan") for some in chosen)
        rows.append(SignatureError(method, size, published_bits, errors, 1000 * elapsed_s / max(1, len(own))))
    mean_terms = float(own.sizes.mean()) if len(own) else 0.0
    return SignatureErrors(len(own), mean_terms, tuple(int(some.sum()) for some in chosen), tuple(rows))


def _signed(
    method: Method, size: int, vectors: WeightedVectors, hashes: U64, pairs: tuple[I64, I64], seed: int
) -> tuple[F64, float]:
    """The estimated cosine of each pair, and the seconds that signing takes."""
    of_terms = hashes[vectors.terms]
    if method == "minhash":
        lowest, elapsed_s = _timed(lambda: lowest_terms(of_terms, vectors.offsets, size, seed))
        return (lowest[pairs[0]] == lowest[pairs[1]]).mean(axis=1), elapsed_s
    if method == "simhash":
        weighted = _as_counts(vectors, of_terms)
        signatures, elapsed_s = _timed(lambda: Simhash(size).sign(weighted))  # a new one remembers no hashes
    else:
        terms = TermVectors(of_terms, vectors.weights.astype(np.float64), vectors.offsets, _FINGERPRINT)
        signatures, elapsed_s = _timed(lambda: RandomProjection(size, seed).sign(terms))
    return np.cos(np.pi * _distances(signatures) / size), elapsed_s


def lowest_terms(hashes: U64, offsets: I64, n_terms: int, seed: int) -> U64:
    """For each of some orderings of all terms, each document's lowest one, shape (n_documents, n_terms).

    Examples
    --------
    >>> lowest = lowest_terms(np.array([5, 9, 5], np.uint64), np.array([0, 2, 3]), 64, seed=0)
    >>> bool(np.isclose((lowest[0] == lowest[1]).mean(), 0.5, atol=0.2))  # Jaccard similarity of {5, 9} and {5}
    True
    """
    salts = np.random.Generator(np.random.PCG64(seed)).integers(0, 2**64, n_terms, np.uint64)
    lowest = np.empty((len(offsets) - 1, n_terms), np.uint64)
    for i, salt in enumerate(salts):
        lowest[:, i] = np.minimum.reduceat(_mixed(hashes ^ salt), offsets[:-1])
    return lowest


def _mixed(values: U64) -> U64:
    """The finaliser of SplitMix64: another salt, another order."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _as_counts(vectors: WeightedVectors, of_terms: U64) -> FeatureCounts:
    """Weights as integers, so that every one is heard as often as it weighs."""
    counts = np.rint(vectors.weights * _WEIGHT).astype(np.uint32)
    n = len(vectors)
    return FeatureCounts(
        of_terms, counts, np.zeros(len(counts), np.uint32), vectors.offsets, pa.nulls(n, pa.large_string()), 0,
        _FINGERPRINT,
    )  # fmt: skip


def _distances(signatures: BitSignatures) -> F64:
    """Of all pairs of rows, in the order of ``numpy.triu_indices``."""
    found = SignatureScan().pairs(signatures, distance=signatures.n_bits)
    return found.distance.astype(np.float64)


def _timed(work: Callable[[], Made]) -> tuple[Made, float]:
    """What it makes, and the seconds of the quickest of a few runs, in time of the processor."""
    made, least = work(), math.inf  # the first run may compile
    for _ in range(_REPEATS):
        started = time.process_time()
        work()
        least = min(least, time.process_time() - started)
    return made, least
