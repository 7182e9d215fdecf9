"""Error of the cosine that a signature estimates, and cost of signatures (Table 1)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import pyarrow as pa

from labs.cross_lingual.documents import spread_rows
from labs.cross_lingual.published import SAMPLE
from nearkin.kernels.terms import products
from nearkin.records import F32, F64, I64, U64, BitSignatures, FeatureCounts, WeightedVectors
from nearkin.stages.search.sliding_window import SignatureScan
from nearkin.stages.signatures.random_projection import RandomProjection, TermVectors
from nearkin.stages.signatures.simhash import Simhash
from nearkin.workflows.pairing.searching import some_vectors

Method = Literal["projection", "simhash", "simhash-ap", "minhash"]
LABELS = {
    "projection": "random projection",
    "simhash": "Simhash",
    "simhash-ap": "Simhash, the article's hash",
    "minhash": "MinHash",
}
ABOVE = (0.0, 0.1, 0.2)
METHODS: tuple[tuple[Method, int, int], ...] = (
    ("minhash", 2, 64),
    ("simhash", 64, 64),
    ("simhash-ap", 64, 64),
    ("projection", 64, 64),
    ("projection", 104, 100),
    ("projection", 200, 200),
    ("projection", 504, 500),
    ("projection", 1000, 1000),
    ("minhash", 32, 992),
)
"""Method, its size (bits, or terms of MinHash), and the bits in the article's row."""
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
        Bits, or terms of MinHash; bits in the article's row.
    errors : tuple of float
        Mean absolute error over pairs whose cosine is above each of `ABOVE`; NaN if there are none.
    elapsed_ms : float
        CPU time per document.
    """

    method: Method
    size: int
    published_bits: int
    errors: tuple[float, ...]
    elapsed_ms: float

    @property
    def label(self) -> str:
        """Name of the method."""
        return LABELS[self.method]

    @property
    def size_in_words(self) -> str:
        """Size in bits or terms."""
        return f"{self.size} terms" if self.method == "minhash" else f"{self.size:,} bits"


@dataclass(frozen=True, slots=True)
class SignatureErrors:
    """Table 1.

    Parameters
    ----------
    n_documents : int
        Number of documents of one side, each compared with every other.
    mean_terms : float
        Mean number of terms of their vectors.
    n_pairs : tuple of int
        Number of pairs whose cosine is above each of `ABOVE`.
    rows : tuple of SignatureError
    """

    n_documents: int
    mean_terms: float
    n_pairs: tuple[int, ...]
    rows: tuple[SignatureError, ...]


def measure(vectors: WeightedVectors, words: pa.LargeStringArray, hashes: U64, *, seed: int) -> SignatureErrors:
    """Sign some documents of one side by every method.

    Parameters
    ----------
    vectors : WeightedVectors
    words : LargeStringArray, shape (n_vocabulary,)
        The terms.
    hashes : uint64 array, shape (n_vocabulary,)
        Hashes of the terms.
    seed : int
    """
    filled = np.flatnonzero(vectors.sizes)
    own = WeightedVectors(*some_vectors(vectors, filled[spread_rows(len(filled), SAMPLE)]))
    pairs = np.triu_indices(len(own), 1)
    cosines = np.minimum(products(own.sparse, own.sparse, pairs, len(hashes)), 1.0)
    chosen = [cosines > above for above in ABOVE]
    rows = []
    used = np.unique(own.terms)
    poor = np.zeros(len(hashes), np.uint64)
    poor[used] = [ap_hash(word) for word in words.take(pa.array(used)).to_pylist()]
    for method, size, published_bits in METHODS:
        of_words = poor if method == "simhash-ap" else hashes
        estimates, elapsed_s = _signed(method, size, own, of_words, pairs, seed)
        wrong = np.abs(estimates - cosines)
        errors = tuple(float(wrong[some].mean()) if some.any() else float("nan") for some in chosen)
        rows.append(SignatureError(method, size, published_bits, errors, 1000 * elapsed_s / max(1, len(own))))
    mean_terms = float(own.sizes.mean()) if len(own) else 0.0
    return SignatureErrors(len(own), mean_terms, tuple(int(some.sum()) for some in chosen), tuple(rows))


def _signed(
    method: Method, size: int, vectors: WeightedVectors, hashes: U64, pairs: tuple[I64, I64], seed: int
) -> tuple[F64, float]:
    """Return the estimated cosine of each pair, and the seconds for signing."""
    of_terms = hashes[vectors.terms]
    if method == "minhash":
        lowest, elapsed_s = _timed(lambda: lowest_terms(of_terms, vectors.offsets, size, seed))
        return (lowest[pairs[0]] == lowest[pairs[1]]).mean(axis=1), elapsed_s
    if method == "simhash":
        weighted = _as_counts(vectors, of_terms)
        signatures, elapsed_s = _timed(lambda: Simhash(size).sign(weighted))  # a new object has no cached hashes
    elif method == "simhash-ap":
        signatures, elapsed_s = _timed(lambda: simhash_of(of_terms, vectors.weights, vectors.offsets))
    else:
        terms = TermVectors(of_terms, vectors.weights.astype(np.float64), vectors.offsets, _FINGERPRINT)
        signatures, elapsed_s = _timed(lambda: RandomProjection(size, seed).sign(terms))
    return np.cos(np.pi * _distances(signatures) / size), elapsed_s


def ap_hash(word: str) -> int:
    """Return the 64-bit hash of the article's published Simhash code: Arash Partow's, over UTF-16 units.

    Source: github.com/lintool/Ivory, ``ivory.lsh.projection.ComputeSignaturesSimhash``. For each character it applies a
    shift, an addition and an exclusive or: words that differ only in their last letter differ in few bits.

    Examples
    --------
    >>> hex(ap_hash("haus")), (ap_hash("haus") ^ ap_hash("haut")).bit_count()
    ('0x8ba4eabeb91bdb70', 3)
    """
    made = _signed_64(0xFFFF_FFFF_AAAA_AAAA)
    units = np.frombuffer(word.encode("utf-16-le", "surrogatepass"), "<u2").tolist()
    for place, unit in enumerate(units):
        if place % 2 == 0:
            made = _signed_64(made ^ (made << 7) ^ (unit * (made >> 3)))
        else:
            made = _signed_64(made ^ ~(((made << 11) + unit) ^ (made >> 5)))
    return made % 2**64


def _signed_64(value: int) -> int:
    """Convert to two's complement, which right shifts need."""
    return (value + 2**63) % 2**64 - 2**63


