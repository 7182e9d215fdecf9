"""The partitions of a data frame: a task reads each where it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from nearkin.engines.spark.blocks import COLUMNS, Blocks, as_batch
from nearkin.engines.spark.failures import engine_errors
from nearkin.engines.spark.layout import Block
from nearkin.errors import ParameterError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OR_LEAVE_OUT = "Choose another column, or omit id: rows are numbered then."


def read_partitions(
    frame: DataFrame, read: Callable[[int, Iterator[pa.RecordBatch]], Iterator[Block]], columns: Sequence[str] = ()
) -> Blocks:
    """What ``read`` makes of the number of each partition and its rows; of those without rows it is not asked.

    Parameters
    ----------
    frame : DataFrame
    read : function
    columns : sequence of str
        That it needs; by default all.
    """
    names = frame.columns
    needed = [names.index(name) for name in columns] or list(range(len(names)))

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        # as a column, spark_partition_id(), Spark may compute it where rows are not in their partitions yet
        part = cast("TaskContext", TaskContext.get()).partitionId()
        rows = (batch.rename_columns([names[i] for i in needed]) for batch in batches if batch.num_rows)
        first = next(rows, None)
        if first is not None:
            for block in read(part, chain([first], rows)):
                yield as_batch([block])

    with engine_errors():
        # mapInArrow takes a column named a.b for one inside of a, and no two of one name
        numbered = frame.toDF(*map(str, range(len(names)))).select(*map(str, needed))
        return Blocks(numbered.mapInArrow(run, COLUMNS))


def attempt() -> int:
    """The number of this attempt at a task, which no other attempt at any task has.

    Rows may come in another order each time: what a lost executor, or a second copy of the task, still writes must not
    mix with the files of the attempt that counts.
    """
    from pyspark import TaskContext

    return cast("TaskContext", TaskContext.get()).taskAttemptId()


def check_have_ids(rows: pa.RecordBatch, column: str | None) -> None:
    """ParameterError where some rows have none in the column of ids."""
    if column is not None and rows[column].null_count:
        raise ParameterError(f"Ids must be different, and in column {column!r} some rows have none. {_OR_LEAVE_OUT}")


def repeated_ids(column: str, repeated: Sequence[tuple[int, int]], place: str = "") -> ParameterError:
    """What to say of rows whose ids earlier rows have, too; ``place`` is the data frame, where there are two."""
    row, earlier = repeated[0]
    return ParameterError(
        f"Ids must be different, and in column {column!r}{place} {len(repeated):,} come again: that of row {row + 1:,} "
        f"is that of row {earlier + 1:,}. {_OR_LEAVE_OUT}"
    )
