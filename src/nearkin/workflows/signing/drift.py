"""Distance between signatures made while statistics grew and those by the statistics of all documents.

The question is that of Adam Roegiest and Edward Lee, "On Tradeoffs Between Document Signature Methods for a Legal Due
Diligence Corpus", SIGIR 2019: how many documents are necessary, and can it be done online.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from nearkin.manifests.signing import DriftRow
from nearkin.records import I64, U8, BitSignatures, FeatureCounts
from nearkin.stages.signatures.statistics import Statistics
from nearkin.stages.signatures.topsig import OnlineTopSig, WeightedTopSig

SAMPLED = 32
"""Number of documents kept per doubling of the documents seen."""


class DriftSample:
    """Sample of the features and signatures of documents seen: at most 32 per doubling."""

    def __init__(self) -> None:
        self._n_seen = 0
        self._kept: list[tuple[int, FeatureCounts, U8]] = []

    def watch(self, counted: FeatureCounts, signed: BitSignatures) -> None:
        """Sample a batch that was signed."""
        for i in np.flatnonzero(signed.has_features).tolist():
            self._n_seen += 1
            doubling = 1 << (self._n_seen.bit_length() - 1)
            if self._n_seen % max(1, doubling // SAMPLED) == 0:
                self._kept.append((self._n_seen, _one(counted, i), signed.packed[i]))

    def measure(self, method: OnlineTopSig, final: Statistics) -> tuple[DriftRow, ...]:
        """Sign the sample again by the statistics of all documents, and compare; a row for each doubling."""
        again = WeightedTopSig(final, method.bits, method.density, method.seed)
        seen = np.array([n for n, _, _ in self._kept], np.int64)
        changed = np.array(
            [np.unpackbits(again.sign(counted).packed[0] ^ packed).mean() for _, counted, packed in self._kept]
        )
        rows, start = [], 1
        while start <= self._n_seen:
            inside = (seen >= start) & (seen < 2 * start)
            if inside.any():
                share = changed[inside]
                high = float(np.quantile(share, 0.95))
                last = min(2 * start - 1, self._n_seen)
                rows.append(DriftRow(start, last, len(share), float(share.mean()), high))
            start *= 2
        return tuple(rows)


def _one(counted: FeatureCounts, i: int) -> FeatureCounts:
    """Return one document of a batch, without its text."""
    part = slice(int(counted.offsets[i]), int(counted.offsets[i + 1]))
    offsets: I64 = np.array([0, part.stop - part.start], np.int64)
    return FeatureCounts(
        hashes=counted.hashes[part].copy(),
        counts=counted.counts[part].copy(),
        firsts=counted.firsts[part].copy(),
        offsets=offsets,
        texts=pa.nulls(1, pa.large_string()),
        n_characters=counted.n_characters,
        fingerprint=counted.fingerprint,
    )