def simhash_of(hashes: U64, weights: F32, offsets: I64) -> BitSignatures:
    """Compute 64-bit Simhash from given hashes: the weighted majority of each bit; no vector may be empty.

    Examples
    --------
    >>> hashes = np.array([0b01, 0b10, 0b11], np.uint64)
    >>> simhash_of(hashes, np.array([3, 1, 1], np.float32), np.array([0, 3])).words.tolist()
    [[1]]
    """
    is_set = np.unpackbits(np.ascontiguousarray(hashes.astype("<u8")).view(np.uint8), bitorder="little").reshape(-1, 64)
    sums = np.add.reduceat((2.0 * is_set - 1.0) * weights[:, None].astype(np.float64), offsets[:-1], axis=0)
    return BitSignatures(
        np.packbits(sums > 0, axis=1, bitorder="little"), np.ones(len(offsets) - 1, np.bool_), _FINGERPRINT
    )


def lowest_terms(hashes: U64, offsets: I64, n_terms: int, seed: int) -> U64:
    """Return the lowest term of each document in some orderings of all terms, shape (n_documents, n_terms).

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
    """Apply the finaliser of SplitMix64: another salt gives another order."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _as_counts(vectors: WeightedVectors, of_terms: U64) -> FeatureCounts:
    """Convert weights to integers, so that every term counts in proportion to its weight."""
    counts = np.rint(vectors.weights * _WEIGHT).astype(np.uint32)
    n = len(vectors)
    return FeatureCounts(
        hashes=of_terms,
        counts=counts,
        firsts=np.zeros(len(counts), np.uint32),
        offsets=vectors.offsets,
        texts=pa.nulls(n, pa.large_string()),
        n_characters=0,
        fingerprint=_FINGERPRINT,
    )


def _distances(signatures: BitSignatures) -> F64:
    """Return the distances of all pairs of rows, in the order of ``numpy.triu_indices``."""
    found = SignatureScan().pairs(signatures, distance=signatures.n_bits)
    return found.distance.astype(np.float64)


def _timed(work: Callable[[], Made]) -> tuple[Made, float]:
    """Return the result, and the CPU seconds of the fastest of a few runs."""
    made, least = work(), math.inf  # the first run may compile
    for _ in range(_REPEATS):
        started = time.process_time()
        work()
        least = min(least, time.process_time() - started)
    return made, least
