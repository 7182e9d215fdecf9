"""Signing on a cluster, from top to bottom; the signatures are the same as on one machine."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.engines.spark.layout import Block, Column, Layout
from nearkin.engines.spark.session import Cluster
from nearkin.engines.spark.stages import Stages, stages_on
from nearkin.errors import EngineError, RunError
from nearkin.nouns import counted
from nearkin.options.signatures import SigningOptions
from nearkin.records import U64, BitSignatures
from nearkin.runs.arrays import PartFiles, batch_reader, batch_writer
from nearkin.runs.files import writing
from nearkin.runs.progress import Meter, Progress
from nearkin.stages.documents.ids import IdKind
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.signatures.statistics import GrowingStatistics, Statistics
from nearkin.workflows.reading.identity import by_path, records_of, with_digests
from nearkin.workflows.reading.on_spark.tasks import (
    Notes,
    exception_blocks,
    passed_on,
    read_by_tasks,
    reading_texts,
    take_exceptions,
    task_blocks,
    task_input,
)
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.texts import FACTS, Texts
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing.counting import (
    SignedBatch,
    SignedTexts,
    count_all_texts,
    save,
    signed_batches,
)


def sign_on(
    cluster: Cluster,
    reading: ReadingRequest,
    texts: Texts,
    options: SigningOptions,
    statistics: Statistics | None,
    *,
    out: Path,
    meter: Meter,
) -> SignedTexts:
    """Sign documents on a cluster."""
    records = records_of(texts.sources, reading.encoding)
    known = by_path(with_digests(records, Resources(), meter))
    tasks = task_blocks(texts.sources, reading.encoding, known)
    with _work_beside(out) as work, stages_on(cluster, work, meter) as stages:
        if options.method == "weighted-topsig" and statistics is None:
            statistics = count_all(
                stages, tasks, options, rules=reading.rules, size_bytes=texts.size_bytes, progress=meter.progress
            )
        place = None
        if statistics is not None:
            place = work / "statistics.parquet"
            save(statistics, place)
        method = options.signer(statistics)
        signing = SignInputTask(work / "parts", options, reading.rules, method.fingerprint, place)
        batches = sign_all(stages, tasks, signing, texts, meter.progress)
    return SignedTexts(batches, method.fingerprint, statistics)


@contextlib.contextmanager
def _work_beside(out: Path) -> Iterator[Path]:
    """Make a hidden folder in the directory of ``out``, with a unique name: two runs must not share parts."""
    work = out.absolute().with_name(f".{out.name}.{os.getpid()}-{secrets.token_hex(4)}.work")
    with writing(work):
        work.mkdir()
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


FEATURES = Layout("features", (("hash", "<u8"), ("occurrences", "<i8"), ("documents", "<i8")))
"""Columns of features in `Statistics`."""
COUNTED = Layout("counted", (("n_documents", "<i8"),))
"""Number of documents of an input that have features."""
_BYTES_A_TASK = 64 << 20  # of input; its counts are rarely larger


def count_all(
    stages: Stages,
    tasks: Sequence[Block],
    options: SigningOptions,
    *,
    rules: ReadingRules,
    size_bytes: int,
    progress: Progress,
) -> Statistics:
    """Count the features of all documents; the sums do not depend on the tasks."""
    n_ranges = 1 + size_bytes // _BYTES_A_TASK
    adding = AddCountsTask(options.counts_fingerprint)
    found = read_by_tasks(
        stages,
        "count",
        tasks,
        CountFeaturesTask(options, rules, n_ranges),
        progress,
        then=lambda counts: counts.shuffled(n_ranges, adding),
    )
    hashes, occurrences, documents = FEATURES.joined(found)
    order = np.argsort(hashes)
    (n_documents,) = COUNTED.joined(found)
    return Statistics(
        options.counts_fingerprint, hashes[order], occurrences[order], documents[order], int(n_documents.sum())
    )


@dataclass(frozen=True, slots=True)
class CountFeaturesTask:
    """Count one input, and send its features to where those of the same range of hashes meet."""

    options: SigningOptions
    rules: ReadingRules
    n_ranges: int

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        notes = Notes()
        features, normalise = self.options.features, self.options.normalise
        with reading_texts(task_input(blocks), self.rules) as texts:
            found, _ = count_all_texts(texts, features, normalise, threads=1, meter=Meter(notes))
        yield from FEATURES.scattered(self._range(found.hashes), found.hashes, found.occurrences, found.documents)
        yield from COUNTED.packed(0, np.array([found.n_documents]))
        yield from notes.blocks(target, target=0)

    def _range(self, hashes: U64) -> Column:
        return (hashes >> np.uint64(32)) * np.uint64(self.n_ranges) >> np.uint64(32)


@dataclass(frozen=True, slots=True)
class AddCountsTask:
    """Add up the features of a range of hashes."""

    fingerprint: str

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        growing = GrowingStatistics(self.fingerprint)
        for block in blocks:
            if block.stream == FEATURES.stream:  # each feature occurs once in a block
                hashes, occurrences, documents = FEATURES.joined([block])
                growing.merge(Statistics(self.fingerprint, hashes, occurrences, documents, 0))
        added = growing.frozen()
        yield from FEATURES.packed(target, added.hashes, added.occurrences, added.documents)
        yield from (block for block in blocks if block.stream == COUNTED.stream)
        yield from passed_on(blocks)


SIGNED = Layout("signed", (("n_documents", "<i8"), ("id_kind", "|u1"), ("attempt", "<u8")))
"""Results for an input: those of one attempt, which wrote a file of its own."""


@dataclass(frozen=True, slots=True)
class SignedPart:
    """Signed documents of one input, in a file."""

    path: Path
    n_bits: int
    fingerprint: str

    @property
    def schema(self) -> pa.Schema:
        """Columns of the documents, and their signatures."""
        return FACTS.append(pa.field("signature", pa.binary(self.n_bits // 8))).append(
            pa.field("has_features", pa.bool_())
        )

    def write(self, batches: Iterator[SignedBatch]) -> int:
        """Write batches, completely or not at all; return their number of documents."""
        n_documents = 0
        with batch_writer(self.path, self.schema) as writer:
            for documents, signed in batches:
                packed = pa.py_buffer(np.ascontiguousarray(signed.packed))
                column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(self.n_bits // 8), len(signed), [None, packed])
                columns = [*documents.columns, column, pa.array(signed.has_features)]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self.schema))
                n_documents += documents.num_rows
        return n_documents

    def read(self) -> Iterator[SignedBatch]:
        """Yield the batches, mapped into memory: pages of a deleted file remain while they are used."""
        part = batch_reader(self.path)
        for i in range(part.num_record_batches):
            batch = part.get_batch(i)
            packed = np.frombuffer(batch["signature"].buffers()[1], np.uint8, batch.num_rows * self.n_bits // 8)
            has_features = batch["has_features"].to_numpy(zero_copy_only=False)
            signed = BitSignatures(packed.reshape(batch.num_rows, -1), has_features, self.fingerprint)
            yield batch.select(FACTS.names), signed


@dataclass(frozen=True, slots=True)
class SignInputTask:
    """Sign one input."""

    folder: Path
    options: SigningOptions
    rules: ReadingRules
    fingerprint: str
    statistics: Path | None

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        notes = Notes()
        method = self.options.signer(None if self.statistics is None else _loaded(self.statistics))
        with reading_texts(task_input(blocks), self.rules) as texts:
            batches = signed_batches(texts, self.options, method, threads=1, progress=notes)
            attempt = secrets.randbits(64)
            n_documents = self.part(target, attempt).write(batches)
        counts = np.array([n_documents]), np.array([texts.id_kind])
        yield from SIGNED.packed(target, *counts, np.array([attempt], np.uint64))
        yield from notes.blocks(target, target=target)
        yield from exception_blocks(texts, target)

    def part(self, target: int, attempt: int) -> SignedPart:
        """Return the part of an input; attempts may have read different versions of it."""
        place = PartFiles(self.folder).place(target, f"-{attempt:016x}.arrow")
        return SignedPart(place, self.options.bits, self.fingerprint)


@lru_cache(maxsize=1)
def _loaded(path: Path) -> Statistics:
    """Load statistics once for all tasks of a process: the folder is unique per run."""
    return Statistics.load(path)


def sign_all(
    stages: Stages, tasks: Sequence[Block], signing: SignInputTask, texts: Texts, progress: Progress
) -> list[SignedBatch]:
    """Sign all inputs; return their batches in reading order."""
    signing.folder.mkdir()
    told = read_by_tasks(stages, "sign", tasks, signing, progress)
    take_exceptions(told, texts)
    n_told, kinds, attempts = SIGNED.of_targets([block for block in told if block.stream == SIGNED.stream], len(tasks))
    texts.id_kind = IdKind.joint(kinds)
    batches: list[SignedBatch] = []
    for task, (n, attempt) in enumerate(zip(n_told.tolist(), attempts.tolist(), strict=True)):
        part = signing.part(task, attempt)
        try:
            found = list(part.read())
        except (OSError, pa.ArrowInvalid, RunError) as error:
            raise EngineError(f"{part.path}, written by a worker, cannot be read here: {error}.") from error
        if sum(documents.num_rows for documents, _ in found) != n:
            raise EngineError(f"A worker wrote {counted(n, 'document')} to {part.path}, but fewer can be read here.")
        batches += found
    return batches
