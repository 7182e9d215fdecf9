"""Inputs → statistics of all: one task counts each input, and equal features meet to be added up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.engines.spark.layout import Block, Column, Layout
from nearkin.engines.spark.stages import Stages
from nearkin.records import U64
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Progress
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.signatures.statistics import GrowingStatistics, Statistics
from nearkin.workflows.reading.on_spark.attempts import (
    TaskAttempt,
    attempt_blocks,
    attempts_among,
    refuse_other_attempts,
)
from nearkin.workflows.reading.on_spark.notes import Notes, passed_on, read_by_tasks
from nearkin.workflows.reading.on_spark.tasks import reading_texts, task_input
from nearkin.workflows.signing.counting import count_all_texts
from nearkin.workflows.signing.options import SigningOptions

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
    """Count the features of all documents, of about ``size_bytes``; the sums do not depend on the tasks."""
    n_ranges = 1 + size_bytes // _BYTES_A_TASK
    found = read_by_tasks(
        stages,
        "count",
        lambda: (
            stages.given(tasks)
            .shuffled(len(tasks), CountFeaturesTask(options, rules, n_ranges))
            .shuffled(n_ranges, AddCountsTask(options.counts_fingerprint))
        ),
        progress,
        lambda blocks, driver: refuse_other_attempts(blocks, tasks, driver),
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
        given = task_input(blocks)
        with reading_texts(given, self.rules, notes) as texts:
            found, _ = count_all_texts(texts, features, normalise, threads=1, meter=Meter(notes))
        yield from FEATURES.scattered(self._range(found.hashes), found.hashes, found.occurrences, found.documents)
        yield from COUNTED.packed(0, np.array([found.n_documents]))
        yield from notes.blocks(target, target=0)
        if (attempt := TaskAttempt.of(target, given, notes)) is not None:
            for each in range(self.n_ranges):
                yield from attempt_blocks([attempt], each)

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
        yield from attempt_blocks(attempts_among(blocks), target)
