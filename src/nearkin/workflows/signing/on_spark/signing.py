"""Inputs → parts of the file of signatures: each input is signed by one task, which writes its part beside the others.

A part is an Arrow file in the folder of work: the batches that one machine would have had, with their signatures.
"""

from __future__ import annotations

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
from nearkin.runs.progress import Progress
from nearkin.stages.documents.ids import IdKind
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.signatures.statistics import Statistics
from nearkin.workflows.reading.on_spark.notes import Notes, tell
from nearkin.workflows.reading.on_spark.tasks import task_input, texts_of
from nearkin.workflows.signing.batches import DOCUMENTS, SignedBatch, signed_batches
from nearkin.workflows.signing.options import SigningOptions

SIGNED = Layout("signed", (("n_documents", "<i8"), ("id_kind", "|u1")))
"""Of an input."""


@dataclass(frozen=True, slots=True)
class SignedPart:
    """Signed documents of one input, in a file.

    Parameters
    ----------
    path : Path
    n_bits : int
        Of a signature.
    fingerprint : str
        Of the method.
    """

    path: Path
    n_bits: int
    fingerprint: str

    @property
    def schema(self) -> pa.Schema:
        """What is kept of the documents, and their signatures."""
        return DOCUMENTS.append(pa.field("signature", pa.binary(self.n_bits // 8))).append(
            pa.field("has_features", pa.bool_())
        )

    def write(self, batches: Iterator[SignedBatch]) -> int:
        """Write batches, whole or not at all; how many documents they have."""
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
        """The batches, mapped into memory: the file may go, its pages stay as long as they are used."""
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
        Of the parts; every executor sees it.
    options : SigningOptions
    rules : ReadingRules
    fingerprint : str
        Of the method.
    statistics : Path or None
        A file of them, where the method needs some.
    """

    folder: Path
    options: SigningOptions
    rules: ReadingRules
    fingerprint: str
    statistics: Path | None

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        notes = Notes()
        texts = texts_of(task_input(blocks), self.rules)
        method = self.options.signer(None if self.statistics is None else _loaded(self.statistics))
        n_documents = self.part(target).write(signed_batches(texts, self.options, method, threads=1, progress=notes))
        yield from SIGNED.packed(target, np.array([n_documents]), np.array([texts.id_kind]))
        yield from notes.blocks(target, target=target)

    def part(self, target: int) -> SignedPart:
        """Where the documents of an input come."""
        return SignedPart(self.folder / f"{target:09d}.arrow", self.options.bits, self.fingerprint)


@lru_cache(maxsize=1)
def _loaded(path: Path) -> Statistics:
    """Once for all tasks of a process: a run has a folder of its own, so that a path names one content."""
    return Statistics.load(path)


def sign_all(
    stages: Stages, tasks: Sequence[Block], signing: SignInputTask, progress: Progress
) -> tuple[list[SignedBatch], IdKind]:
    """Sign all inputs: their batches in reading order, and what their ids are."""
    signing.folder.mkdir()
    told = stages.kept("sign", lambda: stages.given(tasks).shuffled(len(tasks), signing)).collected()
    tell(told, progress)
    n_told, kinds = SIGNED.of_targets([block for block in told if block.stream == SIGNED.stream], len(tasks))
    batches: list[SignedBatch] = []
    for task, n in enumerate(n_told.tolist()):
        part = signing.part(task)
        try:
            found = list(part.read())
        except (OSError, pa.ArrowInvalid, RunError) as error:
            raise EngineError(f"What a worker wrote to {part.path} cannot be read here: {error}.") from error
        if sum(documents.num_rows for documents, _ in found) != n:
            raise EngineError(f"A worker wrote {counted(n, 'document')} to {part.path}, and fewer can be read here.")
        batches += found
    return batches, IdKind.joint(kinds)
