"""Distributed blocks: mapped, shuffled, kept.

The output of a task must depend only on its input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.engines.spark.failures import engine_errors
from nearkin.engines.spark.layout import Block
from nearkin.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Task = Callable[[int, Sequence[Block]], Iterator[Block]]
"""Makes blocks from a target and all of its blocks; a task with parameters is an object with fields."""
RowsTask = Callable[[int, Sequence[Block]], Iterator[pa.RecordBatch]]
"""Makes rows of a data frame instead."""
RowsReader = Callable[[int, int, Iterator[pa.RecordBatch]], Iterator[Block]]
"""Makes blocks from the number of a partition of a data frame, that of this attempt at the task, and the rows.

Rows may have another order each time: the files of a lost executor, or of a second copy of the task, must not be mixed
with those of the attempt that counts.
"""
COLUMNS = "stream string, target int, data binary"
_BATCH_BYTES = 4 << 20
SCHEMA = pa.schema([("stream", pa.string()), ("target", pa.int32()), ("data", pa.binary())])


@dataclass(frozen=True, slots=True)
class Kept:
    """Blocks in the Parquet files of a directory."""

    folder: Path
    streams: tuple[str, ...] | None = None

    def read(self) -> pa.Table:
        """Read a table with `SCHEMA`."""
        return self._files().to_table(filter=self._wanted())

    def _files(self) -> Any:
        # it loads pandas, if that is installed
        from pyarrow.dataset import ParquetFileFormat, ParquetFragmentScanOptions, dataset

        verified = ParquetFragmentScanOptions(page_checksum_verification=True)  # Spark writes a checksum for each page
        form = ParquetFileFormat(default_fragment_scan_options=verified)
        return dataset(str(self.folder), schema=SCHEMA, format=form)

    def _wanted(self) -> Any:
        return None if self.streams is None else pc.field("stream").isin(list(self.streams))


@dataclass(frozen=True)
class Blocks:
    """Blocks on a cluster."""

    frame: DataFrame
    n_tasks: int = 0
    kept: tuple[Kept, ...] = ()

    def shuffled(self, n_targets: int, task: Task) -> Blocks:
        """Bring the blocks of each target together, and apply ``task`` to them."""
        return Blocks(self.gathered(n_targets, _giving_batches(task), COLUMNS), self.n_tasks + n_targets)

    def gathered(self, n_targets: int, task: RowsTask, schema: Any) -> DataFrame:
        """Return a data frame of the batches that ``task`` makes from the blocks of each target."""
        return self.frame.repartitionById(n_targets, "target").mapInArrow(gathering(task), schema)

    def mapped(self, task: Task, n_tasks: int = 0) -> Blocks:
        """Apply ``task`` to the blocks of each target where they are, some at a time."""
        return Blocks(self.frame.mapInArrow(gathering(_giving_batches(task)), COLUMNS), self.n_tasks + n_tasks)

    def of(self, *streams: str) -> Blocks:
        """Select the blocks of some streams."""
        from pyspark.sql import functions

        kept = tuple(Kept(kept_folder.folder, streams) for kept_folder in self.kept if kept_folder.streams is None)
        return Blocks(
            self.frame.where(functions.col("stream").isin(list(streams))),
            self.n_tasks,
            kept if len(kept) == len(self.kept) else (),
        )

    def and_those_of(self, other: Blocks) -> Blocks:
        """Combine the blocks of both."""
        kept = (*self.kept, *other.kept) if self.kept and other.kept else ()
        return Blocks(self.frame.unionByName(other.frame), self.n_tasks + other.n_tasks, kept)

    def collected(self) -> list[Block]:
        """Return all blocks on the driver: only for small data."""
        try:
            table = self._table()
        except (OSError, pa.ArrowException) as error:
            raise EngineError(
                f"The stored data of a stage cannot be read: {error}. Run the command again with --overwrite."
            ) from error
        names, targets, data = table["stream"].to_pylist(), table["target"].to_pylist(), table["data"]
        return [Block(name, target, data[i].as_buffer()) for i, (name, target) in enumerate(zip(names, targets))]

    def _table(self) -> pa.Table:
        if self.kept:
            return pa.concat_tables([folder.read() for folder in self.kept])
        with engine_errors():
            return self.frame.toArrow()


def gathering(task: RowsTask) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function of Arrow batches that passes all blocks of a partition to ``task``."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        by_target: dict[int, list[Block]] = {}
        for batch in batches:
            streams, targets, data = batch["stream"].to_pylist(), batch["target"].to_pylist(), batch["data"]
            for i, (stream, target) in enumerate(zip(streams, targets, strict=True)):
                by_target.setdefault(target, []).append(Block(stream, target, data[i].as_buffer()))
        for target, blocks in by_target.items():
            yield from task(target, blocks)

    return run


def _giving_batches(task: Task) -> RowsTask:
    return lambda target, blocks: batches_of(task(target, blocks))


def batches_of(blocks: Iterable[Block]) -> Iterator[pa.RecordBatch]:
    """Yield blocks as rows, a few megabytes at a time."""
    held: list[Block] = []
    n_bytes = 0
    for block in blocks:
        held.append(block)
        n_bytes += len(block.data)
        if n_bytes >= _BATCH_BYTES:
            yield as_batch(held)
            held, n_bytes = [], 0
    if held:
        yield as_batch(held)


def as_batch(held: Sequence[Block]) -> pa.RecordBatch:
    """Return blocks as rows."""
    offsets = np.zeros(len(held) + 1, np.int32)
    np.cumsum([len(block.data) for block in held], out=offsets[1:])
    joined = pa.py_buffer(b"".join(block.data for block in held))
    data = pa.BinaryArray.from_buffers(pa.binary(), len(held), [None, pa.py_buffer(offsets), joined])
    streams, targets = pa.array([block.stream for block in held]), pa.array([b.target for b in held], pa.int32())
    return pa.RecordBatch.from_arrays([streams, targets, data], schema=SCHEMA)
