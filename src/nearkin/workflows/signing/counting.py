"""Documents → statistics of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.errors import ParameterError
from nearkin.records import FeatureCounts
from nearkin.runs.files import published
from nearkin.runs.meter import Meter
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.features.shingles import Shingling
from nearkin.stages.signatures.statistics import GrowingStatistics, Statistics
from nearkin.workflows.reading.problems import check_readable
from nearkin.workflows.reading.texts import RawBatch, Texts, counts_fingerprint


def collect(texts: Texts, features: Shingling, normalise: Normalisation, *, threads: int, meter: Meter) -> Statistics:
    """Count the features of all documents.

    Threads count the documents; the results are added in document order, which does not affect the sums.

    Raises
    ------
    SourceError, DocumentError
        No document can be read, or more are unreadable than the rules allow.
    """
    found, documents = count_all_texts(texts, features, normalise, threads=threads, meter=meter)
    check_readable(documents, texts.rules)
    return found


def count_all_texts(
    texts: Texts, features: Shingling, normalise: Normalisation, *, threads: int, meter: Meter
) -> tuple[Statistics, list[pa.RecordBatch]]:
    """Return the statistics of texts, possibly only a part of all, and the facts about each document."""
    growing = GrowingStatistics(counts_fingerprint(features, normalise))
    names, documents = pa.array(texts.places, pa.large_string()), []
    with meter.stage("count", texts.size_bytes, "bytes") as progress:

        def count(raw: RawBatch) -> tuple[FeatureCounts, pa.RecordBatch]:
            batch = texts.prepare(raw, normalise)
            sources = names.take(pa.array(batch.sources))
            about = batch.prepared.select(["line", "problem"]).append_column("source", sources)
            return batch.counted(features, normalise), about

        for counted, about in map_ordered(count, texts.raw_batches(progress), threads=threads):
            growing.add(counted)
            documents.append(about)
    return growing.frozen(), documents


def merge(paths: Sequence[Path], out: Path) -> Statistics:
    """Merge the statistics of several corpora.

    Raises
    ------
    ParameterError
        There are fewer than two.
    SourceError, FingerprintError
        A file cannot be read, or is of other features.
    """
    if len(paths) < 2:
        raise ParameterError.of("files", "at least two files of statistics", len(paths))
    growing: GrowingStatistics | None = None
    for path in paths:
        one = Statistics.load(path)
        growing = growing or GrowingStatistics(one.features)
        growing.merge(one)
    merged = growing.frozen()  # type: ignore[union-attr]  # there are at least two
    save(merged, out)
    return merged


def save(statistics: Statistics, out: Path) -> None:
    """Write the statistics completely or not at all."""
    with published(out) as aside:
        statistics.save(aside)
