"""Sentences of ``nearkin plan``: the Spark cluster that a search needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import counted
from nearkin.reports.quantities import size_text
from nearkin.reports.sentences.sentence import Sentence

if TYPE_CHECKING:
    from nearkin.planning.cluster_needs import ClusterNeeds

_HEAP_BYTES = 1 << 30
"""Java heap for each core."""
_CORES = 4
"""Maximum number of cores of an executor: more of them share one Java heap and its disks."""


def shuffled_sentence(n_cores: int) -> Sentence:
    """Introduce the list of shuffled data."""
    return Sentence(": data shuffled, before compression", strong=f"On Spark with {counted(n_cores, 'core')}")


def cluster_sentences(needs: ClusterNeeds, n_cores: int) -> Iterator[Sentence]:
    """Describe the use of memory and disks, and how to set up executors."""
    if needs.pair_bytes:
        yield Sentence(f"Each pair of near-duplicates adds about {size_text(needs.pair_bytes)}.")
    cores = min(n_cores, _CORES)
    python, java = (-(-cores * n_bytes // (1 << 30)) for n_bytes in (needs.core_bytes, _HEAP_BYTES))
    yield Sentence(
        f"Up to {counted(needs.n_tasks, 'task')} per stage. Memory per core: {size_text(needs.core_bytes)} for Python "
        f"and {size_text(_HEAP_BYTES)} for Java; for Python on the driver: {size_text(needs.driver_bytes)}."
    )
    yield Sentence(
        f"With {counted(cores, 'core')} per executor: --conf spark.executor.cores={cores} --conf "
        f"spark.executor.memory={java}g --conf spark.executor.memoryOverhead={python}g"
    )
    yield Sentence(
        f"Disk: {size_text(needs.folder_bytes)} in the shared folder, and {size_text(needs.shuffled_bytes)} in "
        "spark.local.dir over all machines."
    )
