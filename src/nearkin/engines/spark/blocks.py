"""Blocks that lie distributed: mapped, exchanged, kept.

What travels is a data frame of (stream, target, data). Tasks get and give blocks; Spark moves them, and makes them
again where an executor was lost. What a task gives must depend on nothing but what it got.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearkin.engines.spark.layout import MOST_BLOCK_BYTES, Block

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Task = Callable[[int, Sequence[Block]], Iterator[Block]]
"""From a target and all blocks for it to other blocks; an object of a class is told the rest by its fields."""
_COLUMNS = "stream string, target int, data binary"
_SCHEMA = pa.schema([("stream", pa.string()), ("target", pa.int32()), ("data", pa.binary())])
_DONE = "_SUCCESS"


@dataclass(frozen=True)
class Blocks:
    """Blocks, somewhere on a cluster.

    Parameters
    ----------
    frame : DataFrame
        Of (stream, target, data).
    """

    frame: DataFrame

    def exchanged(self, n_targets: int, task: Task) -> Blocks:
        """What ``task`` makes of the blocks of each target, which are brought together for it."""
        gathered = self.frame.repartitionById(n_targets, "target")
        return Blocks(gathered.mapInArrow(_gathering(task), _COLUMNS))

    def mapped(self, task: Task) -> Blocks:
        """What ``task`` makes of the blocks of each target, where they are: some of them at a time."""
        return Blocks(self.frame.mapInArrow(_gathering(task), _COLUMNS))

    def of(self, *streams: str) -> Blocks:
        """Only the blocks of some streams."""
        from pyspark.sql import functions

        return Blocks(self.frame.where(functions.col("stream").isin(list(streams))))

    def and_those_of(self, other: Blocks) -> Blocks:
        """Both."""
        return Blocks(self.frame.unionByName(other.frame))

    def is_empty(self) -> bool:
        """Whether there is no block."""
        return bool(self.frame.isEmpty())

    def collected(self) -> list[Block]:
        """All blocks, here: only of what is small."""
        return [Block(row.stream, row.target, bytes(row.data)) for row in self.frame.toLocalIterator()]


@dataclass(frozen=True)
class Stages:
    """The stages of one run, kept in a folder that every executor sees.

    Parameters
    ----------
    spark : SparkSession
    folder : Path
    """

    spark: SparkSession
    folder: Path

    def given(self, blocks: Sequence[Block]) -> Blocks:
        """Blocks that the driver has."""
        table = pa.Table.from_batches([_batch(blocks)] if blocks else [], _SCHEMA)
        return Blocks(self.spark.createDataFrame(table))

    def parts(self, n: int, task: Task) -> Blocks:
        """What ``task`` makes of each number below ``n``, for which there are no blocks yet."""
        numbers = self.spark.range(0, n, 1, max(n, 1))
        frame = numbers.selectExpr("'part' AS stream", "CAST(id AS INT) AS target", "CAST('' AS BINARY) AS data")
        return Blocks(frame.mapInArrow(_gathering(task), _COLUMNS))

    def is_kept(self, name: str) -> bool:
        """Whether a stage was finished, by this run or by one that was interrupted."""
        return (self.folder / name / _DONE).exists()

    def kept(self, name: str, make: Callable[[], Blocks]) -> Blocks:
        """The blocks of a stage; those that an interrupted run kept are not made again."""
        place = f"file://{(self.folder / name).resolve()}"
        if not self.is_kept(name):
            (
                make()
                .frame.write.mode("overwrite")
                .option("compression", "none")
                .option("parquet.enable.dictionary", "false")
                .parquet(place)
            )
        return Blocks(self.spark.read.schema(_COLUMNS).parquet(place))


def _gathering(task: Task) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function of Arrow batches that gives all blocks of a partition, which has one target, to ``task``."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        by_target: dict[int, list[Block]] = {}
        for batch in batches:
            streams, targets, data = batch["stream"].to_pylist(), batch["target"].to_pylist(), batch["data"]
            for i, (stream, target) in enumerate(zip(streams, targets, strict=True)):
                by_target.setdefault(target, []).append(Block(stream, target, data[i].as_buffer()))
        for target, blocks in by_target.items():
            yield from _batches(task(target, blocks))

    return run


def _batches(blocks: Iterable[Block]) -> Iterator[pa.RecordBatch]:
    """Blocks as Arrow batches of a bounded size."""
    held: list[Block] = []
    n_bytes = 0
    for block in blocks:
        held.append(block)
        n_bytes += len(block.data)
        if n_bytes >= MOST_BLOCK_BYTES:
            yield _batch(held)
            held, n_bytes = [], 0
    if held:
        yield _batch(held)


def _batch(held: Sequence[Block]) -> pa.RecordBatch:
    offsets = np.zeros(len(held) + 1, np.int32)
    np.cumsum([len(block.data) for block in held], out=offsets[1:])
    joined = pa.py_buffer(b"".join(block.data for block in held))
    data = pa.BinaryArray.from_buffers(pa.binary(), len(held), [None, pa.py_buffer(offsets), joined])
    streams, targets = pa.array([block.stream for block in held]), pa.array([b.target for b in held], pa.int32())
    return pa.RecordBatch.from_arrays([streams, targets, data], schema=_SCHEMA)
