"""Data frames of a run, and what they say of documents of other partitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.engines.spark.blocks import Blocks, RowsReader
from nearkin.engines.spark.layout import Block, Column
from nearkin.engines.spark.stages import Stages
from nearkin.manifests.dedup import REASONS
from nearkin.options.dedup import DedupOptions
from nearkin.records import U32, Bool, Matches
from nearkin.runs.arrays import mapped_batch, save_batch
from nearkin.runs.spool import Chunk, Spool
from nearkin.stages.documents.preparing import NUMBERS
from nearkin.stages.documents.tables import read_table
from nearkin.stages.verification.measures import MEASURE_COLUMNS, measured
from nearkin.stages.verification.what_differs import UNKNOWN, difference_names
from nearkin.workflows.dedup.corpus import facts_of
from nearkin.workflows.dedup.on_spark.partitions import ASKS, CHUNKS, ROW_PAIRS, VERDICTS, Partitions
from nearkin.workflows.dedup.outcome import (
    NO_ROW,
    difference_with_numbers,
    differences_of,
    reason_with_numbers,
    reasons_without_text,
)
from nearkin.workflows.dedup.reading import prepare_to_choose
from nearkin.workflows.reading.on_spark.tasks import check_have_ids

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_NAMES, _ROW = "names", "row"
_ROWS_A_BLOCK = 100_000


def asked(partitions: Partitions, rows: Column, reply_to: Column) -> Iterator[Block]:
    """Ask for rows of other partitions."""
    is_foreign = rows != NO_ROW
    is_foreign[is_foreign] = partitions.at(rows[is_foreign]) != reply_to[is_foreign]
    wanted = np.unique(reply_to[is_foreign].astype(np.uint64) << np.uint64(32) | rows[is_foreign])
    rows = wanted.astype(np.uint32)
    yield from ASKS.scattered(partitions.at(rows), rows, (wanted >> np.uint64(32)).astype(np.uint32))


def columns_sent(options: DedupOptions, *, has_ids: bool) -> tuple[str, ...]:
    """Return the columns of the spool that results need of documents of other partitions."""
    return ("doc_id",) * has_ids + (NUMBERS,) * options.normalise.ignored.numbers


@dataclass(frozen=True, slots=True)
class SendRowsTask:
    """Send some columns of the requested rows; other blocks stay."""

    partitions: Partitions
    columns: tuple[str, ...]

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        yield from (block for block in blocks if block.stream != ASKS.stream)
        rows, reply_to = ASKS.joined(blocks)
        if not (len(rows) and self.columns):
            return
        known = spooled(self.partitions, target, self.columns)
        for partition in np.unique(reply_to).tolist():
            wanted = np.sort(rows[reply_to == partition])
            for start in range(0, len(wanted), _ROWS_A_BLOCK):
                at = wanted[start : start + _ROWS_A_BLOCK] - np.uint32(self.partitions.start(target))
                some = known.take(pa.array(at))
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, some.schema) as writer:
                    writer.write_table(some)
                yield Block(_NAMES, partition, sink.getvalue())


def spooled(partitions: Partitions, partition: int, columns: Sequence[str]) -> pa.Table:
    """Return columns of all documents of a partition, and their rows."""
    chunks = partitions.chunks(partition)
    rows = np.arange(chunks[0].start, chunks[-1].end, dtype=np.uint32)
    spooled_columns = {name: pa.chunked_array([chunk.column(name) for chunk in chunks]) for name in columns}
    return pa.table({_ROW: rows, **spooled_columns})


@dataclass(frozen=True, slots=True)
class KnownRows:
    """Columns of the documents of a partition, of rows ``start`` to ``end``, and of those requested.

    Parameters
    ----------
    rows : uint32 array, shape (n_foreign,)
        Rows of other partitions, ascending.
    columns : RecordBatch, shape (end - start + n_foreign, n_columns)
        Without ``doc_id`` documents are named after their row.
    """

    start: int
    end: int
    rows: U32
    columns: pa.RecordBatch

    @classmethod
    def in_partition(
        cls, partitions: Partitions, partition: int, blocks: Sequence[Block], columns: Sequence[str]
    ) -> KnownRows:
        """Collect the rows from the received blocks."""
        here = spooled(partitions, partition, columns)
        came = [pa.ipc.open_stream(block.data).read_all() for block in blocks if block.stream == _NAMES]
        foreign = pa.concat_tables([here.schema.empty_table(), *came]).sort_by(_ROW)
        start = partitions.start(partition)
        (known,) = pa.concat_tables([here, foreign]).combine_chunks().to_batches()
        return cls(start, start + len(here), foreign[_ROW].to_numpy(), known)

    def ids(self, rows: U32) -> pa.LargeStringArray:
        """Return the ids of rows; null for NO_ROW."""
        if "doc_id" in self.columns.schema.names:
            return self._column("doc_id", rows)
        numbers = pa.array(rows.astype(np.int64) + 1, mask=rows == NO_ROW).cast(pa.large_string())
        name, separator = (pa.scalar(value, pa.large_string()) for value in (NAME, ":"))
        return pc.binary_join_element_wise(name, numbers, separator)

    def have_other_numbers(self, rows: U32, than: U32) -> Bool:
        """Whether the numbers of documents, if they are ignored, differ from those of others; not from NO_ROW."""
        if NUMBERS not in self.columns.schema.names:
            return np.zeros(len(rows), np.bool_)
        numbers, others = (self._column(NUMBERS, some) for some in (rows, np.where(than == NO_ROW, rows, than)))
        are_others: Bool = numbers.to_numpy() != others.to_numpy()
        return are_others

    def _column(self, name: str, rows: U32) -> pa.Array:
        is_none = rows == NO_ROW
        is_here = (rows >= self.start) & (rows < self.end)
        place = np.where(is_here, rows.astype(np.int64) - self.start, 0)
        place[~is_here & ~is_none] = np.searchsorted(self.rows, rows[~is_here & ~is_none]) + self.end - self.start
        return self.columns[name].take(pa.array(place, mask=is_none))


ID = "ID"
ANNOTATIONS = (
    ("group", ID), ("is_principal", "boolean"), ("similarity_to_principal", "double"), ("differs", "string"),
    ("copy_of", ID),
    ("keep", "boolean"), ("reason", "string"),
)  # fmt: skip
"""Columns added to each row; ID stands for the type of the user's ids."""
PAIR_COLUMNS = (("id_a", ID), ("id_b", ID), *((name, "double") for name in MEASURE_COLUMNS), ("differs", "string"))
_ARROW = {"boolean": pa.bool_(), "double": pa.float64(), "string": pa.string(), "long": pa.int64()}


