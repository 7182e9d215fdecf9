"""What a search takes on a cluster: what passes between its tasks, and what stands in memory and on disks."""

from __future__ import annotations

from dataclasses import dataclass

PYTHON_BYTES = 350 << 20
"""The interpreter with numba, Arrow and the kernels."""
DRIVER_BYTES = 60
"""A document in the memory of the driver, about."""


@dataclass(frozen=True, slots=True)
class Shuffle:
    """What one stage sends from tasks to others.

    Parameters
    ----------
    stage : str
        As the run calls it.
    carries : str
        What is sent.
    size_bytes : int
        Before Spark compresses it.
    """

    stage: str
    carries: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNeeds:
    """What a search takes on a cluster.

    Parameters
    ----------
    shuffles : tuple of Shuffle
        In the order of the run.
    n_tasks : int
        Of the stage that has the most.
    core_bytes : int
        Memory of Python for each core of an executor, beside Java's heap.
    driver_bytes : int
        Memory of the driver's Python.
    folder_bytes : int
        On the disk that the driver and all executors see.
    pair_bytes : int
        What is shuffled beside for each pair that is found.
    """

    shuffles: tuple[Shuffle, ...]
    n_tasks: int
    core_bytes: int
    driver_bytes: int
    folder_bytes: int
    pair_bytes: int

    @property
    def shuffled_bytes(self) -> int:
        """By all stages."""
        return sum(one.size_bytes for one in self.shuffles)
