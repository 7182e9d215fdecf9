"""Documents → a file of signatures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.engines.choice import LOCAL, Engine
from nearkin.errors import FingerprintError, ParameterError
from nearkin.kernels.compiled.cache import is_cold
from nearkin.records import BitSignatures
from nearkin.runs.files import published
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.signatures.statistics import Statistics
from nearkin.workflows.reading.distinct_ids import with_distinct_names
from nearkin.workflows.reading.problems import check_readable, damaged_files
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.snapshots import Snapshots, check_unchanged, snapshots_of
from nearkin.workflows.reading.texts import check_not_an_input
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing.batches import DOCUMENTS, SignedTexts
from nearkin.workflows.signing.drift import DriftRow
from nearkin.workflows.signing.engines import signing_engine
from nearkin.workflows.signing.options import SigningOptions
from nearkin.workflows.signing.signature_file import About, SignatureFile


@dataclass(frozen=True, slots=True, kw_only=True)
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
    damaged_files : tuple of mapping
        Those of which only a part was used.
    """

    file: SignatureFile
    n_unreadable: int
    statistics: Statistics | None
    drift: tuple[DriftRow, ...]
    elapsed_s: float
    damaged_files: tuple[Mapping[str, object], ...] = ()

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
            "damaged_files": [dict(one) for one in self.damaged_files],
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
    reading: ReadingRequest,
    out: Path,
    options: SigningOptions,
    *,
    statistics: Path | None = None,
    resources: Resources,
    progress: Progress | None = None,
    engine: Engine = LOCAL,
) -> Signed:
    """Sign every document of some files into a file of signatures.

    weighted-topsig without ``statistics`` reads the files twice: to count all documents, then to sign them. A
    cluster must see the files, and the directory of ``out``, under the same paths.

    Raises
    ------
    InputError, RunError, ParameterError
        See `nearkin.errors`.
    FingerprintError
        If the statistics are of other features.
    EngineError, MissingExtraError
        The cluster cannot be used, or gave up.
    """
    progress = progress or Silent()
    if statistics is not None and (options.method != "weighted-topsig" or options.is_online):
        raise ParameterError(
            "'statistics' is for weighted-topsig that is not online. Choose that method, or omit 'statistics'.",
            named=("statistics",),
        )
    meter = Meter(progress)
    signer = signing_engine(engine, out, resources, meter)
    signer.check(reading, options)
    if is_cold():
        progress.say("first run on this machine: the kernels are compiled, once, which takes some ten seconds")
    given = None if statistics is None else Statistics.load(statistics)
    texts = reading.opened(progress)
    check_not_an_input(out, [source.path for source in texts.sources])
    inputs = snapshots_of(texts.sources)
    if given is not None and given.features != options.counts_fingerprint:
        raise FingerprintError(
            f"The statistics are of features {given.features!r}, the documents' are {options.counts_fingerprint!r}."
        )
    done = signer.sign(reading, texts, options, given)
    check_unchanged(
        texts.sources, inputs, "A file of the input changed while it was read. Sign it again when nothing writes to it."
    )
    documents = [documents for documents, _ in done.batches]
    check_readable(documents, reading.rules)
    file = _joined(done, options, inputs, reading.encoding)
    with published(out) as aside:
        file.save(aside)
    n_unreadable = sum(some.num_rows - some["problem"].null_count for some in documents)
    elapsed_s = round(sum(cost.elapsed_s for cost in meter.costs), 3)
    damaged = tuple(one.as_stored() for one in damaged_files(documents))
    return Signed(
        file=file,
        n_unreadable=n_unreadable,
        statistics=done.statistics,
        drift=done.drift,
        elapsed_s=elapsed_s,
        damaged_files=damaged,
    )


def _joined(done: SignedTexts, options: SigningOptions, inputs: Snapshots, encoding: str) -> SignatureFile:
    fingerprint = f"{options.counts_fingerprint};{done.fingerprint}"
    table = pa.Table.from_batches([documents for documents, _ in done.batches], DOCUMENTS)
    # in one piece: where a batch ended would show in the bytes of the file
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
    )
