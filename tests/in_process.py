"""A cluster of one process: blocks are exchanged in memory, so that many cases of a job on a cluster run quickly.

What Spark does is here as plain as can be; tests that need a real cluster start one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, ItemsView, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from nearkin.engines.spark.blocks import RowsReader, RowsTask, Task
from nearkin.engines.spark.layout import Block
from nearkin.runs.progress import Meter, Silent

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


@dataclass
class Held:
    """As `nearkin.engines.spark.blocks.Blocks`; blocks come in another order each time."""

    blocks: list[Block]
    sent: Counter[str]

    def shuffled(self, n_targets: int, task: Task) -> Held:
        return self._with([made for target, some in self._by_target(n_targets) for made in task(target, some)])

    def gathered(self, n_targets: int, task: RowsTask, schema: object) -> pa.Table:
        return pa.Table.from_batches(
            [batch for target, some in self._by_target(n_targets) for batch in task(target, some)]
        )

    def _by_target(self, n_targets: int) -> ItemsView[int, list[Block]]:
        by_target: dict[int, list[Block]] = {}
        for block in random.sample(self.blocks, len(self.blocks)):
            assert 0 <= block.target < n_targets
            by_target.setdefault(block.target, []).append(_sent(block))
            self.sent[block.stream] += len(block.data)
        return by_target.items()

    def mapped(self, task: Task, n_tasks: int = 0) -> Held:
        return self._with([made for block in self.blocks for made in task(block.target, [block])])

    def of(self, *streams: str) -> Held:
        return self._with([block for block in self.blocks if block.stream in streams])

    def and_those_of(self, other: Held) -> Held:
        return self._with(self.blocks + other.blocks)

    def _with(self, blocks: list[Block]) -> Held:
        return Held(blocks, self.sent)

    def collected(self) -> list[Block]:
        return self.blocks


@dataclass(frozen=True)
class Frame:
    """As a data frame of Spark."""

    partitions: Sequence[pa.RecordBatch]

    @property
    def columns(self) -> list[str]:
        return list(self.partitions[0].schema.names)

    @property
    def schema(self) -> StructType:
        from pyspark.sql.pandas.types import from_arrow_schema

        return from_arrow_schema(self.partitions[0].schema)


@dataclass
class InProcess:
    """As `nearkin.engines.spark.stages.Stages`; ``stages`` tells which were made, ``sent`` the bytes of each stream."""

    stages: dict[str, Held] = field(default_factory=dict)
    n_at_a_time: int = 2
    sent: Counter[str] = field(default_factory=Counter)
    folder: Path = Path("no stage is in a file")
    meter: Meter = field(default_factory=lambda: Meter(Silent()))

    def given(self, blocks: Sequence[Block]) -> Held:
        return Held(list(blocks), self.sent)

    def parts(self, n: int, task: Task) -> Held:
        made = [made for number in range(n) for made in task(number, [Block("part", number, b"")])]
        return Held(made, self.sent)

    def read(self, frame: Frame, reader: RowsReader, columns: Sequence[str] = ()) -> Held:
        """Attempts at the tasks have numbers of their own, as on a cluster."""
        made: list[Block] = []
        for part, rows in enumerate(frame.partitions):
            if rows.num_rows:
                made += reader(part, 10 + part, iter([rows.select(list(columns or frame.columns))]))
        return Held(made, self.sent)

    def table(self, path: Path, names: Sequence[str]) -> pa.Table:
        return pq.read_table(path, columns=list(names))

    def is_kept(self, name: str) -> bool:
        return name in self.stages

    def kept(self, name: str, make: Callable[[], Held]) -> Held:
        if name not in self.stages:
            self.stages[name] = make()
        return self.stages[name]

    def forget(self, name: str) -> None:
        self.stages.pop(name, None)


def _sent(block: Block) -> Block:
    """As it comes out of Arrow: bytes that cannot be written to."""
    return Block(block.stream, block.target, bytes(block.data))
