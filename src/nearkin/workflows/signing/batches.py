"""Texts → facts about each document, with its features or its signature, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.manifests.signing import DriftRow
from nearkin.records import BitSignatures, FeatureCounts
from nearkin.runs.progress import Progress
from nearkin.stages.documents.ids import IdKind
from nearkin.stages.signatures.bits import BitMethod
from nearkin.stages.signatures.statistics import Statistics
from nearkin.workflows.reading.texts import RawBatch, TextBatch, Texts
from nearkin.workflows.signing.options import SigningOptions

DOCUMENTS = pa.schema(
    [
        pa.field("name", pa.large_string(), nullable=False),  # from `preparing.prepare`; not unique
        pa.field("has_id", pa.bool_(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
        pa.field("problem", pa.large_string()),
        pa.field("source", pa.large_string(), nullable=False),
    ]
)
"""Columns stored for a document beside its signature; see `distinct_ids.with_distinct_names`."""
SignedBatch = tuple[pa.RecordBatch, BitSignatures]
"""Documents, with columns `DOCUMENTS`, and their signatures."""


@dataclass(frozen=True, slots=True)
class SignedTexts:
    """All documents of some sources, before they become one file.

    Parameters
    ----------
    batches : sequence of SignedBatch
        In reading order.
    fingerprint : str
        Fingerprint of the method.
    id_kind : IdKind
    statistics : Statistics or None
        Statistics that weighted the signatures.
    drift : tuple of DriftRow
        Set if statistics grew with the documents.
    """

    batches: Sequence[SignedBatch]
    fingerprint: str
    id_kind: IdKind
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
    """Yield the documents of each batch, without their texts, and their signatures; batches are signed in any order."""
    count = _counter(texts, options)

    def sign(raw: RawBatch) -> SignedBatch:
        documents, counted = count(raw)
        return documents, method.sign(counted)

    return map_ordered(sign, texts.raw_batches(progress), threads=threads)


def _counter(texts: Texts, options: SigningOptions) -> Callable[[RawBatch], tuple[pa.RecordBatch, FeatureCounts]]:
    names = pa.array(texts.places, pa.large_string())

    def about(batch: TextBatch) -> pa.RecordBatch:
        kept = batch.prepared.select(["doc_id", "has_id", "line", "problem"])
        sources = names.take(pa.array(batch.sources))
        return pa.RecordBatch.from_arrays([*kept.columns, sources], schema=DOCUMENTS)

    def count(raw: RawBatch) -> tuple[pa.RecordBatch, FeatureCounts]:
        batch = texts.prepare(raw, options.normalise)
        return about(batch), batch.counted(options.features, options.normalise)

    return count
