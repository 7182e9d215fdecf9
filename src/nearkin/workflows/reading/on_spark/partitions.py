"""Partitions of a data frame, each read by a task in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.engines.spark.blocks import COLUMNS, Blocks, as_batch
from nearkin.engines.spark.failures import engine_errors
from nearkin.engines.spark.layout import Block
from nearkin.errors import ParameterError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OR_LEAVE_OUT = "Choose another column, or omit id to number the rows."


def read_partitions(
    frame: DataFrame, read: Callable[[int, Iterator[pa.RecordBatch]], Iterator[Block]], columns: Sequence[str] = ()
) -> Blocks:
    """Apply ``read`` to the number and the rows of each partition, except those without rows.

    Parameters
    ----------
    columns : sequence of str
        Columns that ``read`` needs; default: all.
    """
    names = frame.columns
    needed = [names.index(name) for name in columns] or list(range(len(names)))

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        # Spark may compute the column spark_partition_id() before rows are in their partitions
        part = cast("TaskContext", TaskContext.get()).partitionId()
        rows = (batch.rename_columns([names[i] for i in needed]) for batch in batches if batch.num_rows)
        first = next(rows, None)
        if first is not None:
            for block in read(part, chain([first], rows)):
                yield as_batch([block])

    with engine_errors():
        # mapInArrow treats a column a.b as a field of a, and refuses equal names
        numbered = frame.toDF(*map(str, range(len(names)))).select(*map(str, needed))
        return Blocks(numbered.mapInArrow(run, COLUMNS))


def attempt() -> int:
    """Return a number of this attempt at a task, unique among all attempts.

    Rows may have another order each time: the files of a lost executor, or of a second copy of the task, must not be
    mixed with those of the attempt that counts.
    """
    from pyspark import TaskContext

    return cast("TaskContext", TaskContext.get()).taskAttemptId()


def check_have_ids(rows: pa.RecordBatch, column: str | None) -> None:
    """Raise ParameterError if rows have no id; an empty string is none, as in files."""
    if column is None:
        return
    ids = rows[column]
    is_text = pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type)
    if ids.null_count or (is_text and pc.any(pc.equal(ids, "")).as_py()):
        raise ParameterError(f"Ids must be unique, and in column {column!r} some rows have none. {_OR_LEAVE_OUT}")


def repeated_ids(column: str, repeated: Sequence[tuple[int, int]], place: str = "") -> ParameterError:
    """Return the error for rows whose ids earlier rows have; ``place`` is the data frame, if there are two."""
    row, earlier = repeated[0]
    return ParameterError(
        f"Ids must be unique, and in column {column!r}{place} {len(repeated):,} are repeated: row {row + 1:,} has "
        f"the id of row {earlier + 1:,}. {_OR_LEAVE_OUT}"
    )
