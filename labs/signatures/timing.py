"""Cost of signatures, as in the article's Table 1: one document at a time, or a few if they are short.

A text of a few sentences alone would be processed by the slow plain kernels, which is not how a corpus is signed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from labs.signatures.methods import BITS, FEATURES, KINDS, method
from nearkin.kernels.buffers import text_buffers
from nearkin.records import F64, I64
from nearkin.runs.progress import Progress
from nearkin.stages.features.shingles import count_features
from nearkin.stages.signatures.statistics import Statistics

MAX_TIMED = 40
MIN_BYTES = 32 << 10


@dataclass(frozen=True, slots=True)
class Seconds:
    """Times of one kind of signature of one length.

    Parameters
    ----------
    key : str
    bits : int
    mean, deviation : float
        CPU seconds per document to count features and make the signature, on one thread. The deviation is
        that between batches.
    """

    key: str
    bits: int
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Timings:
    """Table 1, measured here.

    Parameters
    ----------
    seconds : tuple of Seconds
    n_documents : int
        Number of timed documents, at equal distances.
    n_batches : int
        Number of batches in which they were signed; that of documents if these are long.
    mean_features : float
        Mean number of features per document, counting repeats.
    """

    seconds: tuple[Seconds, ...]
    n_documents: int
    n_batches: int
    mean_features: float

    def of(self, key: str, bits: int) -> Seconds:
        """Return the times of a kind and a length."""
        return next(one for one in self.seconds if (one.key, one.bits) == (key, bits))


def time_documents(
    texts: pa.LargeStringArray, n_occurrences: I64, statistics: Statistics, progress: Progress
) -> Timings:
    """Time documents, or small batches of short ones, one after another.

    Only the statistics of weighted TopSig are computed beforehand, which the article does not count either: the time
    of caching a feature's hash is part of the first document that has the feature.
    """
    batches = _batches(texts)
    sizes = np.array([stop - start for start, stop in batches])
    progress.start("time", len(KINDS) * len(BITS), "steps")
    counts, counting = [], np.zeros(len(batches))
    start, stop = batches[0]
    count_features(texts.slice(start, stop - start), FEATURES)  # loads the kernels
    for i, (start, stop) in enumerate(batches):
        started = time.thread_time()
        counts.append(count_features(texts.slice(start, stop - start), FEATURES))
        counting[i] = time.thread_time() - started
    seconds = []
    for kind in KINDS:
        for bits in BITS:
            method(kind, bits, statistics).sign(counts[0])  # loads the kernels
            fresh = method(kind, bits, statistics)
            taken: F64 = counting.copy()
            for i, counted in enumerate(counts):
                started = time.thread_time()
                fresh.sign(counted)
                taken[i] += time.thread_time() - started
            each = taken / sizes
            mean = float(taken.sum() / sizes.sum())
            seconds.append(Seconds(kind.key, bits, mean, float(each.std())))
            progress.advance(1)
    progress.finish()
    n_features = sum(int(n_occurrences[start:stop].sum()) for start, stop in batches)
    return Timings(tuple(seconds), int(sizes.sum()), len(batches), n_features / int(sizes.sum()))


def _batches(texts: pa.LargeStringArray) -> list[tuple[int, int]]:
    """Return bounds of documents at equal distances, each with as many after it as make `MIN_BYTES`."""
    _, offsets = text_buffers(texts)
    batches: list[tuple[int, int]] = []
    for row in np.linspace(0, len(texts) - 1, min(MAX_TIMED, len(texts))).round().astype(np.int64).tolist():
        stop = int(np.searchsorted(offsets, offsets[row] + MIN_BYTES, side="left"))
        if not batches or row >= batches[-1][1]:
            batches.append((row, min(max(stop, row + 1), len(texts))))
    return batches
