"""Stages of a run on a cluster: each is kept when complete, so that a run that lost its driver can be resumed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, cast

import pyarrow as pa

from nearkin.engines.spark.blocks import COLUMNS, SCHEMA, Blocks, Kept, RowsReader, Task, as_batch, batches_of
from nearkin.engines.spark.failures import engine_errors
from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.requirements import Voice, check_executors
from nearkin.engines.spark.session import Cluster, session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

_DONE = "_SUCCESS"
_FOLDER = "stages"
_AT_A_TIME = "at-a-time.txt"
_LOOK_S = 0.5
_AS_PARQUET = {
    # numbers do not compress, and trying takes longer than writing
    "compression": "none",
    "parquet.enable.dictionary": "false",
    # Java holds a group of rows while writing, and up to 4,096 of them, a gigabyte of our blocks, while reading
    "parquet.block.size": str(8 << 20),
    "parquet.page.size.row.check.min": "8",
}


class TaskProgress(Voice, Protocol):
    """Receiver of finished units of a stage; see `nearkin.runs.progress`."""

    def advance(self, n: int) -> None:
        """Add ``n`` finished units."""


class StageMeter(Protocol):
    """Meter of stages; see `nearkin.runs.progress`."""

    @property
    def progress(self) -> Voice:
        """Receiver of messages to the user."""

    def stage(
        self, name: str, total: int, unit: Literal["bytes", "steps", "tasks"]
    ) -> contextlib.AbstractContextManager[TaskProgress]:
        """Measure the block."""


@contextlib.contextmanager
def stages_on(cluster: Cluster, work: Path, meter: StageMeter) -> Iterator[Stages]:
    """Open the stages on a cluster, after a check that its executors can do the work."""
    with contextlib.ExitStack() as stack:
        with meter.stage("start", 0, "steps"):
            spark = stack.enter_context(session(cluster, meter.progress))
        with meter.stage("executors", 0, "steps"):
            check_executors(spark, work, meter.progress)
        yield Stages(spark, work / _FOLDER, meter)


@dataclass(frozen=True)
class Stages:
    """Stages of a run, kept in a directory that every executor sees."""

    spark: SparkSession
    folder: Path
    meter: StageMeter

    @property
    def about(self) -> dict[str, object]:
        """Details of the cluster for a manifest."""
        return {"name": "spark", "version": self.spark.version, "master": self.spark.conf.get("spark.master", None)}

    @property
    def n_at_a_time(self) -> int:
        """Approximate number of tasks that run at a time; a server of Spark Connect does not say.

        Kept data is partitioned by it, so a resumed run uses the number of the original run.
        """
        place = self.folder / _AT_A_TIME
        if not place.exists():
            context = getattr(self.spark, "_sc", None)
            n = 8 if context is None else max(1, int(context.defaultParallelism))
            self.folder.mkdir(parents=True, exist_ok=True)
            aside = place.with_suffix(".part")
            aside.write_text(str(n), "ascii")
            aside.replace(place)
        return int(place.read_text("ascii"))

    def given(self, blocks: Sequence[Block]) -> Blocks:
        """Return blocks that are on the driver as distributed blocks."""
        table = pa.Table.from_batches(list(batches_of(blocks)), SCHEMA)
        with engine_errors():
            return Blocks(self.spark.createDataFrame(table))

    def parts(self, n: int, task: Task) -> Blocks:
        """Apply ``task`` to each number below ``n``, without blocks as input."""
        with engine_errors():
            numbers = self.spark.range(0, n, 1, max(n, 1))
            frame = numbers.selectExpr("'part' AS stream", "CAST(id AS INT) AS target", "CAST('' AS BINARY) AS data")
            return Blocks(frame).mapped(task, n)

    def read(self, frame: DataFrame, reader: RowsReader, columns: Sequence[str] = ()) -> Blocks:
        """Apply ``reader`` to each partition of a data frame that has rows; it needs all or some ``columns``."""
        names = frame.columns
        needed = [names.index(name) for name in columns] or list(range(len(names)))

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            from pyspark import TaskContext

            # Spark may compute the column spark_partition_id() before rows are in their partitions
            context = cast("TaskContext", TaskContext.get())
            rows = (batch.rename_columns([names[i] for i in needed]) for batch in batches if batch.num_rows)
            first = next(rows, None)
            if first is not None:
                for block in reader(context.partitionId(), context.taskAttemptId(), chain([first], rows)):
                    yield as_batch([block])

        with engine_errors():
            # mapInArrow treats a column a.b as a field of a, and refuses equal names
            numbered = frame.toDF(*map(str, range(len(names)))).select(*map(str, needed))
            return Blocks(numbered.mapInArrow(run, COLUMNS))

    def table(self, path: Path, names: Sequence[str]) -> DataFrame:
        """Return some columns of a Parquet file that every executor sees."""
        with engine_errors():
            return parquet_reader(self.spark).parquet(f"file://{path.absolute()}").select(*names)

    def is_kept(self, name: str) -> bool:
        """Whether a stage was finished, by this run or by an interrupted one."""
        return (self.folder / name / _DONE).exists()

    def forget(self, name: str) -> None:
        """Let a resumed run compute a stage again: the driver refused its results."""
        (self.folder / name / _DONE).unlink(missing_ok=True)

    def kept(self, name: str, make: Callable[[], Blocks]) -> Blocks:
        """Return the blocks of a stage; those kept by an interrupted run are not computed again."""
        place = f"file://{(self.folder / name).absolute()}"
        with engine_errors():
            if not self.is_kept(name):
                made = make()
                with self.meter.stage(name, made.n_tasks, "tasks") as progress, _watched(self.spark, progress):
                    made.frame.write.mode("overwrite").options(**_AS_PARQUET).parquet(place)
            read = parquet_reader(self.spark).schema(COLUMNS).parquet(place)
            return Blocks(read, kept=(Kept(self.folder / name),))


def parquet_reader(spark: SparkSession) -> DataFrameReader:
    """Return a reader that takes "*" and "[" in paths literally, and verifies the checksum of each page."""
    return spark.read.option("__globPaths__", "false").option("parquet.page.verify-checksum.enabled", "true")


@contextlib.contextmanager
def _watched(spark: SparkSession, progress: TaskProgress) -> Iterator[None]:
    context = getattr(spark, "_sc", None)
    if context is None:
        yield
        return
    tracker = context.statusTracker()
    before = set(tracker.getJobIdsForGroup(None))
    is_over = threading.Event()

    def watch() -> None:
        n_told = 0
        while not is_over.wait(_LOOK_S):
            with contextlib.suppress(Exception):  # the context may end meanwhile; this thread only watches
                jobs = [tracker.getJobInfo(job_id) for job_id in set(tracker.getJobIdsForGroup(None)) - before]
                stages = {stage for job in jobs if job is not None for stage in job.stageIds}
                infos = [tracker.getStageInfo(stage) for stage in stages]
                n_done = sum(info.numCompletedTasks for info in infos if info is not None)
                progress.advance(max(0, n_done - n_told))
                n_told = max(n_told, n_done)

    watcher = threading.Thread(target=watch, name="nearkin-watches-tasks", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()
