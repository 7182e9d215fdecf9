"""Partitions of the documents: groups of spool files, one per task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.layout import Block
from nearkin.errors import RunError
from nearkin.records import I64, U32
from nearkin.runs.checkpoint import kept_arrays
from nearkin.runs.spool import SPOOL, Chunk, Spool
from nearkin.workflows.dedup.corpus import check_not_too_many
from nearkin.workflows.dedup.on_spark.streams import CHUNKS

MAX_PARTITION_BYTES, MIN_PARTITION_BYTES = 192 << 20, 16 << 20
"""Sizes of a partition: large, since a task costs some 0.1 s; small enough to hold the sets of its texts in memory."""
_PARTITIONS_PER_CORE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitions:
    """Consecutive files of the spool, grouped into partitions.

    Parameters
    ----------
    spool : Spool
    parts, numbers : uint32 arrays, shape (n_chunks,)
        Number of each chunk's file in the spool.
    starts : int64 array, shape (n_chunks + 1,)
        First row of each chunk.
    first_chunk : int64 array, shape (n_partitions + 1,)
    n_inputs : int
        Rows below this are documents to clean.
    """

    spool: Spool
    parts: U32
    numbers: U32
    starts: I64
    first_chunk: I64
    n_inputs: int

    @classmethod
    def of(cls, work: Path, blocks: Sequence[Block], n_input_parts: int, n_at_a_time: int) -> Partitions:
        """Make the partitions from the results of reading; the first ``n_input_parts`` inputs are to be cleaned.

        There are enough partitions for the number of tasks at a time, if there are as many documents. No result
        depends on it, but files kept in ``work`` do: a resumed run there uses the original partitions.

        Raises
        ------
        SourceError
            There are more documents than rows can number.
        RunError
            The kept partitions are of other files.
        """
        parts, numbers, n_documents, n_bytes = CHUNKS.joined(blocks)
        check_not_too_many(int(n_documents.sum()))
        order = np.lexsort((numbers, parts))
        starts = np.concatenate([[0], np.cumsum(n_documents[order])]).astype(np.int64)
        of_partition = (np.cumsum(n_bytes[order]) - n_bytes[order]) // partition_bytes_of(
            int(n_bytes.sum()), n_at_a_time
        )
        is_new = (
            np.concatenate([[True], of_partition[1:] != of_partition[:-1]]) if len(order) else np.zeros(0, np.bool_)
        )
        n_inputs = int(n_documents[parts < n_input_parts].sum())
        cut = np.append(np.flatnonzero(is_new), len(order)).astype(np.int64)
        first_chunk = kept_arrays(work / "partitions.npz", lambda: {"first_chunk": cut})["first_chunk"]
        if first_chunk[-1] != len(order):
            raise RunError(
                f"{work} is damaged: its partitions belong to other files. Run the command again, without --resume."
            )
        return cls(
            spool=Spool(work / SPOOL),
            parts=parts[order],
            numbers=numbers[order],
            starts=starts,
            first_chunk=first_chunk,
            n_inputs=n_inputs,
        )

    def __len__(self) -> int:
        return len(self.first_chunk) - 1

    @property
    def n_documents(self) -> int:
        """Return the number of all documents."""
        return int(self.starts[-1])

    def at(self, rows: U32) -> I64:
        """Return the partition of each row."""
        bounds = self.starts[self.first_chunk[1:]]
        return np.searchsorted(bounds, rows, side="right")

    def start(self, partition: int) -> int:
        """Return the first row of a partition."""
        return int(self.starts[self.first_chunk[partition]])

    def chunks(self, partition: int | None = None) -> tuple[Chunk, ...]:
        """Return the files of a partition, or all files."""
        if partition is None:
            return self.chunks_between(0, len(self.parts))
        return self.chunks_between(*self.first_chunk[partition : partition + 2].tolist())

    def chunks_between(self, first: int, after: int) -> tuple[Chunk, ...]:
        """Return files by their numbers."""
        return tuple(
            Chunk(
                self.spool.place(int(self.parts[i]), int(self.numbers[i])),
                int(self.starts[i]),
                int(self.starts[i + 1] - self.starts[i]),
            )
            for i in range(first, after)
        )


def partition_bytes_of(total_bytes: float, n_at_a_time: int) -> int:
    """Return the size of a partition for the number of tasks that run at a time."""
    return min(max(int(total_bytes) // (_PARTITIONS_PER_CORE * n_at_a_time), MIN_PARTITION_BYTES), MAX_PARTITION_BYTES)


def each_partition(target: int, blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield a block for each partition, so that tasks run also for partitions without other blocks."""
    yield Block("partition", target, b"")
