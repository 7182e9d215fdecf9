"""Documents → a file of signatures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.errors import FingerprintError, ParameterError, SourceError
from nearkin.kernels.compiled.cache import is_cold
from nearkin.records import BitSignatures, FeatureCounts
from nearkin.runs.files import published
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.signatures.bits import BitMethod
from nearkin.stages.signatures.statistics import Statistics
from nearkin.stages.signatures.topsig import OnlineTopSig
from nearkin.workflows.dedup.options import Resources
from nearkin.workflows.signing.counting import collect
from nearkin.workflows.signing.distinct_ids import with_distinct_ids
from nearkin.workflows.signing.drift import DriftRow, DriftSample
from nearkin.workflows.signing.options import SigningOptions
from nearkin.workflows.signing.signature_file import About, SignatureFile, SignedInput
from nearkin.workflows.signing.texts import Reading, TextBatch, Texts, check_not_an_input


@dataclass(frozen=True, slots=True)
class Signed:
    """What signing did.

    Parameters
    ----------
    file : SignatureFile
    n_unreadable : int
    statistics : Statistics or None
        That the signatures were weighted by.
    drift : tuple of DriftRow
        Where statistics grew with the documents.
    elapsed_s : float
    """

    file: SignatureFile
    n_unreadable: int
    statistics: Statistics | None
    drift: tuple[DriftRow, ...]
    elapsed_s: float

    def summary(self) -> dict[str, object]:
        """For a program."""
        signatures = self.file.signatures
        n_distinct = len(np.unique(signatures.packed[signatures.has_features], axis=0)) if len(signatures) else 0
        return {
            "command": "sign",
            "documents": len(signatures),
            "signed": int(signatures.has_features.sum()),
            "distinct_signatures": n_distinct,
            "without_features": int((~signatures.has_features).sum()) - self.n_unreadable,
            "unreadable": self.n_unreadable,
            "parameters": dict(self.file.about.parameters),
            "fingerprint": self.file.about.fingerprint,
            "statistics": None
            if self.statistics is None
            else {
                "fingerprint": self.statistics.fingerprint,
                "documents": self.statistics.n_documents,
                "features": len(self.statistics.hashes),
            },
            "drift": [asdict(row) for row in self.drift],
            "elapsed_s": self.elapsed_s,
        }


def sign_files(
    reading: Reading,
    out: Path,
    options: SigningOptions,
    *,
    statistics: Path | None = None,
    resources: Resources,
    progress: Progress | None = None,
) -> Signed:
    """Sign every document of some files into a file of signatures.

    weighted-topsig without ``statistics`` reads the files twice: to count all documents, then to sign them.

    Raises
    ------
    InputError, RunError, ParameterError
        See `nearkin.errors`.
    FingerprintError
        If the statistics are of other features.
    """
    progress = progress or Silent()
    if statistics is not None and (options.method != "weighted-topsig" or options.is_online):
        raise ParameterError(
            "The 'statistics' parameter of sign is for weighted-topsig that is not online: add --method "
            "weighted-topsig, or leave --statistics out."
        )
    meter = Meter(progress)
    if is_cold():
        progress.say("first run on this machine: the kernels are compiled, once, which takes some ten seconds")
    loaded = None if statistics is None else Statistics.load(statistics)
    texts = reading.opened(progress)
    check_not_an_input(out, [source.path for source in texts.sources])
    inputs = tuple(SignedInput.of(source) for source in texts.sources)
    if options.method == "weighted-topsig" and loaded is None and not options.is_online:
        if not texts.can_be_read_again:
            raise ParameterError(
                "weighted-topsig counts all documents before it signs them, and a pipe can be read once. Save it to a "
                "file, give --statistics, or add --online."
            )
        loaded = collect(texts, options.features, options.normalise, threads=resources.n_threads, meter=meter)
    if loaded is not None and loaded.features != options.counts_fingerprint:
        raise FingerprintError(
            f"The statistics are of features {loaded.features!r}, the documents' are {options.counts_fingerprint!r}."
        )
    method = options.signer(loaded)
    sample = DriftSample() if options.is_online else None
    batches = _sign_all(texts, options, method, sample, resources=resources, meter=meter)
    drift: tuple[DriftRow, ...] = ()
    if isinstance(method, OnlineTopSig) and sample is not None:
        loaded = method.growing.frozen()
        drift = sample.measure(method, loaded)
    if tuple(SignedInput.of(source) for source in texts.sources) != inputs:
        raise SourceError("A file of the input changed while it was read. Sign it again when nothing writes to it.")
    file = _joined(batches, texts, options, method, loaded, inputs, reading.encoding)
    with published(out) as aside:
        file.save(aside)
    n_unreadable = sum(documents.num_rows - documents["problem"].null_count for documents, _ in batches)
    return Signed(file, n_unreadable, loaded, drift, round(sum(cost.elapsed_s for cost in meter.costs), 3))


def _sign_all(
    texts: Texts,
    options: SigningOptions,
    method: BitMethod,
    sample: DriftSample | None,
    *,
    resources: Resources,
    meter: Meter,
) -> list[tuple[pa.RecordBatch, BitSignatures]]:
    """The documents of each batch, without their texts, and their signatures."""
    names = pa.array(texts.names, pa.large_string())

    def about(batch: TextBatch) -> pa.RecordBatch:
        kept = batch.prepared.select(["doc_id", "line", "problem"])
        return kept.append_column(pa.field("source", names.type, nullable=False), names.take(pa.array(batch.sources)))

    def count(raw: object) -> tuple[pa.RecordBatch, FeatureCounts]:
        batch = texts.prepare(raw, options.normalise)  # type: ignore[arg-type]
        return about(batch), batch.counted(options.features, options.normalise)

    def sign(raw: object) -> tuple[pa.RecordBatch, BitSignatures]:
        documents, counted = count(raw)
        return documents, method.sign(counted)

    done = []
    with meter.stage("sign", texts.size_bytes, "bytes") as progress:
        raw_batches = texts.raw_batches(progress)
        if sample is None:
            return list(map_ordered(sign, raw_batches, threads=resources.n_threads))
        for documents, counted in map_ordered(count, raw_batches, threads=resources.n_threads):
            signed = method.sign(counted)  # in order: each by the statistics of those before it
            sample.watch(counted, signed)
            done.append((documents, signed))
    return done


def _joined(
    batches: list[tuple[pa.RecordBatch, BitSignatures]],
    texts: Texts,
    options: SigningOptions,
    method: BitMethod,
    statistics: Statistics | None,
    inputs: tuple[SignedInput, ...],
    encoding: str,
) -> SignatureFile:
    fingerprint = f"{options.counts_fingerprint};{method.fingerprint}"
    if options.is_online and statistics is not None:  # another stream has other signatures
        fingerprint = f"{fingerprint} to {statistics.fingerprint}"
    schema = pa.schema(
        [
            pa.field("id", pa.large_string(), nullable=False),
            pa.field("line", pa.int64(), nullable=False),
            pa.field("problem", pa.large_string()),
            pa.field("source", pa.large_string(), nullable=False),
        ]
    )
    table = pa.Table.from_batches([documents.rename_columns(schema.names) for documents, _ in batches] or [], schema)
    table = with_distinct_ids(table, texts.has_integer_ids)
    n_bytes = options.bits // 8
    packed = np.concatenate([np.zeros((0, n_bytes), np.uint8), *(signed.packed for _, signed in batches)])
    has_features = np.concatenate([np.zeros(0, np.bool_), *(signed.has_features for _, signed in batches)])
    about = About(
        options.in_words(),
        fingerprint,
        None if statistics is None else statistics.fingerprint,
        inputs,
        encoding,
    )
    return SignatureFile(
        table.select(["id", "source", "line", "problem"]), BitSignatures(packed, has_features, fingerprint), about
    )
