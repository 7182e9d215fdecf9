"""Inputs → parts of the file of signatures: one task signs each input and writes its part.

A part is an Arrow file in the work folder, with the same batches as on one machine, and their signatures.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.engines.spark.layout import Block, Layout
from nearkin.engines.spark.stages import Stages
from nearkin.errors import EngineError, RunError
from nearkin.nouns import counted
from nearkin.records import BitSignatures
from nearkin.runs.batches import batch_reader, batch_writer
from nearkin.runs.part_files import PartFiles
from nearkin.runs.progress import Progress
from nearkin.stages.documents.ids import IdKind
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.signatures.statistics import Statistics
from nearkin.workflows.reading.on_spark.notes import Notes, exception_blocks, read_by_tasks, take_exceptions
from nearkin.workflows.reading.on_spark.tasks import reading_texts, split, task_input
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.signing.batches import DOCUMENTS, SignedBatch, signed_batches
from nearkin.workflows.signing.options import SigningOptions

SIGNED = Layout("signed", (("n_documents", "<i8"), ("id_kind", "|u1"), ("attempt", "<u8")))
"""Results for an input: those of one attempt, which wrote a file of its own."""


@dataclass(frozen=True, slots=True)
class SignedPart:
    """Signed documents of one input, in a file.

    Parameters
    ----------
    path : Path
    n_bits : int
        Length of a signature.
    fingerprint : str
        Fingerprint of the method.
    """

    path: Path
    n_bits: int
    fingerprint: str

    @property
    def schema(self) -> pa.Schema:
        """Columns of the documents, and their signatures."""
        return DOCUMENTS.append(pa.field("signature", pa.binary(self.n_bits // 8))).append(
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
        """Yield the batches, mapped into memory: if the file is deleted, its pages remain while they are used."""
        part = batch_reader(self.path)
        for i in range(part.num_record_batches):
            batch = part.get_batch(i)
            packed = np.frombuffer(batch["signature"].buffers()[1], np.uint8, batch.num_rows * self.n_bits // 8)
            has_features = batch["has_features"].to_numpy(zero_copy_only=False)
            signed = BitSignatures(packed.reshape(batch.num_rows, -1), has_features, self.fingerprint)
            yield batch.select(DOCUMENTS.names), signed


@dataclass(frozen=True, slots=True)
class SignInputTask:
    """Sign one input.

    Parameters
    ----------
    folder : Path
        Folder of the parts; every executor can access it.
    options : SigningOptions
    rules : ReadingRules
    fingerprint : str
        Fingerprint of the method.
    statistics : Path or None
        File of statistics, if the method needs them.
    """

    folder: Path
    options: SigningOptions
    rules: ReadingRules
    fingerprint: str
    statistics: Path | None

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        notes = Notes()
        method = self.options.signer(None if self.statistics is None else _loaded(self.statistics))
        with reading_texts(task_input(blocks), self.rules, notes) as texts:
            batches = signed_batches(texts, self.options, method, threads=1, progress=notes)
            attempt = secrets.randbits(64)
            n_documents = self.part(target, attempt).write(batches)
        counts = np.array([n_documents]), np.array([texts.id_kind])
        yield from SIGNED.packed(target, *counts, np.array([attempt], np.uint64))
        yield from notes.blocks(target, target=target)
        yield from exception_blocks(texts, target)

    def part(self, target: int, attempt: int) -> SignedPart:
        """Return the part for the documents of an input; attempts may have read different versions of it."""
        place = PartFiles(self.folder).place(target, f"-{attempt:016x}.arrow")
        return SignedPart(place, self.options.bits, self.fingerprint)


@lru_cache(maxsize=1)
def _loaded(path: Path) -> Statistics:
    """Load statistics once for all tasks of a process: the folder is unique per run, so a path has one content."""
    return Statistics.load(path)


def sign_all(
    stages: Stages, tasks: Sequence[Block], signing: SignInputTask, texts: Texts, progress: Progress
) -> tuple[list[SignedBatch], IdKind]:
    """Sign all inputs; return their batches in reading order, and the kind of their ids; note their exceptions."""
    signing.folder.mkdir()
    told = read_by_tasks(stages, "sign", lambda: stages.given(tasks).shuffled(len(tasks), signing), progress)
    take_exceptions(told, split(texts.inputs), texts)
    n_told, kinds, attempts = SIGNED.of_targets([block for block in told if block.stream == SIGNED.stream], len(tasks))
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
    return batches, IdKind.joint(kinds)
