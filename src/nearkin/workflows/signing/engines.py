"""Engines of signing: threads of this process, or a cluster. The signatures are the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from nearkin.engines.choice import Engine
from nearkin.errors import ParameterError
from nearkin.runs.meter import Meter
from nearkin.stages.signatures.statistics import Statistics
from nearkin.stages.signatures.topsig import OnlineTopSig
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing.batches import SignedBatch, SignedTexts, counted_batches, signed_batches
from nearkin.workflows.signing.counting import collect
from nearkin.workflows.signing.drift import DriftSample
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
        from nearkin.workflows.signing.on_spark.job import SigningCluster

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
