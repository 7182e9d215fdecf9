"""Counted words → vectors: some documents a task; the driver puts their vectors one behind another."""

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
from nearkin.workflows.pairing.collecting import PART, count_places
from nearkin.workflows.pairing.weighing import GrowingVectors, ToWeigh, Weighing

_PARTS_A_TASK = 4


def weigh_all(stages: Stages, sides: Sequence[ToWeigh], *, work: Path, arrays: Path) -> list[WeightedVectors]:
    """The vectors of both sides; see `workflows.pairing.weighing.weigh_here`.

    Parameters
    ----------
    stages : Stages
    sides : sequence of ToWeigh
        Whose counts stand in ``arrays``.
    work, arrays : Path
        Folders that every executor sees, as absolute paths: of what tasks write, and of what comes of it.
    """
    made = []
    for one in sides:
        files = WeighingFiles(arrays, work / f"{one.side}-weighed", one.side)
        files.folder.mkdir(exist_ok=True)
        files.give(one)
        n_documents = _PARTS_A_TASK * PART
        n_tasks = max(1, -(-len(one.collected) // n_documents))
        task = WeighingSome(files, n_documents)
        stages.kept(f"weigh-{one.side}", lambda n=n_tasks, task=task: stages.parts(n, task))  # type: ignore[misc]
        growing = GrowingVectors(arrays, one.side)
        for number in range(n_tasks):
            growing.add(files.load(number))
        made.append(growing.mapped())
    return made


@dataclass(frozen=True, slots=True)
class WeighingFiles:
    """What tasks need, and what they make of it.

    Parameters
    ----------
    arrays : Path
        Where the counts are.
    folder : Path
        Of the vectors, some files a task.
    side : {"left", "right"}
    """

    arrays: Path
    folder: Path
    side: str

    def give(self, one: ToWeigh) -> None:
        """Put beside the counts what else tasks need."""
        save_array(self._offsets, one.collected.counts.offsets)
        save_arrays(self._weighing, one.weighing.as_arrays())

    def given(self) -> tuple[Weighing, TermCounts]:
        """The same, on any machine; counts are mapped into memory."""
        weighing = Weighing.of_arrays(load_arrays(self._weighing))
        terms, counts = (
            mapped_array(place, kind)
            for place, kind in zip(count_places(self.arrays, self.side), (np.int32, np.float32), strict=True)
        )
        return weighing, TermCounts(terms, counts, saved_array(self._offsets))  # type: ignore[arg-type]

    def save(self, task: int, parts: Sequence[WeightedVectors]) -> None:
        """Write the vectors of a task."""
        arrays = {
            "terms": np.concatenate([part.terms for part in parts]),
            "weights": np.concatenate([part.weights for part in parts]),
            "sizes": np.concatenate([part.sizes for part in parts]),
        }
        for name, array in arrays.items():
            save_array(self._place(task, name), array)

    def load(self, task: int) -> WeightedVectors:
        """The same, mapped into memory."""
        terms, weights, sizes = (saved_array(self._place(task, name)) for name in ("terms", "weights", "sizes"))
        return WeightedVectors(terms, weights, np.concatenate([[0], np.cumsum(sizes)]))

    @property
    def _offsets(self) -> Path:
        return self.arrays / f"{self.side}-offsets.npy"

    @property
    def _weighing(self) -> Path:
        return self.arrays / f"{self.side}-weighing.npz"

    def _place(self, task: int, name: str) -> Path:
        return self.folder / f"{task:09d}-{name}.npy"


@dataclass(frozen=True, slots=True)
class WeighingSome:
    """Weigh some documents, and write their vectors down; nothing is sent.

    Parameters
    ----------
    files : WeighingFiles
    n_documents : int
        Of a task, at most.
    """

    files: WeighingFiles
    n_documents: int

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        weighing, counts = self.files.given()
        first = target * self.n_documents
        end = min(first + self.n_documents, len(counts))
        # in the parts that one machine takes: sums of floats may depend on them
        parts = [counts.part(start, min(start + PART, end)) for start in range(first, end, PART)]
        self.files.save(target, [weighing.weigh(part) for part in parts])
        yield from ()
