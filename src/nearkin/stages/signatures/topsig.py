"""TopSig: sums of sparse random vectors, plain and weighted.

Source: Shlomo Geva and Christopher M. De Vries, "TOPSIG: Topology preserving document signatures", CIKM 2011, arXiv
1204.5373; as measured in Roegiest and Lee, SIGIR 2019 (see `nearkin.stages.signatures.simhash`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearkin.arguments import checking_records
from nearkin.errors import FingerprintError, ParameterError, is_number
from nearkin.kernels.signatures import logarithms, project_sparse
from nearkin.records import I64, U8, BitSignatures, FeatureCounts
from nearkin.stages.signatures.bits import check_bits, check_seed, signatures, votes
from nearkin.stages.signatures.statistics import GrowingStatistics, Statistics


class _SparseProjection:
    """Base of the methods: adds up the weighted vectors of features, and keeps the signs."""

    __slots__ = ()
    bits: int
    density: float | None
    seed: int

    def __post_init__(self) -> None:
        name = type(self).__name__
        check_bits(self.bits, name)
        check_seed(self.seed)
        if self.density is not None and not (is_number(self.density) and 0 < self.density <= 1):
            raise ParameterError.of("density", "a number > 0 and <= 1, or None", self.density)

    @property
    def n_nonzero(self) -> int:
        return max(1, round(math.sqrt(self.bits) if self.density is None else self.bits * self.density))

    def _named(self, kind: str) -> str:
        return f"{kind};bits={self.bits};nonzero={self.n_nonzero};seed={self.seed}"

    def _project(self, counted: FeatureCounts, weights: NDArray[np.int32] | I64) -> U8:
        return project_sparse(
            counted.hashes, weights, counted.offsets, n_bits=self.bits, n_nonzero=self.n_nonzero, seed=self.seed
        )


@checking_records
@dataclass(frozen=True, slots=True)
class TopSig(_SparseProjection):
    """TopSig: a bit is 1 if the sum of the features' vectors over {-1, 0, +1}, one per occurrence, is greater than 0.

    The vector of a feature is drawn from its 64-bit hash when it is needed: there is no table of vectors, and new
    features are treated like any other. The bits are divided into as many intervals as a vector has nonzero entries,
    and each interval gets one nonzero entry: an entry is nonzero with probability ``density``.

    Parameters
    ----------
    bits : int, default 64
        A multiple of 8 from 8 to 1024.
    density : float, optional
        Share of the entries of a vector that are not 0, in (0, 1]. By default ``1 / sqrt(bits)``, as in the article;
        the article's code uses 1/16 up to 256 bits and 1/32 above.

    Raises
    ------
    ParameterError
        A parameter breaks its rule.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nearkin.stages.features.shingles import count_features
    >>> from nearkin.stages.features.shingles import Characters
    >>> texts = pa.array(["This Agreement is made on 1 May", "This Agreement is made on 2 May"], pa.large_string())
    >>> signed = TopSig(64).sign(count_features(texts, Characters(4)))
    >>> int(np.unpackbits(signed.packed[0] ^ signed.packed[1]).sum())
    5
    """

    bits: int = 64
    density: float | None = None
    seed: int = 0

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the method, without the features."""
        return self._named("topsig")

    def sign(self, counted: FeatureCounts) -> BitSignatures:
        """Return one signature per document; 0 for documents without features."""
        return signatures(self._project(counted, votes(counted)), counted, self)


@checking_records
@dataclass(frozen=True, slots=True)
class WeightedTopSig(_SparseProjection):
    """TopSig with each distinct feature once, weighted by its frequency in the document relative to all documents.

    The weight of a feature is ``ln((tf / |d|) / (cf / |C|))``: its share of the document's features divided by its
    share of the collection's (Geva and De Vries 2011). It may be negative. A feature that is missing from the
    statistics counts as if it occurred once. Logarithms are integers in units of 2**-20, so that the same documents
    give the same bits on every machine.

    Parameters
    ----------
    statistics
        Statistics of the whole set of documents.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nearkin.stages.features.shingles import count_features
    >>> from nearkin.stages.features.shingles import Characters
    >>> counted = count_features(pa.array(["a lease", "a lease of land"], pa.large_string()), Characters(4))
    >>> WeightedTopSig(Statistics.of([counted]), bits=32).sign(counted).packed.shape
    (2, 4)
    """

    statistics: Statistics
    bits: int = 64
    density: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        _SparseProjection.__post_init__(self)
        if not isinstance(self.statistics, Statistics):
            raise ParameterError.of("statistics", "Statistics", self.statistics)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the method, without the features."""
        return f"{self._named('weighted-topsig')};statistics={self.statistics.fingerprint}"

    def sign(self, counted: FeatureCounts) -> BitSignatures:
        """Return one signature per document; 0 for documents without features."""
        return signatures(self._project(counted, weights(counted, self.statistics)), counted, self)


@checking_records
@dataclass(frozen=True, slots=True)
class OnlineTopSig(_SparseProjection):
    """Weighted TopSig of a stream: each document is weighted by the statistics of the documents up to it.

    Parameters
    ----------
    growing
        Statistics of the documents so far; `sign` adds to it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nearkin.stages.features.shingles import count_features
    >>> from nearkin.stages.features.shingles import Characters
    >>> counted = count_features(pa.array(["a lease", "a lease of land"], pa.large_string()), Characters(4))
    >>> growing = GrowingStatistics(counted.fingerprint)
    >>> OnlineTopSig(growing, bits=32).sign(counted).packed.shape, growing.n_documents
    ((2, 4), 2)
    """

    growing: GrowingStatistics
    bits: int = 64
    density: float | None = None
    seed: int = 0

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the method, without the features and earlier documents."""
        return f"{self._named('weighted-topsig')};statistics=growing"

    def sign(self, counted: FeatureCounts) -> BitSignatures:
        """Count the documents, then return one signature per document; documents without features get 0."""
        return signatures(self._project(counted, self.growing.add_and_weigh(counted)), counted, self)


def weights(counted: FeatureCounts, statistics: Statistics) -> I64:
    """Return ``ln((tf / |d|) / (cf / |C|))`` of each feature, in units of 2**-20, shape (n_features,)."""
    if counted.fingerprint != statistics.features:
        raise FingerprintError(
            f"The statistics are of other features: {statistics.features!r}, but the documents' are "
            f"{counted.fingerprint!r}."
        )
    of_collection = statistics.frequencies(counted.hashes)
    in_document = logarithms(counted.counts.astype(np.int64))
    of_document = logarithms(np.maximum(counted.n_occurrences, 1))
    total = int(logarithms(np.array([max(1, statistics.n_occurrences)]))[0])
    n_features = np.diff(counted.offsets)
    result: I64 = in_document - np.repeat(of_document, n_features) - logarithms(of_collection) + total
    return result
