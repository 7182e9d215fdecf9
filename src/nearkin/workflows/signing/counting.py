"""Documents → statistics of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.errors import ParameterError
from nearkin.manifests.stored import DriftRow
from nearkin.options.signatures import SigningOptions
from nearkin.records import BitSignatures, FeatureCounts
from nearkin.runs.files import published
from nearkin.runs.progress import Meter, Progress
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.features.shingles import Shingling
from nearkin.stages.signatures.bits import BitMethod
from nearkin.stages.signatures.statistics import GrowingStatistics, Statistics
from nearkin.workflows.reading.texts import RawBatch, Texts, check_readable, counts_fingerprint


def collect(texts: Texts, features: Shingling, normalise: Normalisation, *, threads: int, meter: Meter) -> Statistics:
    """Count the features of all documents; the results are added in document order."""
    counts, documents = count_all_texts(texts, features, normalise, threads=threads, meter=meter)
    check_readable(documents, texts.rules)
    return counts


def count_all_texts(
    texts: Texts, features: Shingling, normalise: Normalisation, *, threads: int, meter: Meter
) -> tuple[Statistics, list[pa.RecordBatch]]:
    """Return the statistics of texts, possibly a part of all, and the facts about each document."""
    growing = GrowingStatistics(counts_fingerprint(features, normalise))
    documents = list[pa.RecordBatch]()
    with meter.stage("count", texts.size_bytes, "bytes") as progress:

        def count(raw: RawBatch) -> tuple[FeatureCounts, pa.RecordBatch]:
            batch = texts.prepare(raw, normalise)
            return batch.counted(features, normalise), texts.facts(batch)

        for counted, about in map_ordered(count, texts.raw_batches(progress), threads=threads):
            growing.add(counted)
            documents.append(about)
    return growing.frozen(), documents


def merge(paths: Sequence[Path]) -> Statistics:
    """Merge the statistics of several corpora."""
    if len(paths) < 2:
        raise ParameterError.of("files", "at least two files of statistics", len(paths))
    growing: GrowingStatistics | None = None
    for path in paths:
        statistics = Statistics.load(path)
        growing = growing or GrowingStatistics(statistics.features)
        growing.merge(statistics)
    return growing.frozen()  # type: ignore[union-attr]  # there are at least two


def save(statistics: Statistics, out: Path) -> None:
    """Write the statistics completely or not at all."""
    with published(out) as aside:
        statistics.save(aside)


SignedBatch = tuple[pa.RecordBatch, BitSignatures]
"""Documents, with columns `texts.FACTS`, and their signatures."""


@dataclass(frozen=True, slots=True)
class SignedTexts:
    """All documents of some sources, in reading order, before they become one file."""

    batches: Sequence[SignedBatch]
    fingerprint: str
    statistics: Statistics | None = None
    drift: tuple[DriftRow, ...] = ()


def counted_batches(
    texts: Texts, options: SigningOptions, *, threads: int, progress: Progress
) -> Iterator[tuple[pa.RecordBatch, FeatureCounts]]:
    """Yield the documents of each batch, without their texts, and their features."""
    return map_ordered(_counter(texts, options), texts.raw_batches(progress), threads=threads)


def signed_batches(
    texts: Texts, options: SigningOptions, method: BitMethod, *, threads: int, progress: Progress
) -> Iterator[SignedBatch]:
    """Yield the documents of each batch, without their texts, and their signatures."""
    count = _counter(texts, options)

    def sign(raw: RawBatch) -> SignedBatch:
        documents, counted = count(raw)
        return documents, method.sign(counted)

    return map_ordered(sign, texts.raw_batches(progress), threads=threads)


def _counter(texts: Texts, options: SigningOptions) -> Callable[[RawBatch], tuple[pa.RecordBatch, FeatureCounts]]:
    def count(raw: RawBatch) -> tuple[pa.RecordBatch, FeatureCounts]:
        batch = texts.prepare(raw, options.normalise)
        return texts.facts(batch), batch.counted(options.features, options.normalise)

    return count
