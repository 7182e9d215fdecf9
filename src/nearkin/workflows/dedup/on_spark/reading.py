"""Inputs → spool: each input is read by one task."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.errors import EngineError
from nearkin.nouns import counted
from nearkin.runs.attempt_folders import published_together, remove_unpublished
from nearkin.runs.batches import mapped_batch
from nearkin.runs.files import make_work_folder
from nearkin.runs.progress import Progress
from nearkin.runs.spool import Spool
from nearkin.stages.documents.rules import ReadingRules
from nearkin.workflows.dedup.on_spark.streams import CHUNKS, INPUTS
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.reading import read_one
from nearkin.workflows.reading.inputs import LooseFilesInput
from nearkin.workflows.reading.on_spark.notes import Notes, read_by_tasks
from nearkin.workflows.reading.on_spark.task_input import TaskInput


def read_all(
    stages: Stages,
    inputs: Sequence[TaskInput],
    spool: Spool,
    options: DedupOptions,
    *,
    rules: ReadingRules,
    progress: Progress,
) -> list[Block]:
    """Read every input into the spool; the streams are `CHUNKS` and `INPUTS`."""
    make_work_folder(spool.path)
    first_sources = np.cumsum([0, *(len(one.sources) for one in inputs)]).tolist()
    tasks = [Block("input", i, pickle.dumps((first_sources[i], one))) for i, one in enumerate(inputs)]
    reading = ReadInputTask(Spool(spool.path.absolute()), options, rules)
    try:
        return read_by_tasks(
            stages, "read", lambda: stages.given(tasks).shuffled(max(len(tasks), 1), reading), progress
        )
    finally:
        remove_unpublished(spool.path)


@dataclass(frozen=True, slots=True)
class ReadInputTask:
    """Read one input into the spool."""

    spool: Spool
    options: DedupOptions
    rules: ReadingRules

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        first_source, given = pickle.loads(blocks[0].data)  # noqa: S301 (from the driver, through Spark, as tasks are)
        notes = Notes()
        with contextlib.ExitStack() as stack, given.reading(notes) as one:
            self.spool.keep_only_from(target, given.versions(notes))
            # batches of files of one document are of the right bytes; others only if the whole file was
            is_checked = isinstance(one, LooseFilesInput) or self.spool.mark(target).exists()
            spool = self.spool
            if not is_checked:
                spool = Spool(stack.enter_context(published_together(self.spool.path, str(target))))
            read = read_one(target, first_source, one, spool, self.options, rules=self.rules, threads=1, progress=notes)
        paths = sorted(self.spool.path.glob(f"{target:09d}-*.arrow"))
        numbers, n_documents, n_bytes = [], [], []
        for path in paths:
            n_documents.append(mapped_batch(path).num_rows)
            numbers.append(int(path.stem.partition("-")[2]))
            n_bytes.append(path.stat().st_size)
        if sum(n_documents) != read.n_documents or numbers != list(range(len(numbers))):
            raise EngineError(
                f"{self.spool.path} shows {counted(sum(n_documents), 'document')}, and {read.n_documents:,} were "
                "written: files are missing, or this worker does not see them yet. Run the same command with "
                "--resume to continue; if files are missing, with --overwrite."
            )
        yield from notes.blocks(target, target=target)
        yield from INPUTS.packed(target, np.array([read.id_kind]))
        yield from CHUNKS.packed(
            target, np.full(len(paths), target), np.array(numbers), np.array(n_documents), np.array(n_bytes)
        )
