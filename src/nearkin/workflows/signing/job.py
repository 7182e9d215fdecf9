"""Documents → a file of signatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.errors import FingerprintError, ParameterError
from nearkin.manifests.stored import DamagedFile, DriftRow, SigningRecord, StatisticsRecord
from nearkin.options.signatures import SigningOptions
from nearkin.paths import check_own_format
from nearkin.records import I64, U8, BitSignatures, FeatureCounts
from nearkin.runs.files import published
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.result_file import refuse_input
from nearkin.stages.documents.source import Source
from nearkin.stages.signatures.statistics import Statistics
from nearkin.stages.signatures.topsig import OnlineTopSig, WeightedTopSig
from nearkin.workflows.reading.inputs import StoredSource
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.rereading import check_unchanged, seen, undigested_files
from nearkin.workflows.reading.texts import EXCEPTIONS_FILE, Texts, check_readable, damaged_files, write_exceptions
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing.counting import SignedBatch, SignedTexts, collect, counted_batches, signed_batches
from nearkin.workflows.signing.signature_file import About, SignatureFile


def sign(
    reading: ReadingRequest,
    out: Path | None,
    options: SigningOptions,
    *,
    statistics: Path | None = None,
    resources: Resources,
    progress: Progress | None = None,
) -> tuple[SignatureFile, SigningRecord]:
    """Sign every document, and write the signatures to ``out``, if it is given.

    weighted-topsig without ``statistics`` reads the input twice: to count all documents, then to sign them. The result
    is one file that appears whole, so nothing can be resumed or mixed: `runs.result_file` checks it, and no `JobRun`.
    """
    meter = Meter(progress or Silent())
    if statistics is not None and (options.method != "weighted-topsig" or options.online):
        raise ParameterError(
            "is for weighted-topsig that is not online. Choose that method, or omit 'statistics'.",
            parameter="statistics",
        )
    given = None if statistics is None else Statistics.load(statistics)
    texts = reading.opened(meter.progress)
    if out is not None:
        for written in (out, exceptions_beside(out)):
            refuse_input(written, texts.paths)
        check_own_format(out, "signatures")
    inputs = [seen(source) for source in texts.sources]
    if given is not None and given.features != options.counts_fingerprint:
        raise FingerprintError(
            f"The statistics are of features {given.features!r}, the documents' are {options.counts_fingerprint!r}."
        )
    done = _signed(texts, options, given, threads=resources.n_threads, meter=meter)
    check_unchanged(inputs)
    documents = [documents for documents, _ in done.batches]
    check_readable(documents, reading.rules)
    name = "the result of nearkin.sign" if out is None else str(out)
    file = _joined(texts, reading, done, options, inputs, name)
    if out is not None:
        with published(out) as aside:
            file.save(aside)
        write_exceptions(exceptions_beside(out), texts.exception_lines(file.documents, resources, meter))
    n_unreadable = sum(document.num_rows - document["problem"].null_count for document in documents)
    record = _record(file, done, n_unreadable, damaged_files(documents), meter.elapsed_s)
    return file, replace(record, not_read=texts.not_read or None)


def exceptions_beside(out: Path) -> Path:
    """Return the name of the list of exceptions beside a file of signatures."""
    return out.with_name(f"{out.stem}-{EXCEPTIONS_FILE}")


def _record(
    file: SignatureFile, done: SignedTexts, n_unreadable: int, damaged: tuple[DamagedFile, ...], elapsed_s: float
) -> SigningRecord:
    signatures, statistics = file.signatures, done.statistics
    n_signed = int(signatures.has_features.sum())
    return SigningRecord(
        documents=len(signatures),
        signed=n_signed,
        distinct_signatures=len(np.unique(signatures.packed[signatures.has_features], axis=0)) if n_signed else 0,
        without_features=len(signatures) - n_signed - n_unreadable,
        unreadable=n_unreadable,
        damaged_files=damaged,
        parameters=file.about.parameters,
        fingerprint=file.about.fingerprint,
        statistics=None
        if statistics is None
        else StatisticsRecord(statistics.fingerprint, statistics.n_documents, len(statistics.hashes)),
        drift=done.drift,
        elapsed_s=elapsed_s,
    )


def _joined(
    texts: Texts,
    reading: ReadingRequest,
    done: SignedTexts,
    options: SigningOptions,
    inputs: Sequence[Source],
    name: str,
) -> SignatureFile:
    fingerprint = f"{options.counts_fingerprint};{done.fingerprint}"
    table = texts.documents([facts for facts, _ in done.batches])
    n_bytes = options.bits // 8
    packed = np.concatenate([np.zeros((0, n_bytes), np.uint8), *(signed.packed for _, signed in done.batches)])
    has_features = np.concatenate([np.zeros(0, np.bool_), *(signed.has_features for _, signed in done.batches)])
    about = About(
        options.in_words(),
        fingerprint,
        None if done.statistics is None else done.statistics.fingerprint,
        undigested_files(inputs, table["source"]),
        reading.encoding,
        reading.as_read(),
    )
    return SignatureFile(
        table.select(["id", "name", "source", "line", "problem"]),
        BitSignatures(packed, has_features, fingerprint),
        about,
        name,
        {source.path: source for source in inputs if isinstance(source, StoredSource)},
    )


def _signed(
    texts: Texts, options: SigningOptions, statistics: Statistics | None, *, threads: int, meter: Meter
) -> SignedTexts:
    if options.method == "weighted-topsig" and statistics is None and not options.online:
        if not texts.can_be_read_again:
            raise ParameterError(
                "weighted-topsig counts all documents before it signs them, and a pipe can be read "
                "only once. Save it to a file, give 'statistics', or add online=True."
            )
        statistics = collect(texts, options.features, options.normalise, threads=threads, meter=meter)
    method = options.signer(statistics)
    if isinstance(method, OnlineTopSig):
        signed = _sign_online(texts, options, method, threads=threads, meter=meter)
    else:
        with meter.stage("sign", texts.size_bytes, "bytes") as progress:
            batches = list(signed_batches(texts, options, method, threads=threads, progress=progress))
        signed = SignedTexts(batches, method.fingerprint, statistics)
    options.normalise.ignored.say_not_found(meter.progress.say)
    return signed


def _sign_online(
    texts: Texts, options: SigningOptions, method: OnlineTopSig, *, threads: int, meter: Meter
) -> SignedTexts:
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
    return SignedTexts(batches, fingerprint, statistics, drift)


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
        """Sign the sample again by the final statistics, and compare; a row for each doubling."""
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
