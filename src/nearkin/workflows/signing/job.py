"""Documents → a file of signatures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.engines.choice import LOCAL, Engine
from nearkin.errors import FingerprintError, ParameterError
from nearkin.manifests.signing import SigningRecord, StatisticsRecord
from nearkin.manifests.stored import DamagedFile
from nearkin.paths import check_own_format
from nearkin.records import BitSignatures
from nearkin.runs.files import published
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.stages.signatures.statistics import Statistics
from nearkin.workflows.reading.collection_exceptions import all_exceptions
from nearkin.workflows.reading.describing import not_read_files
from nearkin.workflows.reading.distinct_ids import with_distinct_names
from nearkin.workflows.reading.exceptions import EXCEPTIONS_FILE, lines_with_digests, named_as_in, write_exceptions
from nearkin.workflows.reading.problems import check_readable, damaged_files
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.snapshots import Snapshots, check_unchanged, snapshots_of
from nearkin.workflows.reading.texts import Texts, check_not_an_input
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing.counting import DOCUMENTS, SignedTexts
from nearkin.workflows.signing.engines import SigningThreads, signing_engine
from nearkin.workflows.signing.options import SigningOptions
from nearkin.workflows.signing.signature_file import About, SignatureFile


def sign(
    reading: ReadingRequest,
    out: Path | None,
    options: SigningOptions,
    *,
    statistics: Path | None = None,
    resources: Resources,
    progress: Progress | None = None,
    engine: Engine = LOCAL,
) -> tuple[SignatureFile, SigningRecord]:
    """Sign every document, and write the signatures to ``out``; without it this machine signs, and writes no file.

    weighted-topsig without ``statistics`` reads the input twice: to count all documents, then to sign them. A
    cluster must see the files, and the directory of ``out``, under the same paths.

    Raises
    ------
    InputError, RunError, ParameterError
        See `nearkin.errors`.
    FingerprintError
        The statistics are of other features.
    EngineError, MissingExtraError
        The cluster cannot be used, or gave up.
    """
    meter = Meter(progress or Silent())
    signer = SigningThreads(resources, meter) if out is None else signing_engine(engine, out, resources, meter)
    if statistics is not None and (options.method != "weighted-topsig" or options.is_online):
        raise ParameterError(
            "is for weighted-topsig that is not online. Choose that method, or omit 'statistics'.",
            parameter="statistics",
        )
    signer.check(reading, options)
    given = None if statistics is None else Statistics.load(statistics)
    texts = reading.opened(meter.progress)
    if out is not None:
        for written in (out, exceptions_beside(out)):
            check_not_an_input(written, texts.sources, reading.encoding)
        check_own_format(out, "signatures")
    inputs = snapshots_of(texts.sources, reading.encoding)
    if given is not None and given.features != options.counts_fingerprint:
        raise FingerprintError(
            f"The statistics are of features {given.features!r}, the documents' are {options.counts_fingerprint!r}."
        )
    done = signer.sign(reading, texts, options, given)
    check_unchanged(texts.sources, inputs)
    documents = [documents for documents, _ in done.batches]
    check_readable(documents, reading.rules)
    name = "the result of nearkin.sign" if out is None else str(out)
    file = _joined(done, options, inputs, reading.encoding, name)
    if out is not None:
        with published(out) as aside:
            file.save(aside)
        _write_exceptions(texts, file.documents, exceptions_beside(out), resources, meter)
    n_unreadable = sum(some.num_rows - some["problem"].null_count for some in documents)
    record = _record(file, done, n_unreadable, damaged_files(documents), meter.elapsed_s)
    return file, replace(record, not_read=not_read_files(texts.not_read))


def exceptions_beside(out: Path) -> Path:
    """Return the name of the list of exceptions beside a file of signatures."""
    return out.with_name(f"{out.stem}-{EXCEPTIONS_FILE}")


def _write_exceptions(texts: Texts, documents: pa.Table, path: Path, resources: Resources, meter: Meter) -> None:
    """Write the exceptions, if there are any, or if an earlier list would be taken for that of these signatures."""
    found = named_as_in(documents, all_exceptions(texts), texts.places)
    lines = lines_with_digests(found, texts.places, texts.sources, resources, meter)
    if lines or path.exists():
        write_exceptions(path, lines)


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


def _joined(done: SignedTexts, options: SigningOptions, inputs: Snapshots, encoding: str, name: str) -> SignatureFile:
    fingerprint = f"{options.counts_fingerprint};{done.fingerprint}"
    table = pa.Table.from_batches([documents for documents, _ in done.batches], DOCUMENTS)
    # in one chunk: batch boundaries would change the bytes of the file
    table = with_distinct_names(table, done.id_kind).combine_chunks()
    n_bytes = options.bits // 8
    packed = np.concatenate([np.zeros((0, n_bytes), np.uint8), *(signed.packed for _, signed in done.batches)])
    has_features = np.concatenate([np.zeros(0, np.bool_), *(signed.has_features for _, signed in done.batches)])
    about = About(
        options.in_words(),
        fingerprint,
        None if done.statistics is None else done.statistics.fingerprint,
        inputs,
        encoding,
    )
    return SignatureFile(
        table.select(["id", "name", "source", "line", "problem"]),
        BitSignatures(packed, has_features, fingerprint),
        about,
        name,
    )
