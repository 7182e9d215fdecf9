"""Number of documents that weighted TopSig needs: signatures by statistics of the first n documents, and online.

The article leaves two questions open: how many documents are needed, and whether signatures can be made online.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from labs.signatures.methods import DRIFT_BITS, WEIGHTED, SignedCorpus, as_signatures, snapshot_sizes
from labs.signatures.retrieval import RetrievalQuality, evaluate
from labs.signatures.truth import BY_CHARACTERS, SimilarPairs
from labs.signatures.uniqueness import uniqueness
from nearkin.records import F64, I64, U8
from nearkin.runs.progress import Progress

SMALL_DRIFT = 0.01
AS_GOOD = 0.02
"""Maximum loss of F1, and of the share of distinct signatures, compared with the statistics of all documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Signatures by statistics of some documents, compared with those by all.

    Parameters
    ----------
    bits : int
    n_documents : int
        Number of documents in the statistics; 0: each document was signed with those up to itself.
    mean, high : float
        Share of the bits that differ: the mean over all documents, and the 95th percentile.
    n_unique : int
    best : RetrievalQuality
        Quality at the best distance, against the pairs that are similar by characters.
    """

    bits: int
    n_documents: int
    mean: float
    high: float
    n_unique: int
    best: RetrievalQuality


@dataclass(frozen=True, slots=True)
class Arrival:
    """Online signatures of the documents from the ``first`` to the ``last``, compared with those by all."""

    bits: int
    first: int
    last: int
    mean: float
    high: float


@dataclass(frozen=True, slots=True)
class Drifts:
    """All measurements of drift; the last of ``by_first`` is by all documents and has a drift of 0."""

    by_first: tuple[Drift, ...]
    online: tuple[Drift, ...]
    arrivals: tuple[Arrival, ...]

    def of(self, bits: int) -> tuple[Drift, ...]:
        """Return the drifts at a length, by ascending number of documents."""
        return tuple(drift for drift in self.by_first if drift.bits == bits)

    def n_for_small_drift(self, bits: int) -> int:
        """Return the minimum number of documents from which the mean drift stays below `SMALL_DRIFT`."""
        return _from_which_on(self.of(bits), lambda drift: drift.mean < SMALL_DRIFT)

    def n_for_retrieval(self, bits: int) -> int:
        """Return the minimum number of documents from which F1 and uniqueness stay as good as with all."""
        of_all = self.of(bits)[-1]
        return _from_which_on(self.of(bits), lambda drift: is_as_good(drift, of_all))


def is_as_good(drift: Drift, of_all: Drift) -> bool:
    """Whether neither F1 nor the number of distinct signatures is lower by more than `AS_GOOD`."""
    f1_is = of_all.best.f1 != of_all.best.f1 or drift.best.f1 >= of_all.best.f1 - AS_GOOD
    return f1_is and drift.n_unique >= (1 - AS_GOOD) * of_all.n_unique


def _from_which_on(drifts: tuple[Drift, ...], holds: Callable[[Drift], bool]) -> int:
    least = drifts[-1].n_documents
    for drift in reversed(drifts):
        if not holds(drift):
            break
        least = drift.n_documents
    return least


def share_of_bits(one: U8, other: U8) -> F64:
    """Return the share of differing bits of two signatures for each document, shape (n_documents,).

    Examples
    --------
    >>> share_of_bits(np.array([[0, 1]], np.uint8), np.array([[0, 2]], np.uint8)).tolist()
    [0.125]
    """
    share: F64 = np.bitwise_count(one ^ other).sum(axis=1, dtype=np.int64) / (8 * one.shape[1])
    return share


def measure_drift(
    signed: SignedCorpus, rows: I64, truths: Mapping[str, SimilarPairs], *, threads: int, progress: Progress
) -> Drifts:
    """Measure drift by number of documents, and online; retrieval uses some rows, numbered from 0 in the truths."""
    truth = {BY_CHARACTERS: truths[BY_CHARACTERS]}
    sizes = snapshot_sizes(len(signed.n_occurrences))
    progress.start("drift", len(DRIFT_BITS) * (len(sizes) + 1), "steps")

    def drift(packed: U8, bits: int, n: int) -> Drift:
        share = share_of_bits(packed, signed.packed[WEIGHTED.key, bits])
        (found,) = evaluate(packed[rows], truth, threads=threads)
        progress.advance(1)
        n_unique = uniqueness(as_signatures(packed, "drift")).n_unique
        return Drift(
            bits=bits,
            n_documents=n,
            mean=float(share.mean()),
            high=float(np.quantile(share, 0.95)),
            n_unique=n_unique,
            best=found.best,
        )

    by_first, online, arrivals = [], [], []
    for bits in DRIFT_BITS:
        for n in sizes[:-1]:
            by_first.append(drift(signed.early[n, bits], bits, n))
        by_first.append(drift(signed.packed[WEIGHTED.key, bits], bits, sizes[-1]))
        online.append(drift(signed.online[bits], bits, 0))
        share = share_of_bits(signed.online[bits], signed.packed[WEIGHTED.key, bits])
        for start, stop in zip((0, *sizes[:-1]), sizes, strict=True):
            part = share[start:stop]
            arrivals.append(Arrival(bits, start + 1, stop, float(part.mean()), float(np.quantile(part, 0.95))))
    progress.finish()
    return Drifts(tuple(by_first), tuple(online), tuple(arrivals))