@dataclass(frozen=True, slots=True)
class AnnotateRowsTask:
    """Return the rows of a partition, in their order, with annotations."""

    partitions: Partitions
    rows: Path
    id_type: str
    prefix: str
    columns: tuple[str, ...]

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[pa.RecordBatch]:
        """Yield a batch for each chunk of the partition."""
        known = KnownRows.in_partition(self.partitions, target, blocks, self.columns)
        rows, *columns = VERDICTS.joined(blocks)
        order = np.argsort(rows)
        rows, columns = rows[order], [column[order] for column in columns]
        for chunk in self.partitions.chunks(target):
            here = slice(*np.searchsorted(rows, [chunk.start, chunk.end]).tolist())
            added = self._told(chunk, rows[here], [column[here] for column in columns], known)
            whole = rows_of_chunk(self.rows, chunk)
            yield pa.RecordBatch.from_arrays(
                [*whole.columns, *added], [*whole.schema.names, *(self.prefix + name for name, _ in ANNOTATIONS)]
            )

    def _told(self, chunk: Chunk, rows: np.ndarray, columns: Sequence[np.ndarray], known: KnownRows) -> list[pa.Array]:
        at = rows - np.uint32(chunk.start)
        principal, copy_of = np.full(chunk.n_documents, NO_ROW), np.full(chunk.n_documents, NO_ROW)
        similarity, reason = np.full(chunk.n_documents, np.nan), reasons_without_text(facts_of(chunk).status)
        differs = np.full(chunk.n_documents, UNKNOWN)
        principal[at], copy_of[at], similarity[at], differs[at], reason[at] = columns
        mine = np.arange(chunk.start, chunk.end, dtype=np.uint32)
        is_principal: Bool = principal == mine
        differs = difference_with_numbers(differs, known.have_other_numbers(mine, principal))
        reason = reason_with_numbers(reason, known.have_other_numbers(mine, copy_of))
        return [
            known.ids(principal).cast(_ARROW[self.id_type]),
            pa.array(is_principal),
            pa.array(similarity, mask=np.isnan(similarity)),
            difference_names(differs),
            known.ids(copy_of).cast(_ARROW[self.id_type]),
            pa.array(is_principal),
            pa.array(REASONS).take(pa.array(reason)),
        ]


@dataclass(frozen=True, slots=True)
class ListPairsTask:
    """Return the pairs whose left document is in this partition, sorted."""

    partitions: Partitions
    id_type: str
    columns: tuple[str, ...]

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[pa.RecordBatch]:
        """See `Task`."""
        known = KnownRows.in_partition(self.partitions, target, blocks, self.columns)
        matches = Matches(*ROW_PAIRS.joined(blocks))
        matches = matches.where(np.lexsort((matches.right, matches.left)))
        differs = difference_with_numbers(
            differences_of(matches), known.have_other_numbers(matches.left, matches.right)
        )
        columns = [
            *(known.ids(column).cast(_ARROW[self.id_type]) for column in (matches.left, matches.right)),
            *map(pa.array, measured(matches)),
            difference_names(differs),
        ]
        yield pa.RecordBatch.from_arrays(columns, [name for name, _ in PAIR_COLUMNS])


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


def read_frame(
    stages: Stages, frame: DataFrame, columns: FrameColumns, spool: Spool, rows: Path, options: DedupOptions
) -> Blocks:
    """Read the documents of a data frame into the spool, and whole rows into ``rows``."""
    return stages.read(frame, _reading(columns, spool, rows, options))


def rows_of_chunk(folder: Path, chunk: Chunk) -> pa.RecordBatch:
    """Return the rows of a data frame that a chunk holds."""
    return mapped_batch(folder / chunk.path.name)


def _reading(columns: FrameColumns, spool: Spool, rows: Path, options: DedupOptions) -> RowsReader:
    def read(part: int, attempt: int, batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
        number = attempt % _ATTEMPTS * _CHUNKS_AN_ATTEMPT
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
