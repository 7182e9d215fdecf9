"""Engines of signing: threads of this process, or a cluster. The signatures are the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from nearkin.engines.choice import Engine
from nearkin.errors import ParameterError
from nearkin.manifests.signing import DriftRow
from nearkin.records import I64, U8, BitSignatures, FeatureCounts
from nearkin.runs.progress import Meter
from nearkin.stages.signatures.statistics import Statistics
from nearkin.stages.signatures.topsig import OnlineTopSig, WeightedTopSig
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing.counting import SignedBatch, SignedTexts, collect, counted_batches, signed_batches
from nearkin.workflows.signing.options import SigningOptions

if TYPE_CHECKING:
    from nearkin.engines.spark.session import Cluster


class SigningEngine(Protocol):
    """Engine that reads the documents and signs them."""

    def check(self, reading: ReadingRequest, options: SigningOptions) -> None:
        """Refuse, before anything is read, options and input that this engine does not support."""

    def sign(
        self, reading: ReadingRequest, texts: Texts, options: SigningOptions, statistics: Statistics | None
    ) -> SignedTexts:
        """Sign documents; if the method needs statistics and none are given, they are counted."""


@dataclass(frozen=True, slots=True)
class SigningThreads:
    """Threads of this process; see `SigningEngine`."""

    resources: Resources
    meter: Meter

    def check(self, reading: ReadingRequest, options: SigningOptions) -> None:
        """Accept every request."""

    def sign(
        self, reading: ReadingRequest, texts: Texts, options: SigningOptions, statistics: Statistics | None
    ) -> SignedTexts:
        """See `SigningEngine`."""
        signed = self._signed(texts, options, statistics)
        options.normalise.ignored.say_not_found(self.meter.progress.say)
        return signed

    def _signed(self, texts: Texts, options: SigningOptions, statistics: Statistics | None) -> SignedTexts:
        threads = self.resources.n_threads
        if options.method == "weighted-topsig" and statistics is None and not options.is_online:
            if not texts.can_be_read_again:
                raise ParameterError(
                    "weighted-topsig counts all documents before it signs them, and a pipe can be read "
                    "only once. Save it to a file, give 'statistics', or add online=True."
                )
            statistics = collect(texts, options.features, options.normalise, threads=threads, meter=self.meter)
        method = options.signer(statistics)
        if isinstance(method, OnlineTopSig):
            return _sign_online(texts, options, method, threads=threads, meter=self.meter)
        with self.meter.stage("sign", texts.size_bytes, "bytes") as progress:
            batches = list(signed_batches(texts, options, method, threads=threads, progress=progress))
        return SignedTexts(batches, method.fingerprint, texts.id_kind, statistics)


def signing_engine(engine: Engine, out: Path, resources: Resources, meter: Meter) -> SigningEngine:
    """Return the signer of an engine."""

    def on_cluster(chosen: Cluster) -> SigningEngine:
        from nearkin.workflows.signing.on_spark import SigningCluster

        return SigningCluster(chosen, out, meter)

    return engine.choose(local=lambda: SigningThreads(resources, meter), cluster=on_cluster)


def _sign_online(
    texts: Texts, options: SigningOptions, method: OnlineTopSig, *, threads: int, meter: Meter
) -> SignedTexts:
    """Sign documents in order, each by the statistics of those before it."""
    sample = DriftSample()
    batches: list[SignedBatch] = []
    with meter.stage("sign", texts.size_bytes, "bytes") as progress:
        for documents, counted in counted_batches(texts, options, threads=threads, progress=progress):
            signed = method.sign(counted)
            sample.watch(counted, signed)
            batches.append((documents, signed))
    statistics = method.growing.frozen()
    # signatures depend on the order of the documents
    fingerprint = f"{method.fingerprint} to {statistics.fingerprint}"
    drift = sample.measure(method, statistics)
    return SignedTexts(batches, fingerprint, texts.id_kind, statistics, drift)


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
