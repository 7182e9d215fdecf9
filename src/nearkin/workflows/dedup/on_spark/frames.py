"""A data frame → spool: each partition is read where it is, and written down with all its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from nearkin.engines.spark.blocks import COLUMNS, Blocks, as_batch
from nearkin.engines.spark.failures import engine_errors
from nearkin.errors import ParameterError
from nearkin.runs.files import published
from nearkin.runs.spool import Chunk, Spool
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.documents.preparing import prepare
from nearkin.stages.documents.tables import read_table
from nearkin.workflows.dedup.on_spark.streams import CHUNKS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = "table"
"""Documents without an id are called ``table:1``, ``table:2``, … in the order of the partitions."""


@dataclass(frozen=True, slots=True)
class FrameColumns:
    """Which columns are read."""

    text: str
    doc_id: str | None
    keep: str | None


def read_frame(
    frame: DataFrame, columns: FrameColumns, spool: Spool, rows: Path, normalisation: Normalisation
) -> Blocks:
    """The documents of a data frame into the spool, and whole rows to ``rows``; the stream is `CHUNKS`."""
    with engine_errors():
        # mapInArrow takes a column named a.b for one inside of a, and no two of one name
        numbered = frame.toDF(*map(str, range(len(frame.columns))))
        reading = _reading(columns, frame.columns, spool, rows, normalisation)
        return Blocks(numbered.mapInArrow(reading, COLUMNS))


def rows_of_chunk(folder: Path, chunk: Chunk) -> pa.RecordBatch:
    """The rows of a data frame that stand in a chunk, with all their columns."""
    with pa.memory_map(str(folder / chunk.path.name)) as file:
        return pa.ipc.open_file(file).get_batch(0)


def _reading(
    columns: FrameColumns, names: Sequence[str], spool: Spool, rows: Path, normalisation: Normalisation
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        # as a column, spark_partition_id(), Spark may compute it where rows are not in their partitions yet
        part, number = cast("TaskContext", TaskContext.get()).partitionId(), 0
        for batch in batches:
            if not batch.num_rows:
                continue
            whole = batch.rename_columns(names)
            _check_ids(whole, columns.doc_id)
            at = 0
            for piece in read_table(whole, text=columns.text, doc_id=columns.doc_id, keep_column=columns.keep):
                spool.write(part, number, prepare(piece, normalisation, source_name=NAME))
                _write_rows(rows / spool.place(part, number).name, whole.slice(at, piece.num_rows))
                n_bytes = spool.place(part, number).stat().st_size
                told = [np.array([value]) for value in (part, number, piece.num_rows, n_bytes)]
                yield as_batch(list(CHUNKS.packed(0, *told)))
                at, number = at + piece.num_rows, number + 1

    return read


def _check_ids(rows: pa.RecordBatch, column: str | None) -> None:
    if column is not None and rows[column].null_count:
        raise ParameterError(
            f"Ids must be different, and in column {column!r} some rows have none. Choose another column, or leave id "
            "out: rows are numbered then."
        )


def _write_rows(path: Path, rows: pa.RecordBatch) -> None:
    with (
        published(path, durable=False) as aside,
        pa.OSFile(str(aside), "wb") as file,
        pa.ipc.new_file(file, rows.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer,
    ):
        writer.write_batch(rows)
