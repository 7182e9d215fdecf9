"""Resources of a search on a cluster: data shuffled between its tasks, memory and disk space."""

from __future__ import annotations

from dataclasses import dataclass

PYTHON_BYTES = 350 << 20
"""Memory of the interpreter with numba, Arrow and the kernels."""
DRIVER_BYTES = 60
"""Approximate memory of the driver per document."""


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Data that one stage sends between tasks.

    Parameters
    ----------
    stage : str
        Name of the stage in the run.
    carries : str
        Kind of data.
    size_bytes : int
        Size before Spark compresses it.
    """

    stage: str
    carries: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNeeds:
    """Resources of a search on a cluster.

    Parameters
    ----------
    shuffles : tuple of Shuffle
        In the order of the run.
    n_tasks : int
        Number of tasks of the largest stage.
    core_bytes : int
        Memory of Python for each core of an executor, in addition to Java's heap.
    driver_bytes : int
        Memory of the driver's Python.
    folder_bytes : int
        Space on the disk shared by the driver and all executors.
    pair_bytes : int
        Additional shuffled bytes for each found pair.
    """

    shuffles: tuple[Shuffle, ...]
    n_tasks: int
    core_bytes: int
    driver_bytes: int
    folder_bytes: int
    pair_bytes: int

    @property
    def shuffled_bytes(self) -> int:
        """Bytes shuffled by all stages."""
        return sum(one.size_bytes for one in self.shuffles)
