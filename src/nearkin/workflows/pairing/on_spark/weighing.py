"""Counted words → vectors: tasks weigh documents, and the driver joins the vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.records import TermCounts, WeightedVectors
from nearkin.runs.arrays import mapped_array, save_array, saved_array
from nearkin.runs.checkpoint import load_arrays, save_arrays
from nearkin.runs.part_files import PartFiles
from nearkin.workflows.pairing.collecting import PART, count_places
from nearkin.workflows.pairing.weighing import GrowingVectors, ToWeigh, Weighing

_PARTS_A_TASK = 4


def weigh_all(stages: Stages, sides: Sequence[ToWeigh], *, work: Path, arrays: Path) -> list[WeightedVectors]:
    """Return the vectors of both sides; see `workflows.pairing.weighing.weigh_here`.

    Parameters
    ----------
    stages : Stages
    sides : sequence of ToWeigh
        Sides whose counts are in ``arrays``.
    work, arrays : Path
        Absolute paths of folders that every executor can access: for files of tasks, and for the joined files.
    """
    made = []
    for one in sides:
        files = PartFiles(work / f"{one.side}-weighed")
        files.folder.mkdir(exist_ok=True)
        _give(arrays, one)
        n_documents = _PARTS_A_TASK * PART
        n_tasks = max(1, -(-len(one.collected) // n_documents))
        task = WeighPartTask(arrays, one.side, files, n_documents)
        stages.kept(f"weigh-{one.side}", lambda n=n_tasks, task=task: stages.parts(n, task))  # type: ignore[misc]
        growing = GrowingVectors(arrays, one.side)
        for number in range(n_tasks):
            growing.add(_load(files, number))
        made.append(growing.mapped())
    return made


def _give(arrays: Path, one: ToWeigh) -> None:
    """Write the other data that tasks need beside the counts."""
    save_array(_offsets(arrays, one.side), one.collected.counts.offsets)
    save_arrays(_weighing(arrays, one.side), one.weighing.as_arrays())


def _offsets(arrays: Path, side: str) -> Path:
    return arrays / f"{side}-offsets.npy"


def _weighing(arrays: Path, side: str) -> Path:
    return arrays / f"{side}-weighing.npz"


def _load(files: PartFiles, task: int) -> WeightedVectors:
    """Return the vectors of a task, mapped into memory."""
    terms, weights, sizes = (files.array(task, name) for name in ("-terms.npy", "-weights.npy", "-sizes.npy"))
    return WeightedVectors(terms, weights, np.concatenate([[0], np.cumsum(sizes)]))


@dataclass(frozen=True, slots=True)
class WeighPartTask:
    """Weigh some documents, and write their vectors; nothing is sent.

    Parameters
    ----------
    arrays : Path
        Folder of the counts.
    side : {"left", "right"}
    files : PartFiles
        Files of the vectors.
    n_documents : int
        Maximum number of documents per task.
    """

    arrays: Path
    side: str
    files: PartFiles
    n_documents: int

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        weighing, counts = self._given()
        first = target * self.n_documents
        end = min(first + self.n_documents, len(counts))
        # in the same parts as on one machine, because sums of floats may depend on them
        parts = [counts.part(start, min(start + PART, end)) for start in range(first, end, PART)]
        weighed = [weighing.weigh(part) for part in parts]
        for name in ("terms", "weights", "sizes"):
            self.files.save(target, f"-{name}.npy", np.concatenate([getattr(one, name) for one in weighed]))
        yield from ()

    def _given(self) -> tuple[Weighing, TermCounts]:
        """Return the data that `_give` wrote, and the counts, which are mapped into memory."""
        weighing = Weighing.of_arrays(load_arrays(_weighing(self.arrays, self.side)))
        terms, counts = (
            mapped_array(place, kind)
            for place, kind in zip(count_places(self.arrays, self.side), (np.int32, np.float32), strict=True)
        )
        return weighing, TermCounts(terms, counts, saved_array(_offsets(self.arrays, self.side)))  # type: ignore[arg-type]
