"""Data frame → spool: each partition is read in place, and stored with all its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearkin.engines.spark.blocks import Blocks
from nearkin.engines.spark.layout import Block
from nearkin.runs.arrays import mapped_batch, save_batch
from nearkin.runs.spool import Chunk, Spool
from nearkin.stages.documents.tables import read_table
from nearkin.workflows.dedup.on_spark.partitions import CHUNKS
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.reading import prepare_to_choose
from nearkin.workflows.reading.on_spark.partitions import attempt, check_have_ids, read_partitions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = "table"
"""Prefix of documents without an id: ``table:1``, ``table:2``, … in the order of the partitions."""

_CHUNKS_AN_ATTEMPT = 1 << 20
_ATTEMPTS = (1 << 32) // _CHUNKS_AN_ATTEMPT


@dataclass(frozen=True, slots=True)
class FrameColumns:
    """Columns that are read."""

    text: str
    doc_id: str | None
    keep: str | None


def read_frame(frame: DataFrame, columns: FrameColumns, spool: Spool, rows: Path, options: DedupOptions) -> Blocks:
    """Read the documents of a data frame into the spool, and whole rows into ``rows``; the stream is `CHUNKS`."""
    return read_partitions(frame, _reading(columns, spool, rows, options))


def rows_of_chunk(folder: Path, chunk: Chunk) -> pa.RecordBatch:
    """Return the rows of a data frame that a chunk holds, with all their columns."""
    return mapped_batch(folder / chunk.path.name)


def _reading(
    columns: FrameColumns, spool: Spool, rows: Path, options: DedupOptions
) -> Callable[[int, Iterator[pa.RecordBatch]], Iterator[Block]]:
    def read(part: int, batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
        number = attempt() % _ATTEMPTS * _CHUNKS_AN_ATTEMPT
        for whole in batches:
            check_have_ids(whole, columns.doc_id)
            at = 0
            for piece in read_table(
                whole, text=columns.text, doc_id=columns.doc_id, keep_column=columns.keep, is_whole=False
            ):
                spool.write(part, number, prepare_to_choose(piece, options, source_name=NAME))
                save_batch(rows / spool.place(part, number).name, whole.slice(at, piece.num_rows), compression="lz4")
                n_bytes = spool.place(part, number).stat().st_size
                told = [np.array([value]) for value in (part, number, piece.num_rows, n_bytes)]
                yield from CHUNKS.packed(0, *told)
                at, number = at + piece.num_rows, number + 1

    return read
